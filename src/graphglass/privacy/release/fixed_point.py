"""Features as integers, so that the sensitivity proof holds in the arithmetic that runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

GRID_BITS = 30


def to_grid(features: NDArray[Any], bits: int = GRID_BITS) -> NDArray[np.int64]:
    """Features in units of 2^-bits, truncated toward zero, every row with an exact integer norm of at most
    2^bits.

    A row that is not finite or longer than one becomes the zero row, without an error: the number of rows
    stays public and the sensitivity stays 2, and nobody learns from an error message that a record was odd.

    Parameters
    ----------
    features : (n, P)

    Returns
    -------
    int64 (n, P)
    """
    values = np.asarray(features, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        # The float sum is only a guard: below 1.5 the exact integer sum of squares cannot overflow.
        sane = np.isfinite(values).all(axis=1) & ((values * values).sum(axis=1) < 1.5)
    scaled = np.trunc(np.where(sane[:, None], values, 0.0) * 2.0**bits)  # exact: a power of two
    grid = scaled.astype(np.int64)
    within = (grid * grid).sum(axis=1) <= 1 << (2 * bits)
    return grid * within[:, None]
