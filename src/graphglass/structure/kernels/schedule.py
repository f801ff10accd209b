"""Spread graphs over threads in portions of similar cost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
from numba import config
from numpy.typing import NDArray

PORTIONS_PER_THREAD = 32
CHEAP = 1e6  # steps that are not worth a second thread


def run(work: Callable[[NDArray[np.int64]], None], costs: NDArray[np.float64], *, progress: bool = False) -> None:
    """Call ``work`` on index arrays that together hold every graph once, several at a time.

    ``work`` releases the interpreter lock; the most expensive portions go first, so that none is left over at the end.
    Threads of the interpreter, unlike numba's, may be started from several callers at once. Their number is numba's
    (``NUMBA_NUM_THREADS``).
    """
    threads = int(config.NUMBA_NUM_THREADS)
    portions = split(costs, threads * PORTIONS_PER_THREAD)
    if (threads == 1 or costs.sum() < CHEAP) and not progress:
        for portion in portions:
            work(portion)
        return
    with ThreadPoolExecutor(threads) as pool:
        jobs = {pool.submit(work, portion): len(portion) for portion in portions}
        if not progress:
            for job in as_completed(jobs):
                job.result()
            return
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("structure", total=len(costs))
            for job in as_completed(jobs):
                job.result()
                bar.advance(task, jobs[job])


def split(costs: NDArray[np.float64], portions: int) -> list[NDArray[np.int64]]:
    """Indices by falling cost, cut into at most about ``portions`` runs of similar total cost."""
    if not len(costs):
        return []
    order = np.argsort(-costs, kind="stable").astype(np.int64)
    share = costs.sum() / portions
    reached = np.floor(np.cumsum(costs[order]) / max(share, 1e-300)).astype(np.int64)
    return np.split(order, np.flatnonzero(np.diff(reached)) + 1)
