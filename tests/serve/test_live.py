"""A real server on loopback: many requests at once, and death in the middle of a change."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest

from graphglass import ReferenceDetector
from graphglass.serve.app import create_app


@pytest.mark.slow
def test_five_hundred_requests_at_once_lose_none(service, limits, serving, ring):
    application = create_app(service, limits=limits)

    async def ask_all(address):
        bounds = httpx.Limits(max_connections=500, max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=address, limits=bounds, timeout=120) as client:
            bodies = [{"graphs": [ring(3 + i % 9, f"r{i}")]} for i in range(500)]
            return await asyncio.gather(*(client.post("/v1/score", json=body) for body in bodies))

    before = application.state.batcher.batches
    with serving(application) as address:
        answers = asyncio.run(ask_all(address))
    assert [answer.status_code for answer in answers] == [200] * 500
    rows = [answer.json()["results"][0] for answer in answers]
    assert [row["id"] for row in rows] == [f"r{i}" for i in range(500)]
    for kind in range(9):
        assert len({row["score"] for row in rows[kind::9]}) == 1
    assert application.state.batcher.batches - before < 250


# Imports once and forks a server for every line it reads, since most of a start is imports.
NURSERY = """
import os, sys
import uvicorn
from graphglass.serve.app import create_app
from graphglass.serve.service import Service
for line in sys.stdin:
    port, path = line.rstrip().split(" ", 1)
    child = os.fork()
    if not child:
        uvicorn.run(create_app(Service(path)), port=int(port), log_level="warning", ws="none")
        os._exit(0)
    print(child, flush=True)
    print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def nursery():
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", NURSERY], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        yield process
        process.stdin.close()


@pytest.mark.slow
def test_death_during_a_change_leaves_the_old_or_the_new_state(own_model, ring, nursery):
    """A server is killed at three moments of a change, as long as a change before it took."""
    known = set(ReferenceDetector.load(own_model).references_.graphs.ids)
    for number, share in enumerate((0.35, 0.65, 0.9)):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        print(port, own_model, file=nursery.stdin, flush=True)
        pid = int(nursery.stdout.readline())
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            _await_server(client)
            assert {row["id"] for row in client.get("/v1/references").json()["references"]} == known
            start = time.perf_counter()
            assert client.post("/v1/references", json={"graphs": [ring(20, f"whole {number}")]}).status_code == 201
            took = time.perf_counter() - start
            known.add(f"whole {number}")
            name = f"cut {number}"
            killer = threading.Timer(share * took, os.kill, (pid, signal.SIGKILL))
            killer.start()
            try:
                answered = client.post("/v1/references", json={"graphs": [ring(30, name)]}).status_code == 201
            except httpx.TransportError:
                answered = False
            killer.join()
        assert int(nursery.stdout.readline()) == signal.SIGKILL
        after = ReferenceDetector.load(own_model)  # refuses a torn model: every file is checked against its hash
        ids = set(after.references_.graphs.ids)
        assert ids in (known, known | {name})
        assert not answered or name in ids
        assert len(after.decision_scores_) == len(ids)
        known = ids
    log = own_model.with_name("model.references-audit.log").read_text().splitlines()
    begun = {json.loads(line)["ids"][0] for line in log}
    assert known - begun == {name for name in known if not name.startswith(("whole", "cut"))}


def _await_server(client):
    for _ in range(1200):
        try:
            client.get("/healthz")
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")


def _own_address():
    """An address of this machine that is not loopback; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no network address")
        return probe.getsockname()[0]


@pytest.mark.slow
def test_over_the_network_only_the_token_opens_the_service(model, tmp_path, ring):
    """The command itself, on all addresses, asked by another address than loopback."""
    (tmp_path / "token").write_text("a-token-of-this-test\n")
    with socket.create_server(("0.0.0.0", 0)) as free:
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-c",
        "from graphglass.cli.app import main; main()",
        "serve",
        str(model),
        "--host",
        "0.0.0.0",
    ]
    open_to_all = subprocess.run([*command, "--port", str(port)], capture_output=True, text=True, timeout=120)
    assert open_to_all.returncode != 0
    assert "--token-file" in open_to_all.stderr
    server = subprocess.Popen(
        [*command, "--port", str(port), "--token-file", str(tmp_path / "token")], stderr=subprocess.PIPE, text=True
    )
    try:
        with httpx.Client(base_url=f"http://{_own_address()}:{port}", timeout=60) as client:
            _await_server(client)
            body = {"graphs": [ring(6, "six")]}
            for wrong in (
                {},
                {"Authorization": "Bearer a-token-of-this-tes"},
                {"Authorization": "Bearer A-token-of-this-test"},
            ):
                for method, path in (
                    ("POST", "/v1/score"),
                    ("POST", "/v1/references"),
                    ("GET", "/v1/model"),
                    ("GET", "/metrics"),
                ):
                    answer = client.request(method, path, json=body if method == "POST" else None, headers=wrong)
                    assert answer.status_code == 401
                    assert "six" not in answer.text
            right = {"Authorization": "Bearer a-token-of-this-test"}
            assert client.post("/v1/score", json=body, headers=right).json()["results"][0]["id"] == "six"
            assert client.get("/v1/model", headers=right).json()["references"] == 40
            assert client.get("/").status_code == 200
    finally:
        server.terminate()
        _, told = server.communicate(timeout=60)
    assert "a-token-of-this-test" not in told
