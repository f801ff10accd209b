"""Exact nearest neighbours on the unit sphere, the same alone and in a batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import InputError

# Similarities held at once; bounds memory at 16 MB whatever the sizes, and stays near the processor's cache.
_BLOCK = 4_000_000
# float32 products can swap neighbours whose similarities differ by rounding; a few spare candidates keep the true ones.
_SPARE = 8


def nearest(
    queries: NDArray[Any], references: NDArray[Any], k: int, *, exclude_self: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The ``k`` most similar references of each query by inner product.

    Candidates come from a blocked single-precision product; their similarities are then computed in double precision
    and sorted by (similarity, reference index), so a query's answer does not depend on its batch.

    Parameters
    ----------
    queries : (n, d), references : (m, d)
        Unit rows.
    exclude_self : bool
        The queries are the references; each leaves itself out.

    Returns
    -------
    similarities : float64 (n, min(k, available)), descending
    indices : int64, of the same shape
    """
    if queries.ndim != 2 or references.ndim != 2 or queries.shape[1] != references.shape[1]:
        raise InputError(f"Queries {queries.shape} and references {references.shape} must be rows of one dimension.")
    n, m = len(queries), len(references)
    k = min(k, m - 1 if exclude_self else m)
    if k < 1:
        return np.zeros((n, 0)), np.zeros((n, 0), np.int64)
    similarities, indices = np.empty((n, k)), np.empty((n, k), np.int64)
    single_q, single_r = queries.astype(np.float32, copy=False), references.astype(np.float32, copy=False)
    step = max(1, _BLOCK // m)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        product = single_q[rows] @ single_r.T  # (block, m)
        if exclude_self:
            product[np.arange(len(rows)), rows] = -np.inf
        width = min(k + _SPARE, m - 1 if exclude_self else m)
        found = np.argpartition(product, m - width, axis=1)[:, m - width :]
        exact = np.einsum("bd,bwd->bw", queries[rows], references[found], dtype=np.float64)
        similarities[rows], indices[rows] = closest(exact, found, k)
    return similarities, indices


def nearest_in_shards(
    queries: NDArray[Any], shards: Iterable[NDArray[Any]], k: int, *, exclude: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """:func:`nearest` over pieces of a reference set, read one at a time; the best of every piece are merged: exact.

    `exclude`, (n,), names the reference that each query leaves out, counted over all shards.
    """
    wanted = k if exclude is None else k + 1
    best = np.zeros((len(queries), 0)), np.zeros((len(queries), 0), np.int64)
    before = 0
    for shard in shards:
        values, found = nearest(queries, shard, wanted)
        best = closest(np.hstack([best[0], values]), np.hstack([best[1], found + before]), wanted)
        before += len(shard)
    return best if exclude is None else leave_out(*best, exclude, k)


def closest(
    similarities: NDArray[np.float64], indices: NDArray[np.int64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The first k of every row by (similarity, reference index)."""
    order = np.lexsort((indices, -similarities), axis=1)[:, :k]
    return np.take_along_axis(similarities, order, axis=1), np.take_along_axis(indices, order, axis=1)


def leave_out(
    similarities: NDArray[np.float64], indices: NDArray[np.int64], exclude: NDArray[np.int64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """From the k + 1 nearest of every row to the k nearest without one reference; the order stays."""
    order = np.argsort(indices == exclude[:, None], axis=1, kind="stable")[:, : min(k, max(0, indices.shape[1] - 1))]
    return np.take_along_axis(similarities, order, axis=1), np.take_along_axis(indices, order, axis=1)


def mean_angle(similarities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean angle to the neighbours found, in radians; 0 where there are none."""
    if similarities.shape[1] == 0:
        return np.zeros(len(similarities))
    return np.asarray(np.arccos(np.clip(similarities, -1.0, 1.0)).mean(axis=1))


def mean_distance(similarities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean cosine distance to the neighbours found, d_k (eq:knn_distance); 0 where there are none."""
    if similarities.shape[1] == 0:
        return np.zeros(len(similarities))
    return np.asarray(np.maximum(0.0, 1.0 - similarities).mean(axis=1))
