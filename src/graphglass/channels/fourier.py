"""Random Fourier features: a kernel on the sphere as an inner product of unit vectors."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def paired_features(rows: ArrayLike, frequencies: ArrayLike) -> NDArray[np.float64]:
    r"""Cosine and sine of every frequency, scaled to unit norm (eq:dp_rff).

    :math:`\phi(u) = M^{-1/2} [\cos(\omega_1^\top u), \ldots, \cos(\omega_M^\top u), \sin(\omega_1^\top u),
    \ldots]`. Because both halves of each pair are kept, the norm is one for every input, and with
    :math:`\omega \sim N(0, \kappa I)` the expected inner product of two features is :math:`\exp(-\kappa \|u
    - r\|^2 / 2)` (eq:dp_sphere_kernel). A row that is not finite gives a row that is not finite.

    Shapes: rows (n, dimension), frequencies (M, dimension) -> (n, 2 M).
    """
    frequencies = np.asarray(frequencies, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        angles = np.asarray(rows, np.float64) @ frequencies.T  # (n, M)
        return np.asarray(np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(len(frequencies)))
