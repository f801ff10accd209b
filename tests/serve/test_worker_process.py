"""Large graphs run in another process, and nobody waits for them."""

import asyncio
import os
import threading
import time
from multiprocessing.context import SpawnProcess

import httpx
import pytest

from graphglass.errors import GraphError, InputError
from graphglass.serve.app import create_app
from graphglass.serve.queues import BusyError
from graphglass.serve.request_graphs import ServeLimits
from graphglass.serve.worker_process import WorkerProcess


def _fail():
    raise GraphError("a bad graph")


def _die():
    os._exit(9)


def test_a_stop_while_the_process_starts_ends_it(monkeypatch):
    started, starting = SpawnProcess.start, threading.Event()
    processes = []

    def start(process):
        processes.append(process)
        starting.set()
        time.sleep(0.2)  # the stop comes now
        started(process)

    monkeypatch.setattr(SpawnProcess, "start", start)
    worker = WorkerProcess(seconds=5, waiting=1)
    worker.start()
    assert starting.wait(30)
    worker.stop()
    assert [process.is_alive() for process in processes] == [False]


@pytest.mark.slow
def test_work_returns_fails_ends_in_time_and_survives_the_death_of_its_process():
    async def scenario():
        worker = WorkerProcess(seconds=120, waiting=1)
        try:
            assert await worker.run(max, 3, 7) == 7
            first = await worker.run(os.getpid)
            assert first != os.getpid()
            with pytest.raises(GraphError, match="a bad graph"):
                await worker.run(_fail)
            assert await worker.run(os.getpid) == first
            with pytest.raises(InputError, match="more memory"):
                await worker.run(_die)
            worker._seconds = 0.5
            start = time.monotonic()
            with pytest.raises(TimeoutError):
                await worker.run(time.sleep, 60)
            assert time.monotonic() - start < 50
            worker._seconds = 120
            waiting = asyncio.create_task(worker.run(time.sleep, 1))
            await asyncio.sleep(0)
            with pytest.raises(BusyError):
                await worker.run(max, 1, 2)
            await waiting
        finally:
            worker.stop()

    asyncio.run(scenario())


@pytest.mark.slow
def test_a_large_graph_holds_nobody(service, serving, ring):
    """While a long path is being explained elsewhere, small requests and health checks are answered at once."""
    bounds = ServeLimits(quick_seconds=0.05, nodes=4_000, waiting_slow=1, seconds=300)
    path = {"id": "path", "nodes": 4_000, "edges": [[i, i + 1] for i in range(3_999)]}
    with serving(create_app(service, limits=bounds)) as address, httpx.Client(base_url=address, timeout=300) as client:
        answers = []
        threads = [
            threading.Thread(
                target=lambda: answers.append(httpx.post(f"{address}/v1/score", json={"graphs": [path]}, timeout=300))
            )
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
            time.sleep(0.2)
        rounds = 0  # of answers before the long ones: a service that is held answers only afterwards
        while any(thread.is_alive() for thread in threads) and rounds < 60:
            assert client.get("/readyz").text == "ready"
            assert client.get("/healthz").text == "ok"
            assert client.post("/v1/score", json={"graphs": [ring(6)]}).status_code == 200
            rounds += 1
            time.sleep(0.1)
        for thread in threads:
            thread.join()
    # The second one came while the only place was taken.
    assert sorted(answer.status_code for answer in answers) == [200, 429]
    assert rounds > 2
    result = next(answer for answer in answers if answer.status_code == 200).json()["results"][0]
    assert result["nodes"] == 4_000


@pytest.mark.slow
def test_the_answer_is_the_same_in_both_processes(service, serving, ring):
    body = {"graphs": [ring(9, "nine")]}
    value: list[object] = []
    for _ in range(800):  # as deep as JSON may be, and deeper than pickle takes
        value = [value]
    nested = {"graphs": [ring(9) | {"columns": {"deep": value}}]}
    found = []
    for quick in (10.0, 0.0):
        with serving(create_app(service, limits=ServeLimits(quick_seconds=quick, seconds=300))) as address:
            score = httpx.post(f"{address}/v1/score", json=body, timeout=300).json()
            explanation = httpx.post(f"{address}/v1/explain", json=body, timeout=300).json()
            assert httpx.post(f"{address}/v1/score", json=nested, timeout=300).status_code in (200, 422)
        found.append((score, explanation))
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_request_that_takes_too_long_is_ended(service, serving):
    bounds = ServeLimits(quick_seconds=0.0, seconds=0.2)
    with serving(create_app(service, limits=bounds)) as address:
        body = {"graphs": [{"nodes": 5, "edges": [[0, 1]]}]}
        answer, explanation = (
            httpx.post(f"{address}/v1/{name}", json=body, timeout=60) for name in ("score", "explain")
        )
    assert answer.status_code == explanation.status_code == 503
    assert "Send fewer or smaller graphs." in answer.json()["detail"]
    assert answer.headers["content-type"] == "application/problem+json"
