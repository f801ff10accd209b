"""How kernels are compiled, and the array types they take."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Ends = NDArray[np.int32]

kernel = njit(cache=True, nogil=True, error_model="numpy")
"""Compile without the interpreter lock and keep the machine code beside the source."""


def announce_compilation(function: Any, *, show: bool) -> None:
    """Print one line to standard error if ``show`` and ``function`` has never been compiled on this machine."""
    place = Path(function.stats.cache_path)
    if show and not any(place.glob(f"*.{function.py_func.__name__}-*.nbi")):
        print("Compiling kernels (once, about 20 s) ...", file=sys.stderr, flush=True)  # noqa: T201
