"""Twin nodes: nodes with the same neighbours collapse to one, and the spectrum stays exact.

False twins share their neighbours and are not joined (the leaves of a hub); true twins share them and are joined (the
members of one clique). A vector that sums to zero over a class of k twins and vanishes elsewhere is an eigenvector of
L_sym, with eigenvalue 1 for false and 1 + 1/degree for true twins: k - 1 known eigenvalues. The others are those of the
quotient, in which the class is one node of weight k.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphglass.structure.kernels.keys import empty_table, find, mix


@njit(cache=True, nogil=True, error_model="numpy")
def first_twins(
    indptr: NDArray[np.int64], neighbours: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The first twin of each node (itself where there is none before it), and whether the twins of it are joined.

    Nodes are looked up by a hash of their neighbourhood and then compared neighbour by neighbour with the first of that
    hash, so that a collision can only leave twins apart, never join strangers. Isolated nodes stay apart. A node cannot
    have twins of both kinds.
    """
    n = len(indptr) - 1
    first, joined = np.empty(n, np.int64), np.zeros(n, np.bool_)
    keys = np.empty(n, np.uint64)
    for v in range(n):
        first[v] = v
        keys[v] = np.uint64(0)
        for e in range(indptr[v], indptr[v + 1]):
            keys[v] += mix(np.uint64(neighbours[e]))
    for closed in range(2):
        table = empty_table(n)
        for v in range(n):
            if closed:
                keys[v] += mix(np.uint64(v))
            h = find(table, keys, v)
            if h != v and first[v] == v and first[h] == h and same(indptr, neighbours, h, v, closed == 1):
                first[v] = h
                joined[h] = closed == 1
    return first, joined


@njit(cache=True, nogil=True, error_model="numpy")
def same(indptr: NDArray[np.int64], neighbours: NDArray[np.int32], a: int, b: int, closed: bool) -> bool:
    """Whether sorted neighbour lists are equal, each without the other node when ``closed``."""
    i, j, stop_i, stop_j = indptr[a], indptr[b], indptr[a + 1], indptr[b + 1]
    if stop_i - i != stop_j - j or stop_i == i:
        return False
    met = not closed
    while i < stop_i or j < stop_j:
        if closed and i < stop_i and neighbours[i] == b:
            i += 1
            met = True
        elif closed and j < stop_j and neighbours[j] == a:
            j += 1
        elif i < stop_i and j < stop_j and neighbours[i] == neighbours[j]:
            i += 1
            j += 1
        else:
            return False
    return met
