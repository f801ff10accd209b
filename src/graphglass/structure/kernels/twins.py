"""The graph with its twins collapsed, as a sparse weighted matrix; the spectrum stays exact.

False twins share their neighbours and are not joined (the leaves of a hub); true twins share them and are joined (the
members of one clique). A vector that sums to zero over a class of k twins and vanishes elsewhere is an eigenvector of
L_sym, with eigenvalue 1 for false and 1 + 1/degree for true twins: k - 1 known eigenvalues. The others are those of the
quotient, in which the class is one node of weight k.
"""

from __future__ import annotations

import numpy as np

from graphglass.kernel import Counts, Ends, Floats, kernel
from graphglass.structure.kernels.hashing import empty_table, find, mix


@kernel
def quotient(indptr: Counts, neighbours: Ends) -> tuple[Counts, Floats, Counts, Ends, Floats, Floats, Counts]:
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
        The eigenvalues of L_sym known from the twins, and how often each occurs.
    """
    n = len(indptr) - 1
    first, joined = first_twins(indptr, neighbours)
    size, place = np.zeros(n, np.int64), np.empty(n, np.int64)
    q, ends, known_values = 0, 0, 1
    for v in range(n):
        degree = indptr[v + 1] - indptr[v]
        size[first[v]] += 1
        if first[v] == v and degree > 0:
            place[v] = q
            q += 1
            ends += degree + 1
            known_values += joined[v]
    heads, mass, rows = np.empty(q, np.int64), np.empty(q), np.zeros(q + 1, np.int64)
    columns, weights = np.empty(ends, np.int32), np.empty(ends)
    values, counts = np.empty(known_values), np.zeros(known_values, np.int64)
    values[0] = 1.0
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


@kernel
def first_twins(indptr: Counts, neighbours: Ends) -> tuple[Counts, Counts]:
    """The first twin of each node (itself where there is none before it), and 1 where the twins of it are joined.

    Nodes are looked up by a hash of their neighbourhood and then compared neighbour by neighbour with the first of that
    hash, so a collision can only leave twins separate, never join nodes that differ. Isolated nodes stay separate.
    A node cannot have twins of both kinds.
    """
    n = len(indptr) - 1
    first, joined = np.empty(n, np.int64), np.zeros(n, np.int64)
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
                joined[h] = closed
    return first, joined


@kernel
def same(indptr: Counts, neighbours: Ends, a: int, b: int, closed: bool) -> bool:
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
