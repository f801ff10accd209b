import json
from dataclasses import replace

import numpy as np
import pytest
from fastapi.testclient import TestClient

from graphglass import GLASS, GraphGlass, ReferenceDetector, read_graphs
from graphglass.detector import indexed_scorer
from graphglass.graphs.readers.json_lines import json_records
from graphglass.privacy.release.publish import release
from graphglass.serve.app import create_app
from graphglass.serve.service import Service


def test_scores_equal_the_library(client, model, ring):
    records = [ring(size, f"ring {size}") for size in range(3, 12)]
    answer = client.post("/v1/score", json={"graphs": records, "alpha": 0.1})
    assert answer.status_code == 200
    rows = answer.json()["results"]
    detector = ReferenceDetector.load(model)
    graphs = read_graphs(records)
    assert [row["id"] for row in rows] == [record["id"] for record in records]
    assert [row["score"] for row in rows] == pytest.approx(list(detector.decision_function(graphs)), abs=1e-6)
    assert [row["p_value"] for row in rows] == pytest.approx(list(detector.p_values(graphs)))
    assert [row["flagged"] for row in rows] == [row["p_value"] <= 0.1 for row in rows]
    assert sorted(row["rank"] for row in rows) == list(range(1, 10))


def test_a_bad_record_is_reported_and_the_rest_goes_on(client, ring):
    records = [ring(5, "good"), {"id": "bad", "nodes": 2, "edges": [[0, 9]]}, ring(6, "also good")]
    answer = client.post("/v1/score", json={"graphs": records}).json()
    assert [row["id"] for row in answer["results"]] == ["good", "also good"]
    assert answer["rejected"][0]["id"] == "bad"
    assert answer["rejected"][0]["position"] == 1


def test_a_body_without_a_content_type_is_told_which(client, ring):
    answer = client.post("/v1/score", content=json.dumps({"graphs": [ring(5, "a")]}))
    assert answer.status_code == 422
    assert "Content-Type: application/json" in answer.json()["detail"]


def test_a_mistyped_field_is_named(client):
    answer = client.post("/v1/score", json={"smile": ["CCO"]})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "'smile' is no field of this request; /docs lists its fields."


def test_molecules_need_a_model_of_molecules(client):
    answer = client.post("/v1/score", json={"smiles": ["CCO"]})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert "must carry what the references carry" in answer.json()["detail"]


def test_explain(client, ring):
    answer = client.post("/v1/explain", json={"graphs": [ring(9, "nine")], "neighbours": 2})
    assert answer.status_code == 200
    told = answer.json()
    assert told["id"] == "nine"
    assert sum(told["contributions"].values()) == pytest.approx(told["score"])
    assert sum(told["shares"].values()) == pytest.approx(100)
    assert told["reasons"]
    assert len(told["neighbours"]) == 2
    assert all(0 <= value <= 1 for item in told["neighbours"] for value in item["families"].values())
    assert (told["drawing"]["shown"], told["drawing"]["total"]) == (9, 9)
    assert told["drawing"]["svg"].count('class="edge"') == 9
    assert ["lacking" in item["drawing"]["svg"] for item in told["neighbours"]] == [True, False]  # rings on the nearest
    assert client.post("/v1/explain", json={"graphs": [ring(4), ring(5)]}).status_code == 422


def test_graphs_have_places_on_the_map(client, ring):
    answer = client.post("/v1/place", json={"graphs": [ring(9, "nine"), {"nodes": -1}, ring(12, "twelve")]}).json()
    assert answer["ids"] == ["nine", "twelve"]
    assert [len(place) for place in answer["places"]] == [2, 2]
    assert [item["position"] for item in answer["rejected"]] == [1]


def test_wrong_methods_get_405(client):
    for method, path in (
        ("GET", "/v1/score"),
        ("PUT", "/v1/score"),
        ("POST", "/v1/model"),
        ("DELETE", "/"),
        ("POST", "/docs"),
    ):
        answer = client.request(method, path)
        assert answer.status_code == 405, (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["allow"]
    assert client.get("/v1/nothing").status_code == 404


def test_requests_in_which_nothing_can_be_scored_get_422(client):
    for body, reason in (
        ({}, "Send at least one"),
        ({"graphs": []}, "Send at least one"),
        ({"graphs": [{"nodes": -1}]}, "No graph of this request can be scored"),
        ({"graphs": [{}]}, "has no 'nodes'"),
        ({"smiles": ["C(("]}, "is not a SMILES string"),
    ):
        for path in ("/v1/score", "/v1/explain", "/v1/references"):
            answer = client.post(path, json=body)
            assert answer.status_code == 422, (path, body)
            if path == "/v1/score":
                assert reason in answer.json()["detail"]


def test_one_bad_record_does_not_refuse_the_others(client, ring):
    """Each would refuse the whole request if all were read as one set."""
    wrong = [
        {"id": "labelled", "nodes": [{"id": 0, "label": "C"}], "edges": []},
        {"id": "attributes", "nodes": [{"id": 0, "attributes": {"q": 1.0}}], "edges": []},
        {"id": "unicode", "nodes": [{"id": "\ud800"}], "edges": []},
        {"id": "large", "nodes": 2001, "edges": []},
    ]
    records = [ring(5, "first"), *wrong, ring(6, "second")]
    body = json.dumps({"graphs": records, "smiles": ["CCO"]}).encode()
    answer = client.post("/v1/score", content=body, headers={"content-type": "application/json"}).json()
    assert [row["id"] for row in answer["results"]] == ["first", "second"]
    assert [item["id"] for item in answer["rejected"]] == ["labelled", "attributes", "unicode", "large", "CCO"]
    assert [item["position"] for item in answer["rejected"]] == [1, 2, 3, 4, 6]
    alone = client.post("/v1/score", json={"graphs": [ring(5, "first")]}).json()["results"][0]["score"]
    assert answer["results"][0]["score"] == alone


def test_files_are_read_as_the_command_line_reads_them(client):
    def read(content, name=""):
        sent = {"content-type": "application/octet-stream"}
        return client.post("/v1/read", params={"name": name}, content=content, headers=sent)

    table = read("graph_id,source,target\nx,0,1\nx,1,2\ny,0,1\n", "edges.csv").json()
    assert [(graph["id"], len(graph["nodes"])) for graph in table["graphs"]] == [("x", 3), ("y", 2)]
    assert client.post("/v1/score", json={"graphs": table["graphs"]}).status_code == 200
    molecules = read("name,smiles\nethanol,CCO\nbad,C((\n", "molecules.csv").json()
    assert len(molecules["graphs"]) == len(molecules["rejected"]) == 1
    assert [len(graph["nodes"]) for graph in read("0 1\n1 2\n\na b\n").json()["graphs"]] == [3, 2]
    assert read('[{"nodes": 2, "edges": [[0, 1]]}]').json()["format"] == "JSON"
    assert read("CCO ethanol\n").json()["graphs"][0] == {"id": "ethanol", "smiles": "CCO"}
    for content, reason in (
        (b"  ", "nothing to read"),
        (b"\xff\xfe\x00", "suffixes"),
        (b"a,b\n1,2\n", "no column with SMILES"),
    ):
        answer = read(content, "x.csv" if b"," in content else "")
        assert answer.status_code == 422
        assert reason in answer.json()["detail"]
    plain = client.post("/v1/read", content="CCO", headers={"content-type": "text/plain"})
    assert plain.status_code == 422


def test_an_example_fits_the_model_and_ranks_its_changed_graphs_first(client):
    records = client.get("/v1/example").json()["graphs"]
    rows = client.post("/v1/score", json={"graphs": records}).json()["results"]
    first = {row["id"] for row in rows if row["rank"] <= 2}
    assert {name.rpartition(" ")[2] for name in first} == {"hub", "chain"}


def test_model_map_and_references(client, normals):
    facts = client.get("/v1/model").json()
    assert facts["references"] == 40
    assert facts["carries"] == []
    assert facts["graphs_per_request"] == 64
    placed = client.get("/v1/map").json()
    assert placed["ids"] == list(normals.ids)
    listed = client.get("/v1/references", params={"offset": 5, "limit": 3}).json()
    assert listed["total"] == listed["listed"] == 40
    assert [row["id"] for row in listed["references"]] == list(normals.ids[5:8])


def test_references_change_durably_with_an_audit_log(own_model, ring, limits):
    record = ring(30, "wheel")
    with TestClient(create_app(Service(own_model), limits=limits)) as client:
        before = client.post("/v1/score", json={"graphs": [record]}).json()["results"][0]["score"]
        added = client.post("/v1/references", json={"graphs": [record]})
        assert added.status_code == 201
        assert added.json() == {"total": 41, "changed": ["wheel"], "rejected": []}
        after = client.post("/v1/score", json={"graphs": [record]}).json()["results"][0]["score"]
        assert after < before
        assert client.post("/v1/references", json={"graphs": [record]}).status_code == 422
        assert "wheel" in ReferenceDetector.load(own_model).references_.graphs.ids
        assert client.delete("/v1/references", params={"id": "wheel"}).json()["total"] == 40
        assert client.delete("/v1/references", params={"id": "wheel"}).status_code == 422
    entries = [json.loads(line) for line in own_model.with_name("model.references-audit.log").read_text().splitlines()]
    assert [(entry["stage"], entry["action"], entry["ids"], entry["references"]) for entry in entries] == [
        ("begun", "add", ["wheel"], 40),
        ("done", "add", ["wheel"], 41),
        ("begun", "remove", ["wheel"], 41),
        ("done", "remove", ["wheel"], 40),
    ]


def test_a_single_reference_is_not_left(own_model, normals, limits):
    with TestClient(create_app(Service(own_model), limits=limits)) as client:
        answer = client.delete("/v1/references", params={"id": list(normals.ids[1:])})
        assert answer.status_code == 422
        assert "would leave 1 reference, and at least 2 are needed" in answer.json()["detail"]
        assert client.get("/v1/model").json()["references"] == 40


def test_an_addition_tells_the_ids_that_can_be_removed(own_model, ring, limits, monkeypatch):
    """Records without an id of their own; the detector names the second one otherwise."""
    real = GLASS.add_references

    def renaming(self, graphs):
        taken = set(self.references_.graphs.ids)
        return real(self, replace(graphs, ids=tuple(f"{name}.2" if name in taken else name for name in graphs.ids)))

    monkeypatch.setattr(GLASS, "add_references", renaming)
    with TestClient(create_app(Service(own_model), limits=limits)) as client:
        first, second = (client.post("/v1/references", json={"graphs": [ring(size)]}).json() for size in (30, 31))
        assert first["changed"] != second["changed"]
        left = client.delete("/v1/references", params={"id": second["changed"][0]}).json()
    assert left["total"] == 41
    assert ReferenceDetector.load(own_model).references_.graphs.sizes[-1] == 30
    entries = [json.loads(line) for line in own_model.with_name("model.references-audit.log").read_text().splitlines()]
    assert [entry["ids"] for entry in entries] == [
        ids for ids in (first["changed"], second["changed"], second["changed"]) for _ in range(2)
    ]


def test_known_anomalies_change_the_ranking_durably_and_can_be_taken_back(own_model, ring, limits):
    near, far = ring(29, "near"), ring(4, "far")
    with TestClient(create_app(Service(own_model), limits=limits)) as client:

        def scores():
            rows = client.post("/v1/score", json={"graphs": [near, far]}).json()["results"]
            return [row["score"] for row in rows]

        before = scores()
        assert client.get("/v1/model").json()["anomalies"] == 0
        added = client.post("/v1/anomalies", json={"graphs": [ring(30, "fraud"), {"id": "bad", "nodes": -1}]})
        assert added.status_code == 201
        assert (added.json()["total"], added.json()["changed"]) == (1, ["fraud"])
        assert [item["id"] for item in added.json()["rejected"]] == ["bad"]
        after = scores()
        assert after[0] - before[0] > after[1] - before[1]
        assert client.get("/v1/anomalies").json() == {"total": 1, "anomalies": ["fraud"]}
        assert len(client.get("/v1/map").json()["anomaly_places"]) == 1
        told = client.post("/v1/explain", json={"graphs": [near], "nodes": False}).json()
        assert [item["id"] for item in told["resembles"]] == ["fraud"]
        assert "fraud" in ReferenceDetector.load(own_model).anomalies_.graphs.ids
        same = client.post("/v1/references", json={"graphs": [ring(30, "the same")]})
        assert same.status_code == 422
        assert "fraud" in same.json()["detail"]
        assert client.delete("/v1/anomalies", params={"id": "unknown"}).status_code == 422
        assert client.delete("/v1/anomalies", params={"id": "fraud"}).json()["total"] == 0
        assert scores() == before
    entries = [json.loads(line) for line in own_model.with_name("model.references-audit.log").read_text().splitlines()]
    assert [(entry["stage"], entry["action"], entry["ids"], entry["references"]) for entry in entries] == [
        ("begun", "add-anomalies", ["fraud"], 0),
        ("done", "add-anomalies", ["fraud"], 1),
        ("begun", "remove-anomalies", ["fraud"], 1),
        ("done", "remove-anomalies", ["fraud"], 0),
    ]


def test_a_failed_save_changes_nothing(own_model, monkeypatch, ring, limits):
    service = Service(own_model)

    def full(self, path):
        from graphglass.errors import ArtifactError

        raise ArtifactError("Could not write /secret/place: no space left on device")

    monkeypatch.setattr(ReferenceDetector, "save", full)
    with TestClient(create_app(service, limits=limits)) as client:
        answer = client.post("/v1/references", json={"graphs": [ring(30, "wheel")]})
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert client.get("/v1/model").json()["references"] == 40
    log = own_model.with_name("model.references-audit.log").read_text().splitlines()
    assert [json.loads(line)["stage"] for line in log] == ["begun", "failed"]


def test_health_metrics_and_headers(client, ring):
    assert client.get("/healthz").text == "ok"
    assert client.get("/readyz").text == "ready"
    client.post("/v1/score", json={"graphs": [ring(5)]})
    page = client.get("/metrics").text
    assert "glass_graphs_scored_total" in page
    assert 'glass_requests_total{route="/v1/score",status="200"}' in page
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_openapi_and_docs_need_no_network(client):
    document = client.get("/openapi.json").json()
    assert {"/v1/score", "/v1/explain", "/v1/model", "/v1/references"} <= set(document["paths"])
    page = client.get("/docs").text
    assert "POST /v1/score" in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.slow
def test_a_private_summary_tells_nothing_about_references(tmp_path, normals, ring, limits, ledger):
    model = GLASS(encoder="numeric", epochs=1).fit(normals.structure_only())
    model.save(tmp_path / "model")
    private = read_graphs([ring(size, f"secret-{size}") for size in range(10, 40)])
    release(private, model=model, ledger=ledger, dataset="site", epsilon=4, output=tmp_path / "summary")
    service = Service(tmp_path / "model", summary=tmp_path / "summary")
    with TestClient(create_app(service, limits=limits)) as client:
        row = client.post("/v1/score", json={"graphs": [ring(6)]}).json()["results"][0]
        assert row["p_value"] is None
        assert np.isfinite(row["score"])
        facts = client.get("/v1/model").json()
        assert facts["private"]
        assert facts["references"] == 30
        told = client.post("/v1/explain", json={"graphs": [ring(6)]}).json()
        assert told["neighbours"] == told["causes"] == told["reasons"] == []
        for request in (client.get("/v1/references"), client.get("/v1/map")):
            assert request.status_code == 422
            assert "private summary" in request.json()["detail"]


@pytest.mark.parametrize(("labels", "attributes"), [(None, 0), ((3, 8), 2)])
def test_a_summary_is_warmed_up_by_a_graph_it_can_read(tmp_path, make_graphs, monkeypatch, ledger, labels, attributes):
    from graphglass.privacy.summary_detector import SummaryDetector

    public, private = (make_graphs(12, seed=seed, labels=labels, attributes=attributes) for seed in (0, 1))
    model = GLASS(encoder="numeric", epochs=1).fit(public)
    private = private[private.sizes > 3]  # a single node is the same graph everywhere
    summary = release(private, model=model, ledger=ledger, dataset="site", epsilon=4)
    SummaryDetector.of(summary, model).save(tmp_path / "released")
    scored = []
    real = SummaryDetector.decision_function
    monkeypatch.setattr(
        SummaryDetector, "decision_function", lambda self, graphs: scored.append(real(self, graphs)) or scored[-1]
    )
    Service(tmp_path / "released").ready()
    assert np.isfinite(scored).all()
    assert len(scored) == 1


@pytest.mark.slow
def test_an_indexed_set_is_counted_whole_and_listed_by_its_sample(model, normals, tmp_path, monkeypatch, limits):
    from graphglass.report.page import report_page

    monkeypatch.setattr(indexed_scorer, "EXACT_UP_TO", 16)
    monkeypatch.setattr(indexed_scorer, "CALIBRATED", 16)
    large = ReferenceDetector.load(model).with_references(normals.structure_only())
    large.save(tmp_path / "large")
    with TestClient(create_app(Service(tmp_path / "large"), limits=limits)) as client:
        assert client.get("/v1/model").json()["references"] == 40
        listed = client.get("/v1/references").json()
    assert (listed["total"], listed["listed"], len(listed["references"])) == (40, 16, 16)
    assert "1 graph against 40 normal references" in report_page(large, large.score_table(normals[:1].structure_only()))


def test_a_summary_of_sketches_is_served_alone(tmp_path, ring, limits, ledger):
    """No model, no references, no encoder: one file."""
    private = read_graphs([ring(size, f"secret-{size}") for size in range(10, 40)])
    summary = release(private, ledger=ledger, dataset="site", epsilon=4, output=tmp_path / "summary")
    service = Service(tmp_path / "summary")
    service.ready()
    with TestClient(create_app(service, limits=limits)) as client:
        row = client.post("/v1/score", json={"graphs": [ring(12)]}).json()["results"][0]
        assert row["p_value"] is None
        assert row["score"] == pytest.approx(float(summary.scores(read_graphs([ring(12)]))[0]), abs=1e-9)
        facts = client.get("/v1/model").json()
        assert facts["private"]
        assert facts["channels"] == ["labels", "shape", "size", "structure"]
        assert "public sketch" in facts["statement"]


def test_values_of_the_caller_come_back_with_the_result(client, ring):
    records = [{**ring(5, "five"), "columns": {"name": "A", "nested": {"no": 1}}}, ring(6, "six")]
    rows = client.post("/v1/score", json={"graphs": records}).json()["results"]
    assert [row["columns"] for row in rows] == [{"name": "A"}, {}]


def test_directed_graphs_with_amounts_are_scored_explained_and_added(flows, limits, tmp_path):
    GraphGlass().fit(flows()).save(tmp_path / "model")
    normal, large = flows(seed=1, count=4), flows(seed=1, count=4, amount=1e5)
    with TestClient(create_app(Service(tmp_path / "model"), limits=limits)) as client:
        first, second = (
            client.post("/v1/score", json={"graphs": list(json_records(graphs))}).json()["results"]
            for graphs in (normal, large)
        )
        assert max(row["score"] for row in first) < min(row["score"] for row in second)
        record = next(json_records(large))
        explained = client.post("/v1/explain", json={"graphs": [record]}).json()
        assert 'class="head"' in explained["drawing"]["svg"]
        assert client.post("/v1/references", json={"graphs": [record]}).status_code == 201
        after = client.post("/v1/score", json={"graphs": [record]}).json()["results"][0]["score"]
        assert after < second[0]["score"]


def test_molecules_of_a_json_lines_file_are_scored_as_their_smiles(tmp_path, limits):
    """A record carries the chemistry of its atoms; a value of the caller called `smiles` is not read."""
    graphs = read_graphs(["CO", "CCO", "CCCO", "c1ccccc1", "CC(=O)O", "CCN"], format="smi")
    GraphGlass().fit(graphs).save(tmp_path / "model")
    records = [{**record, "smiles": "mine"} for record in json_records(graphs[:2])]
    with TestClient(create_app(Service(tmp_path / "model"), limits=limits)) as client:
        body = {"graphs": records, "smiles": ["CO", "CCO"]}
        rows = client.post("/v1/score", json=body).json()["results"]
    scores = [row["score"] for row in rows]
    assert scores[:2] == pytest.approx(scores[2:], abs=1e-9)


def test_reasons_name_nodes_as_the_request_does(flows, tmp_path):
    GraphGlass().fit(flows()).save(tmp_path / "model")
    record = {
        "id": "large",
        "directed": True,
        "nodes": [{"id": name, "label": 1} for name in "abcd"],
        "edges": [
            {"source": one, "target": two, "attributes": {"amount": amount}}
            for one, two, amount in (("a", "b", 1e6), ("b", "c", 10.0), ("c", "d", 12.0))
        ],
    }
    with TestClient(create_app(Service(tmp_path / "model"))) as client:
        answer = client.post("/v1/explain", json={"graphs": [record]}).json()
    assert any(text.startswith("Edge a") and "amount 1,000,000;" in text for text in answer["reasons"]), answer
