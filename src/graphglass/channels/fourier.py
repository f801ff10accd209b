"""Public frequencies of random Fourier features, by which an inner product approximates a kernel."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError

# Frequencies are rounded to this grid, so two sites with other builds of the same libraries agree on
# them bit by bit.
_GRID = 2.0**20


@lru_cache(maxsize=64)
def standard_frequencies(seed: int, channel: str, dimension: int, count: int) -> NDArray[np.float64]:
    """Public frequencies of one channel at concentration 1: rows from N(0, I), (count, dimension), read-only.

    They are a function of the arguments alone, drawn from a counter-based stream whose bits are stable across NumPy
    releases. The channel enters the seed, so no two channels share frequencies.
    """
    from scipy.special import ndtri

    if dimension < 1 or count < 1:
        raise ParameterError("standard_frequencies", "dimension and count", "positive", (dimension, count))
    key = hashlib.sha256(f"graphglass/fourier/1|{seed}|{channel}|{dimension}".encode()).digest()
    stream = np.random.Philox(key=int.from_bytes(key[:16], "big"))
    bits = stream.random_raw(count * dimension).astype(np.uint64) >> np.uint64(11)
    normal = ndtri((bits.astype(np.float64) + 0.5) * 2.0**-53).reshape(count, dimension)
    normal = np.rint(normal * _GRID) / _GRID
    normal.flags.writeable = False
    return np.asarray(normal)
