"""Spread graphs over threads in portions of similar cost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
from numba import config

from graphglass.storage.progress import progress_bar
from graphglass.structure.kernels.compiled import Counts, Floats

PORTIONS_PER_THREAD = 32
CHEAP = 1e6  # steps that are not worth a second thread


def run(work: Callable[[Counts], None], costs: Floats, *, progress: bool = False) -> None:
    """Call ``work`` on index arrays that together hold every graph once, several at a time.

    ``work`` releases the interpreter lock; the most expensive portions go first, so that none is left over at the end.
    Threads of the interpreter, unlike numba's, may be started from several callers at once. Their number is numba's
    (``NUMBA_NUM_THREADS``).
    """
    threads = int(config.NUMBA_NUM_THREADS)
    portions = split(costs, threads * PORTIONS_PER_THREAD)
    with progress_bar("Measuring structure", len(costs), show=progress) as advance:
        if threads == 1 or costs.sum() < CHEAP:
            for portion in portions:
                work(portion)
                advance(len(portion))
            return
        with ThreadPoolExecutor(threads) as pool:
            jobs = {pool.submit(work, portion): len(portion) for portion in portions}
            for job in as_completed(jobs):
                job.result()
                advance(jobs[job])


def split(costs: Floats, portions: int) -> list[Counts]:
    """Indices by falling cost, cut into at most about ``portions`` runs of similar total cost."""
    if not len(costs):
        return []
    order = np.argsort(-costs, kind="stable").astype(np.int64)
    share = costs.sum() / portions
    reached = np.floor(np.cumsum(costs[order]) / max(share, 1e-300)).astype(np.int64)
    return np.split(order, np.flatnonzero(np.diff(reached)) + 1)
