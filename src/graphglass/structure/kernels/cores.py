"""Core numbers: how deep a node sits in the densest part of its graph."""

from __future__ import annotations

import numpy as np

from graphglass.structure.kernels.compiled import Counts, Ends, kernel


@kernel
def core_numbers(indptr: Counts, neighbours: Ends) -> Counts:
    """Largest k such that the node belongs to a subgraph of minimum degree k (eq:ltd), in O(nodes + edges).

    Nodes are peeled in order of remaining degree; a bucket sort keeps that order current while degrees fall.
    """
    n = len(indptr) - 1
    core = np.empty(n, np.int64)
    highest = 0
    for v in range(n):
        core[v] = indptr[v + 1] - indptr[v]
        highest = max(highest, core[v])
    starts = np.zeros(highest + 2, np.int64)
    for v in range(n):
        starts[core[v] + 1] += 1
    for d in range(highest + 1):
        starts[d + 1] += starts[d]
    place = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    fill = starts.copy()
    for v in range(n):
        place[v] = fill[core[v]]
        queue[place[v]] = v
        fill[core[v]] += 1
    for i in range(n):
        v = queue[i]
        for e in range(indptr[v], indptr[v + 1]):
            u = neighbours[e]
            if core[u] > core[v]:
                # Swap u with the first node of its bucket, then move the bucket's border past it.
                head = starts[core[u]]
                w = queue[head]
                if w != u:
                    queue[head], queue[place[u]] = u, w
                    place[w], place[u] = place[u], head
                starts[core[u]] += 1
                core[u] -= 1
    return core
