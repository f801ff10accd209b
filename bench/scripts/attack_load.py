"""Many clients at once against one service of this machine: no server error, no wrong score, no growing memory."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

CLIENTS, SECONDS, MALFORMED = 500, 120.0, 0.1
MOST_GROWTH_MB = 64
MOLECULES = ("CCO", "CC(=O)O", "c1ccccc1O", "CCN(CC)CC", "C1CCCCC1", "NCC(=O)O", "CS(=O)(=O)N", "Clc1ccc(Cl)cc1")
PATHS = ("/v1/score", "/v1/explain", "/v1/place", "/v1/drift", "/v1/read", "/v1/references", "/nowhere")
BODIES = (
    b"", b"{", b"[]", b"null", b'{"smiles": 7}', b'{"smiles": ["C1CC"]}', b'{"graphs": [{"nodes": -1}]}', b"\xff\xfe",
    b'{"graphs": [{"nodes": 3, "edges": [[0, 9]]}]}', b'{"scores": ["a"]}', b'{"smiles": []}', b"[" * 5000,
)  # fmt: skip


def rows(share: float, folder: Path) -> list[dict[str, Any]]:
    from attack import row
    from graphglass import GraphGlass, read_graphs

    references = read_graphs([*MOLECULES, *(molecule + "C" for molecule in MOLECULES[:5])], format="smi")
    GraphGlass().fit(references).save(folder / "model")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "graphglass.cli", "serve", str(folder / "model"), "--port", str(port)]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            found = asyncio.run(_load(port, server.pid, max(10, round(CLIENTS * share)), SECONDS * share))
        finally:
            server.terminate()
    answers, wrong, memory, slowest = found
    errors = sum(count for code, count in answers.items() if code >= 500 or code == 0)
    growth = max(memory[len(memory) // 3 :]) - memory[len(memory) // 3]
    shown = ", ".join(f"{count:,} x {code}" for code, count in sorted(answers.items()))
    measured = f"{shown}; {wrong} wrong scores; memory {memory[len(memory) // 3]:.0f} to {max(memory):.0f} MB"
    failures = errors + wrong + int(growth > MOST_GROWTH_MB)
    return [row("requests under load", answers.total(), failures, measured, healthz_slowest_s=round(slowest, 2))]


async def _load(port: int, pid: int, clients: int, seconds: float) -> tuple[Counter[int], int, list[float], float]:
    """Answers by code (0: none), wrong scores, memory in MB from time to time, and the slowest health check."""
    bodies = [json.dumps({"smiles": [molecule]}).encode() for molecule in MOLECULES]
    for _ in range(600):
        try:
            expected = [(await _ask(await _open(port), "POST", "/v1/score", body))[1] for body in bodies]
            break
        except OSError:
            await asyncio.sleep(0.2)
    answers: Counter[int] = Counter()
    wrong, memory, slowest, end = 0, [], 0.0, time.monotonic() + seconds

    async def client(seed: int) -> None:
        nonlocal wrong
        rng, line = random.Random(seed), await _open(port)
        while time.monotonic() < end:
            chosen = rng.randrange(len(bodies))
            good = rng.random() >= MALFORMED
            path, body = ("/v1/score", bodies[chosen]) if good else (rng.choice(PATHS), rng.choice(BODIES))
            try:
                code, content = await _ask(line, "POST", path, body)
            except (OSError, asyncio.IncompleteReadError, ValueError):
                code, content = 0, b""
            answers[code] += 1
            wrong += good and code == 200 and content != expected[chosen]
            if code == 0 or not good:  # the service may close a line on which it was sent nonsense
                line[1].close()
                line = await _open(port)
        line[1].close()

    async def watch() -> None:
        nonlocal slowest
        while time.monotonic() < end:
            start, line = time.monotonic(), await _open(port)
            await _ask(line, "GET", "/healthz", b"")
            line[1].close()
            slowest = max(slowest, time.monotonic() - start)
            memory.append(_resident_megabytes(pid))
            await asyncio.sleep(1)

    await asyncio.gather(watch(), *map(client, range(clients)))
    return answers, wrong, memory, slowest


def _resident_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


async def _open(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port)


async def _ask(
    line: tuple[asyncio.StreamReader, asyncio.StreamWriter], method: str, path: str, body: bytes
) -> tuple[int, bytes]:
    """The code and content of one answer."""
    kind = "application/octet-stream" if path == "/v1/read" else "application/json"
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    line[1].write(head.encode() + body)
    await line[1].drain()
    answer = (await line[0].readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(answer.partition("content-length:")[2].partition("\r\n")[0])
    return int(answer.split()[1]), await line[0].readexactly(length)
