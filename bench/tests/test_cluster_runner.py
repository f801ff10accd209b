"""The benchmark's cells on a real cluster of two worker processes."""

import os
import signal
import threading
import time

import pytest
from typer.testing import CliRunner

from glassbench.cli import app
from glassbench.datasets import Datasets
from glassbench.jobs import Job, Outcome
from glassbench.records import Purpose, Results
from glassbench.runner import run_jobs
from graphglass.cluster import connect
from graphglass.errors import BenchError, ClusterError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

SINGLE = ["single", "--datasets", "MUTAG", "--methods", "size-knn,structure-knn"]


@pytest.fixture(scope="module")
def client():
    with connect("local", 2) as connected:
        yield connected


def content(folder):
    """Every record without what depends on when and where it was measured, in an order of its own."""
    vary = {"finished", "peak_memory_mb", "seconds"}
    records = [{k: v for k, v in record.items() if k not in vary} for record in Results.open(folder).records()]
    return sorted(records, key=lambda record: (record["method"], record["cell"]["seed"]))


def jobs(run, count):
    return [Job("size-knn", ({"dataset": "MUTAG", "seed": seed},), ("MUTAG",), run) for seed in range(count)]


def test_records_equal_those_of_a_serial_run_and_finished_cells_stay(tmp_path):
    call = CliRunner().invoke
    assert call(app, [*SINGLE, "--seeds", "3", "-o", str(tmp_path / "serial")]).exit_code == 0
    assert call(app, [*SINGLE, "--seeds", "1", "-o", str(tmp_path / "parallel")]).exit_code == 0
    lines = {path.name: path.read_text() for path in (tmp_path / "parallel").glob("*.jsonl")}
    cluster = ["--cluster", "local", "--workers", "2"]
    result = call(app, [*SINGLE, "--seeds", "3", "-o", str(tmp_path / "parallel"), *cluster], catch_exceptions=False)
    assert result.exit_code == 0
    assert "4 cells run, 2 already recorded" in result.output
    assert content(tmp_path / "parallel") == content(tmp_path / "serial")
    for name, old in lines.items():
        assert (tmp_path / "parallel" / name).read_text().startswith(old)


def test_a_failed_cell_and_a_dead_process_are_named_and_the_rest_finishes(client, tmp_path):
    def run(cells):
        if cells[0]["seed"] == 1:
            raise ValueError("seed one is unlucky")
        if cells[0]["seed"] == 2:
            os._exit(9)
        yield Outcome(cells[0], {"auroc": 50.0}, {"fit": 0.0}, {}, {}, {"worker": {"pid": float(os.getppid())}})

    results = Results.create(tmp_path, Purpose("single", "minority"))
    with pytest.raises(BenchError, match="2 of 6 jobs failed, 4 cells finished") as error:
        run_jobs(jobs(run, 6), results, Datasets(), progress=False, client=client)
    assert "seed 1: ValueError: seed one is unlucky" in str(error.value)
    assert "seed 2: The process of this cell died (exit code 9" in str(error.value)
    assert sorted(record["cell"]["seed"] for record in results.records()) == [0, 3, 4, 5]


def test_any_failure_of_one_job_leaves_the_others(client, tmp_path):
    def run(cells):
        yield Outcome(cells[0], {"auroc": 50.0}, {"fit": 0.0}, {}, {})

    class Unreadable:
        def __reduce__(self):
            return int, ("a job no worker can unpack",)

    class Unlucky(Datasets):
        def hash(self, name):
            if name == "unlucky" and os.getpid() != here:
                raise ZeroDivisionError("an unlucky worker")
            return "0" * 64

    here = os.getpid()
    sound = jobs(run, 4)
    bad = [
        Job("size-knn", ({"dataset": "MUTAG", "seed": 4},), ("MUTAG",), Unreadable()),
        Job("size-knn", ({"dataset": "MUTAG", "seed": 5},), ("unlucky",), run),
    ]
    results = Results.create(tmp_path, Purpose("single", "minority"))
    with pytest.raises(BenchError, match="2 of 6 jobs failed, 4 cells finished") as error:
        run_jobs([*bad, *sound], results, Unlucky(), progress=False, client=client)
    assert "seed 5: ZeroDivisionError: an unlucky worker" in str(error.value)
    assert sorted(record["cell"]["seed"] for record in results.records()) == [0, 1, 2, 3]


def test_a_killed_worker_loses_and_duplicates_no_cell(client, tmp_path):
    started = tmp_path / "started"
    started.mkdir()

    def run(cells):
        (started / f"{cells[0]['seed']}-{os.getppid()}").touch()
        time.sleep(0.3)
        yield Outcome(cells[0], {"auroc": 50.0}, {"fit": 0.0}, {}, {})

    def kill_a_busy_worker():
        while not any(started.iterdir()):
            time.sleep(0.01)
        os.kill(int(next(started.iterdir()).name.split("-")[1]), signal.SIGKILL)

    killer = threading.Thread(target=kill_a_busy_worker)
    killer.start()
    results = Results.create(tmp_path / "results", Purpose("single", "minority"))
    assert run_jobs(jobs(run, 6), results, Datasets(), progress=False, client=client) == 6
    killer.join()
    assert sorted(record["cell"]["seed"] for record in results.records()) == list(range(6))
    assert len(list(started.iterdir())) > 6  # the killed worker's cell was begun twice


def test_a_worker_with_other_data_is_refused(client, tmp_path):
    def run(cells):
        yield Outcome(cells[0], {"auroc": 50.0}, {"fit": 0.0}, {}, {})

    class Altered(Datasets):
        def hash(self, name):
            return "0" * 64 if os.getpid() == here else super().hash(name)

    here = os.getpid()
    results = Results.create(tmp_path, Purpose("single", "minority"))
    with pytest.raises(BenchError, match=r"the worker's copy of MUTAG has sha256 .* the client's 000000000000"):
        run_jobs(jobs(run, 1), results, Altered(), progress=False, client=client)
    assert not results.records()


def test_an_unreachable_scheduler_leaves_no_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("graphglass.cluster.connection._SECONDS", 1)
    with pytest.raises(ClusterError, match="No scheduler answers"):
        CliRunner().invoke(
            app, [*SINGLE, "-o", str(tmp_path / "out"), "--cluster", "tcp://127.0.0.1:1"], catch_exceptions=False
        )
    assert not (tmp_path / "out").exists()
