"""A model of several domains compares by structure alone, whichever route a graph comes by."""

import pytest
from fastapi.testclient import TestClient

from graphglass import GraphGlass, ReferenceDetector, read_graphs
from graphglass.report.page import report_page
from graphglass.serve.app import create_app
from graphglass.serve.service import Service


@pytest.fixture(scope="module")
def mixed(normals, make_graphs, tmp_path_factory):
    """Saved after training on labelled molecules and on graphs with attributes."""
    path = tmp_path_factory.mktemp("mixed") / "model"
    GraphGlass().fit({"mol": normals, "other": make_graphs(12, seed=4, attributes=2)}).save(path)
    return path


@pytest.fixture(scope="module")
def records(ring):
    """One ring, plain and with everything a record may carry."""
    plain = ring(7, "plain")
    nodes = [{"id": i, "label": f"kind {i % 3}", "weight": 5.0 * i} for i in range(7)]
    return [plain, {**plain, "id": "rich", "nodes": nodes}]


def test_score_explain_and_map_agree(mixed, records, limits):
    with TestClient(create_app(Service(mixed), limits=limits)) as client:
        scores = [client.post("/v1/score", json={"graphs": [one]}).json()["results"][0]["score"] for one in records]
        places = client.post("/v1/place", json={"graphs": records}).json()["places"]
        answers = [client.post("/v1/explain", json={"graphs": [one], "neighbours": 3}) for one in records]
    assert [answer.status_code for answer in answers] == [200, 200]
    plain, rich = (answer.json() for answer in answers)
    assert [plain["score"], rich["score"]] == pytest.approx(scores, abs=1e-9)
    assert rich["score"] == pytest.approx(plain["score"], abs=1e-9)
    assert places[1] == pytest.approx(places[0], abs=1e-9)
    assert rich["neighbours"] == plain["neighbours"]
    assert "kind 0" in rich["drawing"]["svg"]  # drawn is what was sent


def test_the_report_takes_graphs_of_any_domain(mixed, records):
    detector = ReferenceDetector.load(mixed)
    page = report_page(detector, detector.score_table(read_graphs(records[1:])))
    assert "1 graph against 52 normal references" in page
