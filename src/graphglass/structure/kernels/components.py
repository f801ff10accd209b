"""Connected components."""

from __future__ import annotations

import numpy as np

from graphglass.structure.kernels.compiled import Counts, Ends, kernel


@kernel
def component_of(indptr: Counts, neighbours: Ends) -> tuple[Counts, int]:
    """Component number of each node, counted from 0 in order of first node, and how many there are."""
    n = len(indptr) - 1
    component = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    count = 0
    for root in range(n):
        if component[root] >= 0:
            continue
        component[root] = count
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(indptr[v], indptr[v + 1]):
                u = neighbours[e]
                if component[u] < 0:
                    component[u] = count
                    queue[tail] = u
                    tail += 1
        count += 1
    return component, count
