"""The graph with its twins collapsed, as a sparse weighted matrix with the remaining eigenvalues."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphglass.structure.kernels.twins import first_twins

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@njit(cache=True, nogil=True, error_model="numpy")
def quotient(
    indptr: Counts, neighbours: NDArray[np.int32]
) -> tuple[Counts, Floats, Counts, NDArray[np.int32], Floats, Floats, Counts]:
    """Collapse the twins of one graph and leave out its isolated nodes.

    Returns
    -------
    heads : int64 (q,)
        One node of every class.
    mass : float64 (q,)
        Size times degree of every class; its square root spans the null space of a connected quotient's Laplacian.
    rows, columns, weights
        N = D^(-1/2) A D^(-1/2) on the classes in CSR form: sqrt(k_a k_b / (d_a d_b)) between joined classes of sizes k
        and degrees d, and (k - 1) / d on the diagonal of a class of true twins.
    values, counts
        The eigenvalues of L_sym that the collapse settles, and how often each occurs.
    """
    n = len(indptr) - 1
    first, joined = first_twins(indptr, neighbours)
    size, place = np.zeros(n, np.int64), np.empty(n, np.int64)
    q, ends, settled = 0, 0, 1
    for v in range(n):
        degree = indptr[v + 1] - indptr[v]
        size[first[v]] += 1
        if first[v] == v and degree > 0:
            place[v] = q
            q += 1
            ends += degree + 1
            settled += joined[v]
    heads, mass, rows = np.empty(q, np.int64), np.empty(q), np.zeros(q + 1, np.int64)
    columns, weights = np.empty(ends, np.int32), np.empty(ends)
    values, counts = np.ones(settled), np.zeros(settled, np.int64)
    at, known, i = 0, 1, 0
    for v in range(n):
        degree = indptr[v + 1] - indptr[v]
        if first[v] != v or degree == 0:
            continue
        heads[i], mass[i] = v, size[v] * degree
        if joined[v]:
            columns[at], weights[at] = i, (size[v] - 1) / degree
            at += 1
            values[known], counts[known] = 1 + 1 / degree, size[v] - 1
            known += 1
        else:
            counts[0] += size[v] - 1
        for e in range(indptr[v], indptr[v + 1]):
            u = neighbours[e]
            if first[u] == u:  # u's class is another one: twins of v do not come before v
                columns[at] = place[u]
                weights[at] = np.sqrt(size[v] * size[u] / (degree * (indptr[u + 1] - indptr[u])))
                at += 1
        i += 1
        rows[i] = at
    return heads, mass, rows, columns[:at], weights[:at], values, counts
