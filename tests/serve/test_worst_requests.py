"""The worst request known of every kind: other clients and health checks hardly notice it."""

import gzip
import os
import random
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from graphglass.serve import schemas
from graphglass.serve.request_graphs import ServeLimits, check_work, estimated_seconds, is_quick_file, item_names
from graphglass.serve.worker_process import memory_limit

SECONDS = 8  # for one answer; then the worker process is killed
SERVER = """
import sys
import uvicorn
from graphglass.serve.app import create_app
from graphglass.serve.request_graphs import ServeLimits
from graphglass.serve.service import Service
limits = ServeLimits(seconds=float(sys.argv[3]), worker_bytes=1 << 30)
uvicorn.run(create_app(Service(sys.argv[1]), limits=limits), port=int(sys.argv[2]), log_level="warning", ws="none")
"""


def lattice(distances, rings):
    """SMILES of dummy atoms with ring closures at some distances, on which RDKit's search for rings takes long."""
    free, due, text, opened, place = list(range(1, 100)), {}, "", 0, 0
    while opened < rings or due:
        text += "*"
        for number in due.pop(place, []):
            text += str(number) if number < 10 else f"%{number}"
            free.append(number)
        free.sort()
        for distance in distances:
            if opened < rings and free:
                number = free.pop(0)
                text += str(number) if number < 10 else f"%{number}"
                due.setdefault(place + distance, []).append(number)
                opened += 1
        place += 1
    return text


def graph(count, pairs, label=lambda _: 0):
    return {"id": "g", "nodes": [{"id": i, "label": label(i)} for i in range(count)], "edges": pairs}


def dense(label=lambda _: 0):
    rng = random.Random(0)
    return graph(2_000, [[rng.randrange(2_000), rng.randrange(2_000)] for _ in range(20_000)], label)


def path(count):
    return graph(count, [[i, i + 1] for i in range(count - 1)])


def star(count):
    return graph(count, [[0, i] for i in range(1, count)])


def with_attributes(count, names):
    """A graph without edges whose nodes have attributes; `names` gives those of a node."""
    return {"nodes": [{"id": i, "attributes": dict.fromkeys(names(i), 1.0)} for i in range(count)]}


LATTICE = lattice((2, 5, 17), 1_000)
MACROCYCLE = "c1%10ccc(cc1)" + "-c1ccc(cc1)" * 9 + "-c1ccc%10cc1"  # [11]cycloparaphenylene: 2,048 large rings
JSON_REQUESTS = {
    "a lattice": ("/v1/score", {"smiles": [LATTICE]}),
    "another lattice": ("/v1/score", {"smiles": [lattice((2, 3, 5), 1_000)]}),
    "a small lattice of many cycles": ("/v1/score", {"smiles": [lattice((27, 29), 60)]}),
    "many small lattices": ("/v1/score", {"smiles": [lattice((2,), 250)] * 32}),
    "many macrocycles": ("/v1/score", {"smiles": [MACROCYCLE] * 32}),
    "a lattice to explain": ("/v1/explain", {"smiles": [LATTICE]}),
    "a lattice to place": ("/v1/place", {"smiles": [LATTICE]}),
    "a lattice to trust": ("/v1/references", {"smiles": [LATTICE]}),
    "a dense graph to explain": ("/v1/explain", {"graphs": [dense()], "nodes": False}),
    "many labels to explain": ("/v1/explain", {"graphs": [dense(lambda i: i)], "nodes": False}),
    "a star to explain": ("/v1/explain", {"graphs": [star(20_000)]}),
    "a dense graph to review": ("/v1/reviews", {"graphs": [dense()]}),
    "a path to review": ("/v1/reviews", {"graphs": [path(30_000)]}),
    "a path": ("/v1/score", {"graphs": [path(20_000)]}),
    "a long path": ("/v1/score", {"graphs": [path(70_000)]}),
    "attributes of one node": (
        "/v1/score",
        {"graphs": [with_attributes(15_000, lambda i: [f"a{k}" for k in range(4_000)] * (not i))]},
    ),
    "attributes of each node": (
        "/v1/score",
        {"graphs": [with_attributes(2_000, lambda i: [f"a{i}_{k}" for k in range(50)])]},
    ),
    "attributes in other orders": (
        "/v1/score",
        {
            "graphs": [
                with_attributes(1, lambda _, i=i: [f"a{(k + i) % 1_500}" for k in range(1_500)]) for i in range(200)
            ]
        },
    ),
    "open brackets": ("/v1/score", {"smiles": ["[" * 4_000] * 256}),
    "more nodes than allowed": ("/v1/score", {"graphs": [{"nodes": [{}] * 1_900_000}]}),
    "no graphs": ("/v1/score", {"graphs": [1] * 2_600_000}),
    "drift": ("/v1/drift", {"scores": [random.Random(i).random() for i in range(20_000)]}),
}
QUICK = {
    "drift",
    "a dense graph to review",
    "attributes of one node",
    "attributes of each node",
    "attributes in other orders",
    "more nodes than allowed",
    "no graphs",
}
LINE = '{"nodes": 1000, "edges": [' + ", ".join(f"[{i % 1000}, {i % 997}]" for i in range(2_000)) + "]}\n"
FILES = {
    "many edges.jsonl.gz": gzip.compress((LINE * 1_500).encode()),
    "four lattices.smi": "\n".join([LATTICE] * 4),
    "four small lattices.smi": "\n".join([lattice((27, 29), 60)] * 4),
    "many macrocycles.smi": "\n".join([MACROCYCLE] * 30),
    "four chains.smi": "\n".join(["C" * 3_990] * 4),
    "a lattice.csv": f"name,smiles\nx,{lattice((9,), 900)}\n",
    "bare nodes.jsonl": '{"nodes": 100000, "edges": []}\n' * 120,
}
FILES = {name: text.encode() if isinstance(text, str) else text for name, text in FILES.items()}


@pytest.mark.parametrize("name", [name for name in JSON_REQUESTS if name not in QUICK])
def test_the_worst_requests_are_not_for_the_scoring_thread(name):
    route, body = JSON_REQUESTS[name]
    kind = {"/v1/score": schemas.ScoreRequest, "/v1/explain": schemas.ExplainRequest}.get(route, schemas.Graphs)
    assert check_work(kind(**body), ServeLimits()) > ServeLimits().quick_seconds


@pytest.mark.parametrize("name", [name for name in FILES if name != "bare nodes.jsonl"])
def test_the_worst_files_are_not_for_the_scoring_thread(name):
    assert not is_quick_file(FILES[name], name)
    assert is_quick_file(b"c1ccccc1O phenol\nCC(=O)O acid\n", "usual.smi")


def test_rings_are_estimated_by_what_they_take():
    """Measured: 0.38 and 18.7 seconds for lattices of 300 and 1,000 rings; digits in brackets close no ring."""
    reading = ServeLimits().reading
    assert estimated_seconds({"smiles": lattice((2, 5, 17), 300)}, reading) > 0.38
    assert estimated_seconds({"smiles": LATTICE}, reading) > 18.7
    assert estimated_seconds({"smiles": "[13CH3][13CH2]" * 100}, reading) < 0.2


def test_what_is_no_text_is_not_written_out_as_one():
    class Long(list):
        def __repr__(self):
            raise AssertionError

    item = {"smiles": Long()}
    assert estimated_seconds(item, ServeLimits().reading) < 0.01
    assert item_names([item]) == ("graph-0",)


def test_memory_is_bounded_and_free_again():
    with pytest.raises(MemoryError), memory_limit(64 << 20):
        bytearray(2 << 30)  # more than earlier tests can have left in the heap
    assert len(bytearray(1 << 28)) == 1 << 28


def _cpu_seconds(pid):
    """Processor seconds of one process, its children aside."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def _peak_megabytes(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory, normals):
    """A service in another process, and its id."""
    from graphglass import GraphGlass

    folder = tmp_path_factory.mktemp("worst")
    GraphGlass().fit({"one": normals[:20], "two": normals[20:]}).save(folder / "model")  # takes graphs of every form
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-c", SERVER, str(folder / "model"), str(port), str(SECONDS)]
    with subprocess.Popen(command) as process:
        address = f"http://127.0.0.1:{port}"
        for _ in range(2400):
            try:
                httpx.get(f"{address}/healthz")
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield address, process.pid
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*JSON_REQUESTS, *FILES])
def test_nobody_waits_for_the_worst_request(server, ring, name):
    """Measured in processor seconds of the service during a small request and a health check, whatever else runs."""
    address, pid = server
    small = {"graphs": [ring(6, "six")]}
    answers = []

    def send():
        start = time.monotonic()
        with httpx.Client(base_url=address, timeout=300) as sender:
            if name in FILES:
                headers = {"Content-Type": "application/octet-stream"}
                answer = sender.post("/v1/read", params={"name": name}, content=FILES[name], headers=headers)
            else:
                route, body = JSON_REQUESTS[name]
                answer = sender.post(route, json=body)
                if route == "/v1/reviews" and answer.status_code == 201:
                    start = time.monotonic()
                    answer = sender.post(f"{route}/{answer.json()['review']}/marks", json={})
            answers.append((answer.status_code, time.monotonic() - start))

    with httpx.Client(base_url=address, timeout=300) as client:
        usual = client.post("/v1/score", json=small).json()
        before = _peak_megabytes(pid)
        thread = threading.Thread(target=send)
        thread.start()
        waits = []
        while thread.is_alive():
            start = _cpu_seconds(pid)
            assert client.get("/healthz").text == "ok"
            answer = client.post("/v1/score", json=small)
            assert answer.json() == usual
            waits.append(_cpu_seconds(pid) - start)
            time.sleep(0.05)
        thread.join()
        assert max(waits) < 1
        assert client.post("/v1/score", json=small).json() == usual
    status, seconds = answers[0]
    assert status in (200, 201, 422) or (status == 503 and seconds >= SECONDS)  # only the time limit refuses work
    assert _peak_megabytes(pid) < before + 500
