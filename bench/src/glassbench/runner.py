"""Run cells that have no record yet, one after another or on a cluster, and record each as it finishes."""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from glassbench.cluster_runner import run_on_cluster
from glassbench.datasets import Datasets
from glassbench.fingerprint import agree, fingerprint
from glassbench.isolation import stream
from glassbench.jobs import Job, Measured, Outcome, Work
from glassbench.methods import configuration, factory
from glassbench.metrics import METRIC_NAMES
from glassbench.records import Cell, Record, Results, cell_key
from graphglass.errors import BenchError, GlassError
from graphglass.files.progress import progress_bar

_PACKAGES = ("graphglass", "numpy", "scipy", "scikit-learn", "numba", "torch")
log = logging.getLogger(__name__)


def run_jobs(
    jobs: Sequence[Job],
    results: Results,
    datasets: Datasets,
    *,
    threads: int = 1,
    isolate: bool = True,
    progress: bool = True,
    client: Any = None,
) -> int:
    """Run every cell without a record; return how many were run.

    A cell that fails does not stop the others; the error at the end names all that failed. Records of other data,
    another configuration or other code in the folder are refused.

    Parameters
    ----------
    threads : int
        Threads of BLAS, numba and torch in the process of a cell.
    isolate : bool
        Run each job in a process of its own where the system can fork.
    progress : bool
        Report on standard error.
    client : distributed.Client, optional
        Cells then run on its workers, in parallel; records are the same and are written here.
    """
    # What every record of a method shares: the settings of detector and benchmark, and the code's fingerprint.
    settings = {job.method: configuration(factory(job.method)(0)) | job.settings for job in reversed(jobs)}
    codes = {method: fingerprint(method) for method in settings}
    done = {method: _finished(results, method, settings[method], codes[method]) for method in settings}
    open_cells = [[cell for cell in job.cells if cell_key(cell) not in done[job.method]] for job in jobs]
    known = {name: digest for record in results.records() for name, digest in record["data"].items()}
    total, waiting_cells = sum(len(job.cells) for job in jobs), sum(map(len, open_cells))
    failures, finished = [], 0

    def fail(job: Job, error: GlassError) -> None:
        failures.append(f"{_title(job)}: {error}")
        log.warning("%s failed: %s", _title(job), error)

    label = f"Running {results.purpose.benchmark}"
    with progress_bar(label, total, show=progress, completed=total - waiting_cells) as advance:

        def waiting() -> Iterator[Work]:
            for job, cells in zip(jobs, open_cells, strict=True):
                if not cells:
                    continue
                advance(0, _title(job))
                try:
                    data = {name: datasets.hash(name) for name in job.datasets}
                    _check_data(known, data, results)
                except GlassError as error:
                    fail(job, error)
                    continue
                yield Work(job, cells, data)

        if client is None:
            measured = _one_by_one(waiting(), datasets, threads=threads, isolate=isolate)
        else:
            measured = run_on_cluster(client, waiting(), datasets, threads=threads)
        for work, value in measured:
            if isinstance(value, GlassError):
                fail(work.job, value)
                continue
            outcome, memory = value
            shared = {
                "configuration": _without_cell(outcome.cell, settings[work.job.method]),
                "fingerprint": codes[work.job.method],
                "threads": threads,
            }
            results.append(_record(results, work, outcome, memory) | shared)
            finished += 1
            advance(1, _title(work.job))
    if failures:
        head = f"{len(failures)} of {len(jobs)} jobs failed, {finished} cells finished."
        raise BenchError("\n  ".join([head, *failures]))
    return finished


def _one_by_one(
    waiting: Iterator[Work], datasets: Datasets, *, threads: int, isolate: bool
) -> Iterator[tuple[Work, Measured | GlassError]]:
    for work in waiting:
        try:
            for name in work.job.datasets:  # read before the fork, so that a child finds them in memory
                datasets.get(name)
            for value in stream(partial(work.job.run, work.cells), threads=threads, isolate=isolate):
                yield work, value
        except GlassError as error:
            yield work, error


def _title(job: Job) -> str:
    return f"{job.method} {'+'.join(job.datasets)} {'seed ' + str(job.cells[0].get('seed', '')) if job.cells else ''}"


def _without_cell(cell: Cell, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that the cell itself does not name, as it does its text encoder."""
    return {name: value for name, value in settings.items() if name not in cell}


def _finished(results: Results, method: str, settings: dict[str, Any], code: str) -> set[Any]:
    """The cells that have a record; records of other settings or code are refused."""
    records = results.records(method)
    path = f"{results.folder}/{method}.jsonl"
    for record in records:
        if record["configuration"] != (expected := _without_cell(record["cell"], settings)):
            raise BenchError(
                f"{path} was made with {record['configuration']}, this run has {expected}. "
                "Use another folder, or delete the file to run the method again."
            )
        if (found := record.get("fingerprint")) is not None and not agree(found, code):
            raise BenchError(
                f"{path} was made by code that scores differently (fingerprint {found[:16]}, now {code[:16]}). "
                "Use another folder, or delete the file to run the method again."
            )
    return {cell_key(record["cell"]) for record in records}


def _check_data(known: dict[str, str], data: dict[str, str], results: Results) -> None:
    """Refuse another copy of a dataset than the folder's records were made with, whatever their method."""
    for name, digest in data.items():
        if known.setdefault(name, digest) != digest:
            raise BenchError(
                f"{results.folder} has records of another copy of {name} (sha256 {known[name][:12]}, this copy "
                f"{digest[:12]}). Use another folder; results of different data are never mixed."
            )


def _record(results: Results, work: Work, outcome: Outcome, memory: float) -> Record:
    purpose = results.purpose
    record: Record = {
        "benchmark": purpose.benchmark,
        "cell": dict(outcome.cell),
        "counts": outcome.counts,
        "data": work.data,
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "flip": purpose.flip,
        "labels": outcome.labels,
        "method": work.job.method,
        "metrics": _rounded(outcome.metrics),
        "peak_memory_mb": round(memory, 1),
        "protocol": purpose.protocol,
        "seconds": {name: round(value, 3) for name, value in outcome.seconds.items()},
        "versions": versions(),
    }
    if outcome.variants:
        record["variants"] = {name: _rounded(metrics) for name, metrics in outcome.variants.items()}
    return record


def _rounded(metrics: dict[str, float]) -> dict[str, float]:
    # `auroc_sd` is the deviation over noise draws, where a metric is a mean over them.
    return {name: round(metrics[name], 4) for name in (*METRIC_NAMES, "auroc_sd") if name in metrics}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that affect a result, and the processor, which decides its rounding."""
    found = {"python": platform.python_version(), "processor": processor()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The model of this machine's processor."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(errors="replace").splitlines() if facts.is_file() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()
