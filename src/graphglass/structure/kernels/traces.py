"""Traces of powers of the symmetric normalised Laplacian, without its spectrum."""

from __future__ import annotations

import numpy as np

from graphglass.structure.kernels.compiled import Counts, Ends, Floats, kernel
from graphglass.structure.kernels.motifs import by_degree, wedge_work


@kernel
def laplacian_traces(indptr: Counts, neighbours: Ends, limit: int) -> tuple[float, float, float, bool]:
    """tr L, tr L^2 and tr L^3, exactly, and whether the third is complete.

    With N = D^(-1/2) A D^(-1/2) and n' nodes that have a neighbour: tr L = n', tr L^2 = n' + tr N^2 and
    tr L^3 = n' + 3 tr N^2 - tr N^3, where tr N^2 sums 1 / (d_u d_v) over both directions of every edge and tr N^3 is
    six times the sum of 1 / (d_u d_v d_w) over triangles. Triangles are left out where listing them takes more than
    ``limit`` steps.
    """
    n = len(indptr) - 1
    complete = wedge_work(indptr, neighbours) <= limit
    _, rows, columns = by_degree(indptr, neighbours)
    mark = np.full(n, -1, np.int64)
    linked, pairs, triples = 0.0, 0.0, 0.0
    for v in range(n):
        degree = rows[v + 1] - rows[v]
        linked += degree > 0
        stop = rows[v]
        around = 0.0
        while stop < rows[v + 1] and columns[stop] < v:
            u = columns[stop]
            mark[u] = v
            around += 1.0 / (rows[u + 1] - rows[u])
            stop += 1
        pairs += 2 * around / max(degree, 1)
        if not complete:
            continue
        for e in range(rows[v], stop):
            u = columns[e]
            closed = 0.0
            for f in range(rows[u], rows[u + 1]):
                w = columns[f]
                if w >= u:
                    break
                if mark[w] == v:
                    closed += 1.0 / (rows[w + 1] - rows[w])
            triples += 6 * closed / (degree * (rows[u + 1] - rows[u]))
    return linked, linked + pairs, linked + 3 * pairs - triples, complete


@kernel
def power_sums(spectrum: Floats) -> tuple[float, float, float]:
    """The same three traces where the spectrum is known."""
    first, second, third = 0.0, 0.0, 0.0
    for value in spectrum:
        first += value
        second += value * value
        third += value * value * value
    return first, second, third
