"""Run cells that have no record yet, one after another or on a Dask cluster, and record each as it finishes.

Every job runs in a child process, here or of a worker: its peak memory is its own, and a crash takes nothing else.
"""

from __future__ import annotations

import logging
import multiprocessing
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from glassbench.datasets import Datasets
from glassbench.fingerprint import agree, fingerprint
from glassbench.isolation import stream
from glassbench.jobs import Job, Outcome
from glassbench.methods import configuration, factory, load_libraries, named_choices
from glassbench.records import Cell, Record, Results, cell_key
from graphglass.errors import BenchError, GlassError
from graphglass.files.progress import progress_bar

_PACKAGES = ("graphglass", "numpy", "scipy", "scikit-learn", "numba", "torch")
# Jobs under way per worker: one runs, one waits. No worker idles, and few are repeated if this process ends.
_AHEAD = 2
log = logging.getLogger(__name__)


def run_jobs(
    jobs: Sequence[Job],
    results: Results,
    datasets: Datasets,
    *,
    threads: int = 1,
    isolate: bool = True,
    progress: bool = True,
    client: object = None,
) -> int:
    """Run every cell without a record; return how many were run.

    A cell that fails does not stop the others; the error at the end names all that failed. Records of other data,
    another configuration or other code in the folder are refused.

    Parameters
    ----------
    threads : int
        Threads of BLAS, numba and torch in the process of a cell.
    isolate : bool
        Run each job in its own process where the system can fork.
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

        def waiting() -> Iterator[Job]:
            for job, cells in zip(jobs, open_cells, strict=True):
                if not cells:
                    continue
                advance(0, _title(job))
                try:
                    _check_data(known, {name: datasets.hash(name) for name in job.datasets}, results)
                except GlassError as error:
                    fail(job, error)
                    continue
                yield replace(job, cells=tuple(cells))

        if client is None:
            measured = _one_by_one(waiting(), datasets, threads=threads, isolate=isolate)
        else:
            measured = _on_cluster(client, waiting(), datasets, threads=threads)
        for job, outcome in measured:
            if isinstance(outcome, GlassError):
                fail(job, outcome)
                continue
            shared = {
                "configuration": _without_cell(outcome.cell, settings[job.method]),
                "data": {name: datasets.hash(name) for name in job.datasets},
                "threads": threads,
            }
            if (code := codes[job.method]) is not None:
                shared["fingerprint"] = code
            results.append(_record(results, job.method, outcome) | shared)
            finished += 1
            advance(1, _title(job))
    if failures:
        head = f"{len(failures)} of {len(jobs)} jobs failed, {finished} cells finished."
        raise BenchError("\n  ".join([head, *failures]))
    return finished


def _one_by_one(
    waiting: Iterator[Job], datasets: Datasets, *, threads: int, isolate: bool
) -> Iterator[tuple[Job, Outcome | GlassError]]:
    for job in waiting:
        try:
            load_libraries(job.method)  # before the fork, as the data: a child finds them in memory
            for name in job.datasets:
                datasets.get(name)
            for outcome in _outcomes(job, threads, isolate=isolate):
                yield job, outcome
        except GlassError as error:
            yield job, error


def _outcomes(job: Job, threads: int, *, isolate: bool = True) -> Iterator[Outcome]:
    for outcome, memory in stream(partial(job.run, job.cells), threads=threads, isolate=isolate):
        yield replace(outcome, peak_memory_mb=memory)


def _on_cluster(
    client: Any, waiting: Iterator[Job], datasets: Datasets, *, threads: int
) -> Iterator[tuple[Job, Outcome | GlassError]]:
    """Outcomes as jobs finish on the workers of `client`; a job that fails gives its error after what it finished.

    The workers read the datasets from their own data root; another copy than this process has is refused.
    """
    from graphglass.cluster.jobs import on_workers

    tasks = ((job, datasets, {name: datasets.hash(name) for name in job.datasets}) for job in waiting)
    work = partial(_on_worker, threads=threads)
    for (job, *_), found, reason in on_workers(client, work, tasks, ahead=_AHEAD):
        outcomes, error = found or ([], reason)
        for outcome in outcomes:
            yield job, outcome
        if error is not None:
            yield job, BenchError(error)


def _on_worker(task: tuple[Job, Datasets, Mapping[str, str]], threads: int) -> tuple[list[Outcome], str | None]:
    """The cells that finished, and why the others did not."""
    job, datasets, data = task
    # Dask marks workers as daemons, which may not have children; a cell's memory and crash are to be its own.
    multiprocessing.current_process().daemon = False
    outcomes: list[Outcome] = []
    try:
        for name, expected in data.items():
            if (found := datasets.hash(name)) != expected:
                raise BenchError(
                    f"the worker's copy of {name} has sha256 {found[:12]}, the client's {expected[:12]}. "
                    "Give both the same data root."
                )
        for outcome in _outcomes(job, threads):
            outcomes.append(outcome)  # one by one: what came before a failure is kept
    except GlassError as error:
        return outcomes, str(error)
    except Exception as error:  # a result, not an exception: what was measured before comes with it
        return outcomes, f"{type(error).__name__}: {error}"
    return outcomes, None


def _title(job: Job) -> str:
    return f"{job.method} {'+'.join(job.datasets)} {'seed ' + str(job.cells[0].get('seed', '')) if job.cells else ''}"


def _without_cell(cell: Cell, settings: dict[str, object]) -> dict[str, object]:
    """The settings that the cell itself does not name, as it does its text encoder."""
    return {name: value for name, value in settings.items() if name not in cell}


def _finished(results: Results, method: str, settings: dict[str, object], code: str | None) -> set[object]:
    """The cells that have a record; records of other settings or code are refused."""
    records = results.records(method)
    path = f"{results.folder}/{method}.jsonl"
    for record in records:
        expected = named_choices(_without_cell(record["cell"], settings))
        if named_choices(record["configuration"]) != expected:
            raise BenchError(
                f"{path} was made with {record['configuration']}, this run has {expected}. "
                "Use another folder, or delete the file to run the method again."
            )
        found = record.get("fingerprint")
        if found is not None and code is not None and not agree(found, code):
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


def _record(results: Results, method: str, outcome: Outcome) -> Record:
    purpose = results.purpose
    record: Record = {
        "benchmark": purpose.benchmark,
        "cell": dict(outcome.cell),
        "counts": outcome.counts,
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "flip": purpose.flip,
        "labels": outcome.labels,
        "method": method,
        "metrics": _rounded(outcome.metrics),
        "peak_memory_mb": round(outcome.peak_memory_mb, 1),
        "protocol": purpose.protocol,
        "seconds": {name: round(value, 3) for name, value in outcome.seconds.items()},
        "versions": versions(),
    }
    if outcome.variants:
        record["variants"] = {name: _rounded(metrics) for name, metrics in outcome.variants.items()}
    return record


def _rounded(metrics: dict[str, float]) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in metrics.items()}


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
