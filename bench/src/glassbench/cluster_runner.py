"""Run the cells of a benchmark on the workers of a Dask cluster, each in a child process of its worker."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from typing import Any

from glassbench.datasets import Datasets
from glassbench.isolation import stream
from glassbench.jobs import Measured, Work
from graphglass.errors import BenchError, GlassError

# Jobs under way per worker: one runs, one waits, so that no worker idles and few are repeated if this process ends.
_AHEAD = 2


def run_on_cluster(
    client: Any, waiting: Iterator[Work], datasets: Datasets, *, threads: int
) -> Iterator[tuple[Work, Measured | BenchError]]:
    """What every cell measured, as its job finishes; a job that fails gives its error after the cells it finished.

    The workers of `client` read the datasets from their own data root; another copy than this process has is refused.
    """
    from distributed import KilledWorker, as_completed

    pending: dict[Any, Work] = {}
    running = as_completed()
    capacity = _AHEAD * max(1, len(client.scheduler_info()["workers"]))

    def launch() -> None:
        work = next(waiting, None)
        if work is not None:
            future = client.submit(_run, (work, datasets), threads, pure=False)
            pending[future] = work
            running.add(future)

    for _ in range(capacity):
        launch()
    for future in running:
        work = pending.pop(future)
        launch()
        try:
            measured, error = future.result()
        except KilledWorker as killed:
            measured, error = [], f"every worker that took it died ({killed})"
        except Exception as failure:  # whatever became of one job, the others finish
            measured, error = [], f"{type(failure).__name__}: {failure}"
        for value in measured:
            yield work, value
        if error is not None:
            yield work, BenchError(error)


def _run(task: tuple[Work, Datasets], threads: int) -> tuple[list[Measured], str | None]:
    """On a worker: the cells that finished, and why the others did not."""
    work, datasets = task
    # Dask marks workers as daemons, which may not have children; a cell's memory and crash are to be its own.
    multiprocessing.current_process().daemon = False
    measured: list[Measured] = []
    try:
        for name, expected in work.data.items():
            found = datasets.hash(name)
            if found != expected:
                raise BenchError(
                    f"the worker's copy of {name} has sha256 {found[:12]}, the client's {expected[:12]}. "
                    "Give both the same data root."
                )
        for value in stream(lambda: work.job.run(work.cells), threads=threads):
            measured.append(value)  # one by one: what came before a failure is kept
    except GlassError as error:
        return measured, str(error)
    except Exception as error:  # a result, not an exception: what was measured before comes with it
        return measured, f"{type(error).__name__}: {error}"
    return measured, None
