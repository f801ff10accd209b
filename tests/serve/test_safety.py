import json
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

from graphglass.errors import ServeError
from graphglass.serve.app import create_app
from graphglass.serve.auth import allowed, check_address, read_token
from graphglass.serve.batcher import Batcher, BusyError

TOKEN = "a-long-enough-token"


def test_token_is_required_for_data_only(service, limits):
    with TestClient(create_app(service, token=TOKEN, limits=limits)) as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/").status_code == 200
        for header in (None, "Bearer wrong-token-wrong", f"Basic {TOKEN}", TOKEN):
            headers = {} if header is None else {"Authorization": header}
            refused = client.get("/v1/model", headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert client.get("/metrics", headers=headers).status_code == 401
        assert client.get("/v1/model", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_token_comparison():
    assert allowed(f"Bearer {TOKEN}", TOKEN)
    assert not allowed("Bearer ünïcode", TOKEN)
    assert not allowed(None, TOKEN)


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
    small = client.post("/v1/score", content=b"{}", headers={"content-type": "application/json"})
    assert small.status_code == 200


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"graphs": [{"nodes": 1}] * 65}, "may hold 64 graphs, found 65"),
        ({"alpha": 2}, "alpha"),
        ({"graphs": "no"}, "graphs"),
        ({"unknown": 1}, "unknown"),
        ({"smiles": ["C" * 5000]}, "smiles"),
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


def test_no_input_is_echoed_in_validation_errors(client):
    answer = client.post("/v1/score", json={"graphs": "SECRET-GRAPH-CONTENT"})
    assert "SECRET" not in answer.text


def test_hostile_bodies_leave_the_server_answering(client, ring):
    """Many mutations of valid bodies: wrong types, NaN, deep nesting, negative numbers, cut strings."""
    rng = random.Random(0)
    one = {"nodes": [{"id": "x"}], "edges": []}
    seeds = [{"graphs": [ring(4, "a")]}, {"smiles": ["CCO"]}, {"graphs": [one], "alpha": 0.1}]
    hostile = [None, True, -1, 10**30, 1e308, "", "\x00", [], {}, [[]], {"nodes": -1}, [None], "a" * 500, {"id": []}]

    def mutate(value, depth=0):
        if rng.random() < 0.15 or depth > 5:
            return rng.choice(hostile)
        if isinstance(value, dict):
            return {key: mutate(item, depth + 1) for key, item in value.items() if rng.random() > 0.05}
        if isinstance(value, list):
            return [mutate(item, depth + 1) for item in value]
        return value

    statuses = set()
    for _ in range(400):
        text = json.dumps(mutate(rng.choice(seeds)))
        if rng.random() < 0.2:
            text = text[: rng.randrange(len(text) + 1)]
        if rng.random() < 0.1:
            text = text.replace("4", rng.choice(["NaN", "Infinity", "-4", "1e999", "[" * 200]))
        path = rng.choice(["/v1/score", "/v1/explain"])
        statuses.add(client.post(path, content=text.encode(), headers={"content-type": "application/json"}).status_code)
    assert statuses <= {200, 400, 413, 422}
    assert client.post("/v1/score", json={"graphs": [ring(5)]}).status_code == 200


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
    import asyncio
    import threading

    import numpy as np

    release = threading.Event()

    async def scenario():
        batcher = Batcher(lambda graphs: (release.wait(5), np.zeros(len(graphs)))[1], batch_graphs=1, waiting=1)
        batcher.start()
        from graphglass.graphs.canonical import canonical_graph_set

        graph = canonical_graph_set([1], [], [])
        first = asyncio.create_task(batcher.scores(graph))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(batcher.scores(graph))
        await asyncio.sleep(0.05)
        with pytest.raises(BusyError):
            await batcher.scores(graph)
        release.set()
        assert len(await first) == len(await second) == 1
        await batcher.stop()

    asyncio.run(scenario())
