"""How kernels are compiled and spread over threads, and the array types they take."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit
from numpy.typing import NDArray

from graphglass.files.progress import progress_bar

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Ends = NDArray[np.int32]
PORTIONS_PER_THREAD = 32
CHEAP = 1e6  # steps that are not worth a second thread

kernel = njit(cache=True, nogil=True, error_model="numpy")
"""Compile without the interpreter lock and keep the machine code beside the source."""


def announce_compilation(function: Any, *, show: bool) -> None:
    """Print one line to standard error if ``show`` and ``function`` has never been compiled on this machine."""
    place = Path(function.stats.cache_path)
    if show and not any(place.glob(f"*.{function.py_func.__name__}-*.nbi")):
        print("Compiling kernels (once, about 20 s) ...", file=sys.stderr, flush=True)  # noqa: T201


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
