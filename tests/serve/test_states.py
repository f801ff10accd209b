"""Answers while the model changes: each is of one state, in memory and on disk."""

import json
import threading
import time

import httpx
import pytest
from fastapi.testclient import TestClient

from graphglass import GLASS, GraphGlass, ReferenceDetector, read_graphs
from graphglass.detector import model_files
from graphglass.detector.reference_map import ReferenceMap
from graphglass.errors import ModelConflictError
from graphglass.privacy.release.publish import release
from graphglass.serve import answers, reference_changes
from graphglass.serve.answers import answer_in_worker, score_request
from graphglass.serve.app import create_app
from graphglass.serve.request_graphs import ServeLimits
from graphglass.serve.service import Service


@pytest.fixture
def own_client(own_model, limits):
    with TestClient(create_app(Service(own_model), limits=limits)) as client:
        yield client


def stages(model):
    log = model.with_name("model.references-audit.log")
    return [json.loads(line)["stage"] for line in log.read_text().splitlines()] if log.exists() else []


def references(client, model):
    """How many the service says there are, and how many are on disk."""
    return client.get("/v1/model").json()["references"], len(ReferenceDetector.load(model).references_)


def test_an_answer_is_of_one_state_though_the_model_changes_meanwhile(own_client, ring, monkeypatch):
    near = {"graphs": [ring(29, "near")]}

    def removes_the_anomaly(real):
        def changed(self, *given, **named):
            found = real(self, *given, **named)
            if own_client.get("/v1/anomalies").json()["total"]:
                assert own_client.delete("/v1/anomalies", params={"id": "fraud"}).status_code == 200
            return found

        return changed

    def add():
        assert own_client.post("/v1/anomalies", json={"graphs": [ring(30, "fraud")]}).status_code == 201

    add()
    before = own_client.post("/v1/score", json=near).json()
    for owner, name in ((Service, "accept"), (Service, "score_sets")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, removes_the_anomaly(getattr(owner, name)))
            assert own_client.post("/v1/score", json=near).json() == before
        assert own_client.post("/v1/score", json=near).json() != before
        add()
    monkeypatch.setattr(ReferenceDetector, "explain", removes_the_anomaly(ReferenceDetector.explain))
    told = own_client.post("/v1/explain", json={**near, "nodes": False})
    assert told.status_code == 200
    assert [item["id"] for item in told.json()["resembles"]] == ["fraud"]


def test_a_model_replaced_on_disk_is_not_overwritten(own_client, own_model, normals, ring):
    GraphGlass().fit(normals[:20].structure_only()).save(own_model)
    for answer in (
        own_client.post("/v1/references", json={"graphs": [ring(30, "wheel")]}),
        own_client.delete("/v1/references", params={"id": normals.ids[0]}),
        own_client.post("/v1/anomalies", json={"graphs": [ring(30, "wheel")]}),
    ):
        assert answer.status_code == 409
        assert "no longer the one that is served" in answer.json()["detail"]
    assert references(own_client, own_model) == (40, 20)
    assert stages(own_model) == []
    assert own_client.post("/v1/score", json={"graphs": [ring(9)]}).status_code == 200


def test_a_model_that_is_gone_from_the_disk_is_not_changed(own_client, own_model, ring):
    own_model.rename(own_model.with_name("elsewhere"))
    answer = own_client.post("/v1/references", json={"graphs": [ring(7, "new")]})
    assert answer.status_code == 409
    assert "no longer the one that is served" in answer.json()["detail"]
    assert not own_model.exists()


@pytest.mark.slow
def test_a_model_replaced_on_disk_does_not_answer_large_requests(own_model, normals, ring):
    service = Service(own_model)
    with TestClient(create_app(service, limits=ServeLimits(quick_seconds=0.0, seconds=300))) as client:
        GraphGlass().fit(normals[:20].structure_only()).save(own_model)
        answer = client.post("/v1/score", json={"graphs": [ring(9)]})
    assert answer.status_code == 409
    assert "no longer the one that is served" in answer.json()["detail"]


def test_a_large_request_that_meets_a_change_is_answered_by_the_new_state(own_model, ring, monkeypatch):
    app = create_app(Service(own_model), limits=ServeLimits(quick_seconds=0.0, seconds=300))
    asked = []

    async def run_here(function, arguments, digest, *rest):
        asked.append(digest)
        if len(asked) == 1:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=300) as inner:
                assert (await inner.post("/v1/references", json={"graphs": [ring(30)]})).status_code == 201
            answers._loaded.cache_clear()  # by this, as in a process that has not worked yet
        assert function is answer_in_worker
        return function(arguments, digest, *rest)

    monkeypatch.setattr(app.state.worker, "run", run_here)
    with TestClient(app) as client:
        answer = client.post("/v1/score", json={"graphs": [ring(9)]}).json()
        assert answer["model"] == client.get("/v1/model").json()["fingerprint"] == asked[-1] != asked[0]


def test_another_summary_of_the_same_encoders_is_another_model(tmp_path, ring, ledger):
    public = read_graphs([ring(size) for size in range(5, 20)])
    model = GLASS(encoder="numeric", epochs=1).fit(public)
    model.save(tmp_path / "model")
    for name, sizes in (("one", range(20, 40)), ("two", range(30, 50))):
        private = read_graphs([ring(size, f"secret-{size}") for size in sizes])
        release(private, model=model, ledger=ledger, dataset="site", epsilon=4, output=tmp_path / name)
    one, two = (Service(tmp_path / "model", summary=tmp_path / name) for name in ("one", "two"))
    assert one.digest != two.digest
    with pytest.raises(ModelConflictError):
        answer_in_worker(two.arguments, one.digest, ServeLimits(), score_request, None)


def test_an_unwritable_change_log_is_told_before_anything_changes(own_client, own_model, ring):
    own_model.with_name("model.references-audit.log").mkdir()
    answer = own_client.post("/v1/references", json={"graphs": [ring(30, "wheel")]})
    assert answer.status_code == 409
    assert "cannot write its change log" in answer.json()["detail"]
    assert str(own_model.parent) not in answer.text
    assert references(own_client, own_model) == (40, 40)


def test_a_change_that_is_saved_counts_though_its_card_is_not(own_client, own_model, ring, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model_files, "write_whole", full)
    assert own_client.post("/v1/references", json={"graphs": [ring(30, "wheel")]}).status_code == 201
    assert references(own_client, own_model) == (41, 41)
    assert stages(own_model) == ["begun", "done"]
    assert own_client.delete("/v1/references", params={"id": "wheel"}).status_code == 200


@pytest.mark.parametrize(("fails", "status", "total"), [("done", 201, 41), ("failed", 500, 40)])
def test_a_change_ends_as_it_did_though_its_log_cannot_say_so(
    own_client, own_model, ring, monkeypatch, fails, status, total
):
    from graphglass.errors import ArtifactError

    real, save = reference_changes.record_change, ReferenceDetector.save

    def record(model, action, ids, stage, count):
        if stage == fails:
            raise OSError(28, "No space left on device")
        real(model, action, ids, stage, count)

    def broken(self, path):
        raise ArtifactError("no space")

    monkeypatch.setattr(reference_changes, "record_change", record)
    monkeypatch.setattr(ReferenceDetector, "save", broken if fails == "failed" else save)
    assert own_client.post("/v1/references", json={"graphs": [ring(30, "wheel")]}).status_code == status
    assert references(own_client, own_model) == (total, total)
    assert stages(own_model) == ["begun"]


def test_only_the_map_and_places_on_it_wait_for_the_map(own_model, ring, monkeypatch):
    fitted, release = [], threading.Event()
    real = ReferenceMap.fit

    def slow(scorer, given):
        fitted.append(len(given))
        release.wait(60)
        return real(scorer, given)

    monkeypatch.setattr(ReferenceMap, "fit", slow)
    found = []
    with TestClient(create_app(Service(own_model), limits=ServeLimits(seconds=30))) as client:

        def ask(method, path, body=None):
            found.append(client.request(method, path, json=body))

        asked = [("POST", "/v1/place", {"graphs": [ring(9)]}), ("GET", "/v1/map")]
        threads = [threading.Thread(target=ask, args=arguments) for arguments in asked]
        for thread in threads:
            thread.start()
        _until(lambda: fitted == [40])  # at the start, before anybody asks
        # A request that waited for the map would end with 503 after `seconds`, before the map is released.
        assert client.post("/v1/score", json={"graphs": [ring(9)]}).status_code == 200
        assert client.post("/v1/explain", json={"graphs": [ring(9)]}).status_code == 200
        assert client.post("/v1/references", json={"graphs": [ring(30, "wheel")]}).status_code == 201
        assert not found
        release.set()
        for thread in threads:
            thread.join()
        assert [answer.status_code for answer in found] == [200, 200]
        assert all(len(places) == 2 for answer in found for places in answer.json()["places"])
        _until(lambda: fitted == [40, 41])  # after the change
        assert len(client.get("/v1/map").json()["ids"]) == 41
        assert fitted == [40, 41]


def _until(true):
    for _ in range(600):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")
