"""Unit rows and their Matryoshka prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import InputError


def normalise(rows: NDArray[Any]) -> NDArray[Any]:
    """Scale every row to unit length; a zero row becomes the first axis, so each row lies on the sphere."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    zero = norms[:, 0] == 0
    unit = rows / np.where(norms == 0, 1, norms)
    if zero.any():
        unit[zero] = 0
        unit[zero, 0] = 1
    return unit


def prefix_slice(rows: NDArray[Any], dimension: int) -> NDArray[np.float32]:
    """The first ``dimension`` coordinates, re-normalised (eq:textslice)."""
    if not 1 <= dimension <= rows.shape[1]:
        raise InputError(
            f"A slice of {dimension} dimensions does not exist in rows of {rows.shape[1]}; choose at most that many."
        )
    return normalise(rows[:, :dimension]).astype(np.float32, copy=False)


def available_slices(wanted: Sequence[int], dimension: int) -> tuple[int, ...]:
    """The wanted slice sizes an encoder of this dimension has; its full dimension replaces the larger ones."""
    return tuple(sorted({min(size, dimension) for size in wanted}))
