"""Reviews over HTTP: the same ranking as in Python, few held at once, and nothing of the model changed."""

import numpy as np
import pytest
from fastapi.testclient import TestClient

from graphglass import GraphGlass, read_graphs
from graphglass.serve.app import create_app
from graphglass.serve.request_graphs import ServeLimits
from graphglass.serve.reviews import MOST_REVIEWS
from graphglass.serve.service import Service


@pytest.fixture(scope="module")
def graphs(ring):
    sizes = [*range(5, 25), *range(6, 16)]
    records = [ring(size, f"ring-{place}") for place, size in enumerate(sizes)]
    for place in (3, 8, 21):  # chords
        records[place]["edges"] += [[0, 2], [1, 3]]
    return records


def _begin(client, graphs, parts=1):
    name = None
    for part in np.array_split(np.arange(len(graphs)), parts):
        body = {"graphs": [graphs[i] for i in part]}
        answer = client.post(f"/v1/reviews/{name}/graphs" if name else "/v1/reviews", json=body)
        assert answer.status_code == (200 if name else 201), answer.text
        name = answer.json()["review"]
    return name


def _mark(client, name, *marks):
    body = {"marks": [{"id": identifier, "verdict": verdict} for identifier, verdict in marks]}
    return client.post(f"/v1/reviews/{name}/marks", json=body)


def test_the_ranking_is_that_of_the_library(client, model, graphs):
    detector = GraphGlass.load(model)
    review = detector.review(read_graphs(graphs, format="json-lines"))
    name = _begin(client, graphs, parts=3)
    told = _mark(client, name).json()
    assert told["next"] == review.next().ids[0]
    assert (told["marked"], told["found"]) == (0, [])
    for verdict in ("anomaly", "normal", "anomaly"):
        marked = told["next"]
        review.mark(marked, verdict)
        told = _mark(client, name, (marked, verdict)).json()
        table = review.ranking()
        assert told["ranking"] == [table.ids[i] for i in table.order]
        assert told["next"] == review.next().ids[0]
    assert told["found"] == list(review.found)
    assert client.get("/v1/anomalies").json()["total"] == 0


def test_an_equal_of_a_reference_is_a_conflict(client, model, graphs, ring):
    names = {record["id"] for record in graphs}
    answer = _mark(client, _begin(client, graphs))
    assert set(answer.json()["ranking"]) == names
    reference = client.get("/v1/example").json()["graphs"][0] | {"id": "twin"}
    told = _mark(client, _begin(client, [*graphs, reference]), ("twin", "anomaly")).json()
    assert told["conflicts"] == ["twin"]
    assert told["ranking"] == _mark(client, _begin(client, [*graphs, reference])).json()["ranking"]


def test_marks_of_other_graphs_are_left_out(client, graphs):
    told = _mark(client, _begin(client, graphs), ("nobody", "anomaly"), (graphs[0]["id"], "unsure")).json()
    assert (told["marked"], told["found"]) == (1, [])


def test_only_the_last_reviews_are_held(client, graphs):
    names = [_begin(client, graphs[:3]) for _ in range(MOST_REVIEWS + 1)]
    answer = _mark(client, names[0])
    assert answer.status_code == 404
    assert "Send its graphs and marks again" in answer.json()["detail"]
    assert _mark(client, names[-1]).status_code == 200


def test_graphs_that_are_refused_displace_no_review(model, graphs):
    with TestClient(create_app(Service(model), limits=ServeLimits(file_graphs=4))) as client:
        names = [_begin(client, graphs[:3]) for _ in range(MOST_REVIEWS)]
        for _ in range(MOST_REVIEWS):
            assert client.post("/v1/reviews", json={"graphs": graphs[:5]}).status_code == 422
        assert _mark(client, names[0]).status_code == 200


@pytest.mark.parametrize("name", ["..", "%2e%2e%2fmodel", "x" * 300, "__class__", "None", "%00"])
def test_no_other_name_is_a_review(client, name):
    answer = client.post(f"/v1/reviews/{name}/marks", json={"marks": []})
    assert answer.status_code in (404, 405, 422)


def test_a_review_of_a_changed_model_is_gone(own_model, graphs, ring):
    with TestClient(create_app(Service(own_model))) as client:
        name = _begin(client, graphs)
        assert _mark(client, name).status_code == 200
        client.post("/v1/references", json={"graphs": [ring(40, "new")]})
        assert _mark(client, name).status_code == 404


def test_what_is_refused(client, model, graphs):
    name = _begin(client, graphs)
    twice = client.post(f"/v1/reviews/{name}/graphs", json={"graphs": graphs[:1]})
    assert (twice.status_code, "have the id 'ring-0'" in twice.json()["detail"]) == (422, True)
    assert _mark(client, name, ("ring-0", "odd")).status_code == 422
    assert _mark(client, name).status_code == 200
    late = client.post(f"/v1/reviews/{name}/graphs", json={"graphs": [graphs[0] | {"id": "late"}]})
    assert (late.status_code, "has begun" in late.json()["detail"]) == (422, True)
    with TestClient(create_app(Service(model), limits=ServeLimits(file_graphs=4))) as small:
        many = small.post("/v1/reviews", json={"graphs": graphs[:5]})
        assert (many.status_code, "may hold 4 graphs" in many.json()["detail"]) == (422, True)
