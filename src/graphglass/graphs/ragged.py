"""Which rows of the flat arrays belong to chosen graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """The start of each of several consecutive pieces of these lengths, and the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers of many half-open ranges, one after another."""
    places = offsets(lengths)
    return np.arange(places[-1]) + np.repeat(starts - places[:-1], lengths)


def chosen_graphs(key: object, count: int) -> NDArray[np.int64]:
    """The indices that an integer, slice, index array or boolean mask selects of ``count`` graphs."""
    if isinstance(key, int | np.integer):
        key = np.array([key])
    elif isinstance(key, slice):
        key = np.arange(count)[key]
    key = np.asarray(key)
    if key.dtype == bool:
        if key.shape != (count,):
            raise IndexError(f"a mask over {count} graphs must have that length, found shape {key.shape}")
        key = np.flatnonzero(key)
    if key.size == 0:
        key = key.astype(np.int64)
    if key.ndim != 1 or not np.issubdtype(key.dtype, np.integer):
        raise IndexError(f"graphs are selected by integers or a mask, found dtype {key.dtype}, shape {key.shape}")
    if key.size and (key.min() < -count or key.max() >= count):
        raise IndexError(f"graph indices must lie in 0..{count - 1}")
    return np.asarray(np.where(key < 0, key + count, key).astype(np.int64))
