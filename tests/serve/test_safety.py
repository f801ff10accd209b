import asyncio
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from graphglass.errors import ServeError
from graphglass.serve.app import create_app
from graphglass.serve.middleware import LOOPBACK_NAMES, BodyLimit, check_address, problem_response, read_token
from graphglass.serve.queues import Batcher, BusyError
from graphglass.serve.request_graphs import ServeLimits

TOKEN = "a-long-enough-token"


def test_token_is_required_for_data_only(service, limits):
    with TestClient(create_app(service, token=TOKEN, limits=limits)) as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/").status_code == 200
        for header in (None, "Bearer wrong-token-wrong", f"Basic {TOKEN}", TOKEN, "Bearer ünïcode".encode()):
            headers = {} if header is None else {"Authorization": header}
            refused = client.get("/v1/model", headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert client.get("/metrics", headers=headers).status_code == 401
        assert client.get("/v1/model", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_public_addresses_need_a_token(tmp_path):
    for host in ("127.0.0.1", "::1", "localhost"):
        check_address(host, None)
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org"):
        with pytest.raises(ServeError, match="can be reached from other machines"):
            check_address(host, None)
        check_address(host, TOKEN)
    (tmp_path / "short").write_text("abc")
    with pytest.raises(ServeError, match="at least 16 characters"):
        read_token(tmp_path / "short")
    with pytest.raises(ServeError, match="cannot be read"):
        read_token(tmp_path / "absent")


def test_body_limit_counts_streamed_bytes(client):
    def endless():
        for _ in range(1000):
            yield b" " * 1000

    answer = client.post("/v1/score", content=endless(), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    file = client.post("/v1/read", content=endless(), headers={"content-type": "application/octet-stream"})
    assert file.status_code == 413
    small = client.post("/v1/score", content=b"{}", headers={"content-type": "application/json"})
    assert small.status_code == 422


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"graphs": [{"nodes": 1}] * 65}, "may hold 64 graphs, found 65"),
        ({"alpha": 2}, "alpha"),
        ({"graphs": "no"}, "graphs"),
        ({"unknown": 1}, "unknown"),
        ({"smiles": ["C" * 5000]}, "a SMILES string of 5,000 characters"),
    ],
)
def test_unusable_requests_are_problems(client, body, message):
    answer = client.post("/v1/score", json=body)
    assert answer.status_code == 422
    assert message in answer.json()["detail"]
    assert set(answer.json()) == {"type", "title", "status", "detail"}


def test_a_huge_graph_is_rejected(client, ring):
    answer = client.post("/v1/score", json={"graphs": [{"nodes": 10**12, "edges": []}, ring(4, "fine")]})
    assert answer.status_code == 200
    assert [row["id"] for row in answer.json()["results"]] == ["fine"]


def test_broken_unicode_is_refused_before_it_is_kept(client):
    record = '{"id": "a", "nodes": [{"id": "\\udfff"}], "edges": []}'
    for path in ("/v1/score", "/v1/explain", "/v1/references"):
        body = f'{{"graphs": [{record}]}}'.encode()
        answer = client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422
        assert "Unicode" in answer.json()["detail"]


def test_text_that_no_answer_could_carry_is_replaced(client):
    body = b'{"graphs": [{"id": "\\ud800", "nodes": 3, "edges": [[0, 1]], "columns": {"a\\ud800": "b\\udfff"}}]}'
    answer = client.post("/v1/score", content=body, headers={"content-type": "application/json"})
    assert answer.json()["results"][0]["id"] == "?"
    assert answer.json()["results"][0]["columns"] == {"a?": "b?"}


def test_spellings_of_paths_make_no_new_counters(service, limits):
    with TestClient(create_app(service, token=TOKEN, limits=limits)) as client:
        pages = {"/": 200, "/docs": 200, "/web/inspector.js": 200, "/web/./././inspector.js": 200, "/openapi.json": 200}
        other = {f"/docs{'/' * count}": 404 for count in range(1, 9)} | {"/v1/model/": 401, "/v1/model/x": 401}
        for path, status in (pages | other | {"/v1/score": 401, "/web/absent.js": 404}).items():
            assert client.get(path, follow_redirects=False).status_code == status, path
        assert client.post("/docs").status_code == 405
        page = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    labels = set(re.findall(r'glass_request(?:s_total|_seconds_count){route="(.*?)"', page))
    assert labels == {"/", "/docs", "other"}


def test_no_input_is_echoed_in_validation_errors(client):
    answer = client.post("/v1/score", json={"graphs": "SECRET-GRAPH-CONTENT"})
    assert "SECRET" not in answer.text


def test_concurrent_requests_lose_nothing_and_share_batches(client, ring):
    batcher = client.app.state.batcher
    before = batcher.batches

    def ask(size):
        answer = client.post("/v1/score", json={"graphs": [ring(3 + size % 9, f"r{size}")]})
        return answer.status_code, answer.json()["results"][0]["id"], answer.json()["results"][0]["score"]

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(ask, range(200)))
    assert {status for status, _, _ in answers} == {200}
    assert [name for _, name, _ in answers] == [f"r{i}" for i in range(200)]
    for size in range(9):
        scores = [score for i, (_, _, score) in enumerate(answers) if i % 9 == size]
        assert max(scores) - min(scores) < 1e-6
    assert batcher.batches - before < 200


def test_a_full_line_is_refused():
    release = threading.Event()

    async def scenario():
        batcher = Batcher(lambda batch: [release.wait(60) for _ in batch], size=lambda _: 1, batch_graphs=1, waiting=1)
        batcher.start()
        first = asyncio.create_task(batcher.answer("first"))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(batcher.answer("second"))
        other = asyncio.create_task(batcher.run(release.wait, 60))
        await asyncio.sleep(0.05)
        assert batcher.waiting == 2
        with pytest.raises(BusyError):
            await batcher.answer("third")
        with pytest.raises(BusyError):
            await batcher.run(release.wait, 60)
        release.set()
        assert await asyncio.gather(first, second, other) == [True, True, True]
        await batcher.stop()

    asyncio.run(scenario())


def test_a_service_on_loopback_knows_its_names(service, limits, ring):
    app = create_app(service, limits=limits, hosts=LOOPBACK_NAMES)
    body = {"graphs": [ring(5)]}
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        assert client.post("/v1/score", json=body).status_code == 200
        assert client.get("/healthz", headers={"Host": "[::1]:8000"}).status_code == 200
        assert client.get("/healthz", headers={"Host": "LOCALHOST"}).status_code == 200
        for host in ("evil.example", "127.0.0.1.evil.example:8000", ""):
            refused = client.post("/v1/score", json=body, headers={"Host": host})
            assert refused.status_code == 421


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_form_on_another_site_cannot_post(client, ring, kind):
    """Browsers send these types across sites without asking first."""
    headers = {} if kind is None else {"Content-Type": kind}
    answer = client.post("/v1/references", content=json.dumps({"graphs": [ring(5, "forged")]}), headers=headers)
    assert answer.status_code == 422
    assert client.get("/v1/model").json()["references"] == 40


def _bodies(limits, chunks):
    """What a client is told that sends these chunks, each after a pause."""
    sent = []

    async def reads_everything(scope, receive, send):
        while (message := await receive())["type"] == "http.request" and message["more_body"]:
            pass
        await problem_response(200, "fine")(scope, receive, send)

    async def scenario():
        pending = list(chunks)

        async def receive():
            pause, body = pending.pop(0)
            await asyncio.sleep(pause)
            return {"type": "http.request", "body": body, "more_body": bool(pending)}

        async def send(message):
            sent.append(message)

        guarded = BodyLimit(reads_everything, limits)
        await guarded({"type": "http", "method": "POST", "path": "/", "headers": []}, receive, send)
        assert guarded.held == 0

    asyncio.run(scenario())
    return sent[0]["status"]


def test_slow_large_and_crowding_bodies_are_refused():
    bounds = ServeLimits(body_bytes=100, held_bytes=50)
    assert _bodies(bounds, [(0, b"x" * 40), (0, b"")]) == 200
    assert _bodies(bounds, [(0, b"x" * 60), (0, b"")]) == 429
    assert _bodies(bounds, [(0, b"x" * 101)]) == 413
    assert _bodies(replace(bounds, seconds=0.2), [(0, b"x"), (0.5, b"x")]) == 408


def test_an_unexpected_failure_tells_nothing(service, limits, ring, monkeypatch, caplog):
    secret = "-".join(("SECRET", "GRAPH"))  # put together, so that the line itself does not spell it

    def broken(*_):
        raise RuntimeError(secret)

    with TestClient(create_app(service, limits=limits)) as client:
        monkeypatch.setattr(service, "score", broken)
        answer = client.post("/v1/score", json={"graphs": [ring(5)]})
        assert answer.status_code == 500
        assert answer.headers["content-type"] == "application/problem+json"
        assert "content-security-policy" in answer.headers
        assert secret not in answer.text
        assert secret not in caplog.text
        assert "RuntimeError" in caplog.text
        assert 'glass_requests_total{route="/v1/score",status="500"} 1.0' in client.get("/metrics").text
