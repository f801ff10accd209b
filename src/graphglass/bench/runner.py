"""Run cells that have no record yet, one after another or on a cluster, and record each as it finishes."""

from __future__ import annotations

import logging
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from graphglass.bench.cell_work import Job, Measured, Outcome, Work
from graphglass.bench.datasets import Datasets
from graphglass.bench.isolation import stream
from graphglass.bench.methods import configuration, factory
from graphglass.bench.metrics import METRIC_NAMES
from graphglass.bench.on_cluster import run_on_cluster
from graphglass.bench.records import Cell, Record, Results, cell_key
from graphglass.errors import BenchError, GlassError

__all__ = ["Job", "Outcome", "run_jobs", "versions"]

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

    A cell that fails does not stop the others; they are named together at the end.

    Parameters
    ----------
    client : distributed.Client, optional
        Cells then run on its workers, in parallel; records are the same and are written here.

    Raises
    ------
    BenchError
        If records of other data or another configuration are in the folder, or if cells failed.
    """
    settings = {method: _settings(method, jobs) for method in dict.fromkeys(job.method for job in jobs)}
    done = {method: _finished(results, method, settings[method]) for method in settings}
    known = {name: digest for record in results.records() for name, digest in record["data"].items()}
    failures, finished = [], 0

    def fail(job: Job, error: GlassError) -> None:
        failures.append(f"{_title(job)}: {error}")
        log.warning("%s failed: %s", _title(job), error)

    with _bar(progress) as bar:
        task = bar.add_task("", total=sum(len(job.cells) for job in jobs))

        def waiting() -> Iterator[Work]:
            for job in jobs:
                open_cells = [cell for cell in job.cells if cell_key(cell) not in done[job.method]]
                bar.update(task, advance=len(job.cells) - len(open_cells), description=_title(job))
                bar.refresh()
                if not open_cells:
                    continue
                try:
                    data = {name: datasets.hash(name) for name in job.datasets}
                    _check_data(known, data, results)
                except GlassError as error:
                    fail(job, error)
                    continue
                yield Work(job, open_cells, data)

        if client is None:
            measured = _one_by_one(waiting(), datasets, threads=threads, isolate=isolate)
        else:
            measured = run_on_cluster(client, waiting(), datasets, threads=threads)
        for work, value in measured:
            if isinstance(value, GlassError):
                fail(work.job, value)
                continue
            outcome, memory = value
            record = _record(results, work.job, outcome, settings[work.job.method], work.data, memory, threads)
            results.append(record)
            done[work.job.method][cell_key(outcome.cell)] = record
            finished += 1
            bar.update(task, advance=1)
            bar.refresh()
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


def _settings(method: str, jobs: Sequence[Job]) -> dict[str, Any]:
    """The settings every cell of a method shares: those of the detector and those of the benchmark."""
    shared = next(job.settings for job in jobs if job.method == method)
    return configuration(factory(method)(0)) | shared


def _beside(cell: Cell, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without what the cell itself says, such as its text encoder."""
    return {name: value for name, value in settings.items() if name not in cell}


def _finished(results: Results, method: str, settings: dict[str, Any]) -> dict[Any, Record]:
    records = results.records(method)
    for record in records:
        if record["configuration"] != (expected := _beside(record["cell"], settings)):
            raise BenchError(
                f"{results.folder}/{method}.jsonl was made with {record['configuration']}, this run has {expected}. "
                "Use another folder, or delete the file to run the method again."
            )
    return {cell_key(record["cell"]): record for record in records}


def _check_data(known: dict[str, str], data: dict[str, str], results: Results) -> None:
    """Refuse another copy of a dataset than the folder's records were made with, whatever their method."""
    for name, digest in data.items():
        if known.setdefault(name, digest) != digest:
            raise BenchError(
                f"{results.folder} has records of another copy of {name} (sha256 {known[name][:12]}, this copy "
                f"{digest[:12]}). Use another folder; results of different data are never mixed."
            )


def _record(
    results: Results,
    job: Job,
    outcome: Outcome,
    settings: dict[str, Any],
    data: dict[str, str],
    memory: float,
    threads: int,
) -> Record:
    purpose = results.purpose
    record: Record = {
        "benchmark": purpose.benchmark,
        "cell": dict(outcome.cell),
        "configuration": _beside(outcome.cell, settings),
        "counts": outcome.counts,
        "data": data,
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "flip": purpose.flip,
        "labels": outcome.labels,
        "method": job.method,
        "metrics": _rounded(outcome.metrics),
        "peak_memory_mb": round(memory, 1),
        "protocol": purpose.protocol,
        "seconds": {name: round(value, 3) for name, value in outcome.seconds.items()},
        "threads": threads,
        "versions": versions(),
    }
    if outcome.variants:
        record["variants"] = {name: _rounded(metrics) for name, metrics in outcome.variants.items()}
    return record


def _rounded(metrics: dict[str, float]) -> dict[str, float]:
    # `auroc_sd` is the deviation over noise draws, where a metric is a mean over them.
    return {name: round(metrics[name], 4) for name in (*METRIC_NAMES, "auroc_sd") if name in metrics}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that enter a result."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _bar(progress: bool) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    # auto_refresh would keep a thread alive across the forks
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, auto_refresh=False, disable=not (progress and sys.stderr.isatty()),
    )  # fmt: skip
