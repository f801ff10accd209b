"""Degrees of nodes and of their neighbours."""

from __future__ import annotations

import numpy as np

from graphglass.structure.kernels.compiled import Counts, Ends, Floats, kernel


@kernel
def neighbour_degrees(indptr: Counts, neighbours: Ends, out: Floats) -> None:
    """Write degree and neighbour-degree minimum, mean, maximum and deviation of one graph: first half of eq:ltd.

    The deviation is the population one. Sums run over integers, so the result is the same bit for bit in any node
    order. An isolated node has zeros.

    Parameters
    ----------
    indptr : int64 (n + 1,)
        Where each node's neighbours start in ``neighbours``; need not begin at 0.
    neighbours : int32
        Neighbour indices local to the graph.
    out : float64 (n, at least 5)
        Columns 0 to 4 are written.
    """
    for v in range(len(indptr) - 1):
        degree = indptr[v + 1] - indptr[v]
        out[v, 0] = degree
        if degree == 0:
            for k in range(1, 5):
                out[v, k] = 0.0
            continue
        total, squares, low, high = 0, 0, np.int64(2**62), np.int64(0)
        for e in range(indptr[v], indptr[v + 1]):
            u = neighbours[e]
            d = indptr[u + 1] - indptr[u]
            total += d
            squares += d * d
            low, high = min(low, d), max(high, d)
        out[v, 1] = low
        out[v, 2] = total / degree
        out[v, 3] = high
        out[v, 4] = np.sqrt(_variance(degree, total, squares)) if high > low else 0.0


@kernel
def _variance(count: int, total: int, squares: int) -> float:
    """The population variance of `count` integers, from their sum and the sum of their squares."""
    if float(count) * squares < 2.0**62:
        return (count * squares - total * total) / (count * count)
    # The products above would overflow at hubs joined to hubs. Sums around the floor of the mean stay below `squares`
    # and are exact, so that the result depends on no order here either, and what is subtracted is below 1.
    floor = total // count
    rest = total - count * floor
    around = squares - floor * total - floor * rest
    return around / count - (rest / count) ** 2
