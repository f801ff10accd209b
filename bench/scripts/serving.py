"""Latency and throughput of the service, against a server that runs one forward pass per request.

    python bench/scripts/serving.py --output bench/results/benchmarks/serving.json

Both servers are FastAPI on uvicorn, each in its own process, with the same model (200 random small molecules
as references, default preset), the same reader and the same answer; the plain one reads and scores every request by
itself, in the order of arrival. A third process is the client: it keeps a number of connections busy, each sending its
next request when the last one is answered. Rounds of the two servers alternate, so that other load on the machine meets
both, and the median round counts. `one` is a request with one molecule, `batch` one with 64.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
FRAGMENTS = ("C", "CC", "CO", "CN", "C(=O)", "C(C)", "c1ccccc1", "c1ccncc1", "C1CCCCC1", "C(=O)N", "S", "O", "N")
SERVERS = ("shared", "plain")
HEAD = "POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("bench/results/benchmarks/serving.json"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a round")
    parser.add_argument("--serve", nargs=3, metavar=("SERVER", "MODEL", "PORT"), help="be a server")
    options = parser.parse_args()
    if options.serve:
        be_server(*options.serve)
        return
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        fit(model)
        rows = measure(model, options)
    report = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "load_average": round(os.getloadavg()[0], 1),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "rows": rows,
        "throughput_ratio_32_clients": ratio(rows, "graphs_per_second"),
        "processor_ratio_32_clients": round(1 / ratio(rows, "processor_ms_per_graph"), 2),
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def molecules(count: int, seed: int) -> list[str]:
    """Random small molecules: chains of fragments."""
    rng = random.Random(seed)
    return ["".join(rng.choices(FRAGMENTS, k=rng.randint(2, 5))) for _ in range(count)]


def fit(path: Path) -> None:
    from graphglass import GraphGlass, read_graphs

    GraphGlass().fit(read_graphs(molecules(200, 0), format="smi")).save(path)


def be_server(kind: str, model: str, port: str) -> None:
    import uvicorn

    from graphglass.serve.app import create_app
    from graphglass.serve.service import Service

    service = Service(model)
    service.ready()
    application = create_app(service) if kind == "shared" else plain_app(service)
    uvicorn.run(application, port=int(port), log_level="warning", ws="none", backlog=1024)


def plain_app(service: Any) -> Any:
    """One request, one forward."""
    from fastapi import FastAPI

    from graphglass.serve import schemas
    from graphglass.serve.answers import score_requests
    from graphglass.serve.request_graphs import ServeLimits

    app, bounds = FastAPI(), ServeLimits()

    async def score(request: schemas.ScoreRequest) -> schemas.ScoreAnswer:
        (answer,) = score_requests(service, bounds, [request])
        assert isinstance(answer, schemas.ScoreAnswer)
        return answer

    async def healthz() -> str:
        return "ok"

    score.__annotations__ = {"request": schemas.ScoreRequest, "return": schemas.ScoreAnswer}
    app.post("/v1/score")(score)
    app.get("/healthz")(healthz)
    return app


def measure(model: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    processes, ports = {}, {}
    for name in SERVERS:
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports[name] = free.getsockname()[1]
        command = [sys.executable, __file__, "--serve", name, str(model), str(ports[name])]
        processes[name] = subprocess.Popen(command, env={**os.environ, **THREADS})
    try:
        for name in SERVERS:
            wait_for(ports[name])
        rows = []
        for kind, size, clients in (("one", 1, 1), ("one", 1, 32), ("batch", 64, 1), ("batch", 64, 8)):
            found: dict[str, list[tuple[list[float], float]]] = {name: [] for name in SERVERS}
            worked = dict.fromkeys(SERVERS, 0.0)
            for name in SERVERS:
                asyncio.run(load(ports[name], size, clients, 1.0))  # warm
            for _ in range(options.rounds):
                for name in SERVERS:
                    before = processor_seconds(processes[name].pid)
                    found[name].append(asyncio.run(load(ports[name], size, clients, options.seconds)))
                    worked[name] += processor_seconds(processes[name].pid) - before
            rows += [row(name, kind, size, clients, found[name], worked[name]) for name in SERVERS]
            print(rows[-2], rows[-1], sep="\n", file=sys.stderr)
        return rows
    finally:
        for process in processes.values():
            process.terminate()
            process.wait()


def processor_seconds(pid: int) -> float:
    """Processor time a process has used; unlike its speed, other load on the machine hardly changes it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(port: int) -> None:
    for _ in range(2400):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"no server on port {port}")


async def load(port: int, size: int, clients: int, seconds: float) -> tuple[list[float], float]:
    """Latencies of the requests `clients` connections begin within the time, and the seconds until the last answer."""
    texts = molecules(512, 1)
    begun = time.perf_counter()
    end = begun + seconds

    async def client(number: int) -> list[float]:
        # A bare connection: an HTTP library would cost as much as the server it measures.
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        rng, took = random.Random(number), []
        while time.perf_counter() < end:
            body = json.dumps({"smiles": [{"smiles": text} for text in rng.choices(texts, k=size)]}).encode()
            head = HEAD + f"Content-Length: {len(body)}\r\n\r\n"
            start = time.perf_counter()
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200"), answer
            length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            took.append(time.perf_counter() - start)
        writer.close()
        return took

    parts = await asyncio.gather(*(client(number) for number in range(clients)))
    return [value for took in parts for value in took], time.perf_counter() - begun


def row(
    name: str, kind: str, size: int, clients: int, rounds: list[tuple[list[float], float]], worked: float
) -> dict[str, Any]:
    cuts = [statistics.quantiles(took, n=100) if len(took) > 1 else [took[0]] * 99 for took, _ in rounds]
    requests = sum(len(took) for took, _ in rounds)
    return {
        "server": name,
        "request": kind,
        "clients": clients,
        "requests": requests,
        "p50_ms": round(1e3 * statistics.median(cut[49] for cut in cuts), 1),
        "p99_ms": round(1e3 * statistics.median(cut[98] for cut in cuts), 1),
        "graphs_per_second": round(statistics.median(size * len(took) / seconds for took, seconds in rounds), 1),
        "processor_ms_per_graph": round(1e3 * worked / (size * requests), 2),
    }


def ratio(rows: list[dict[str, Any]], column: str) -> float:
    """Shared over plain, for one molecule a request and 32 clients."""
    found = {item["server"]: item[column] for item in rows if item["request"] == "one" and item["clients"] == 32}
    return round(found["shared"] / found["plain"], 3)


if __name__ == "__main__":
    main()
