"""A scheduler, a worker and a client as separate processes; each may be killed in the middle of a job."""

import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

from graphglass import GraphGlass, ReferenceDetector, write_parquet

PARTS = 8
# One part at a time, slowly, so that a process can be killed between two parts.
JOB = """
import sys, time
from graphglass.cluster import connect, jobs
from graphglass.cluster.parts import score_part
from graphglass.errors import ClusterError
address, model, parts, output = sys.argv[1:]
def slowly(part, **options):
    time.sleep(0.5)
    return score_part(part, **options)
jobs.score_part = slowly
try:
    with connect(address) as client:
        outcomes = jobs.score_parts(client, model, [parts], output)
except ClusterError as error:
    print(error, flush=True)
    raise SystemExit(3)
print(sum(outcome.skipped for outcome in outcomes), sum(outcome.error is None for outcome in outcomes))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory, normals, mutag):
    """A model and eight parts."""
    folder = tmp_path_factory.mktemp("interruption")
    GraphGlass().fit(normals).save(folder / "model")
    (folder / "parts").mkdir()
    for i in range(PARTS):
        write_parquet(mutag[i * 20 : (i + 1) * 20].without_labels(), folder / "parts" / f"part-{i}.parquet")
    return folder


@pytest.fixture
def start():
    """Starts processes that end with the test."""
    running = []

    def begin(*command):
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "NUMBA_NUM_THREADS": "1",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
        }
        errors = subprocess.PIPE if command[0] == "-c" else subprocess.DEVNULL
        process = subprocess.Popen(
            [sys.executable, *command], env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()
        if process.stderr is not None:
            process.stderr.close()


def cluster(start, port=None):
    if port is None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    scheduler = start(
        "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"
    )
    worker = start("-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    _await(lambda: _workers(address))
    return address, scheduler, worker


def _workers(address):
    from distributed import Client

    try:
        with Client(address, timeout=2) as client:
            return len(client.scheduler_info()["workers"])
    except OSError:
        return 0


def _await(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def finished(output):
    return len(list(output.glob("part-*.parquet")))


def rows(output):
    tables = [pq.read_table(output / f"part-{i}.parquet") for i in range(PARTS)]
    ids = [name for table in tables for name in table["id"].to_pylist()]
    return ids, np.concatenate([table["score"].to_numpy() for table in tables])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("victim", ["client", "scheduler"])
def test_a_job_resumes_after_a_kill(place, mutag, tmp_path, start, victim):
    address, scheduler, _ = cluster(start)
    job = ("-c", JOB)
    arguments = (str(place / "model"), str(place / "parts"), str(tmp_path))
    client = start(*job, address, *arguments)
    _await(lambda: finished(tmp_path) >= 2)
    (client if victim == "client" else scheduler).send_signal(signal.SIGKILL)
    told, errors = client.communicate(timeout=120)  # without a scheduler the client ends by itself
    if victim == "scheduler":
        assert client.returncode == 3
        assert "What is finished is kept" in told
        assert errors == ""  # one message, and no traceback of Dask
    done = finished(tmp_path)
    assert 2 <= done < PARTS
    if victim == "scheduler":
        address, *_ = cluster(start)
    again = start(*job, address, *arguments)
    told, _ = again.communicate(timeout=180)
    skipped, succeeded = map(int, told.split())
    assert skipped >= done
    assert succeeded == PARTS
    assert finished(tmp_path) == len(list(tmp_path.iterdir())) == PARTS
    ids, scores = rows(tmp_path)
    assert ids == list(mutag.ids[: 20 * PARTS])
    assert np.allclose(
        scores, ReferenceDetector.load(place / "model").score_table(mutag[: 20 * PARTS]).scores, atol=1e-9
    )
