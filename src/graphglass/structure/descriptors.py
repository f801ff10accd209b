"""The nine local topology descriptors of every node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.kernel import Counts, Ends, Floats, kernel
from graphglass.structure.aggregates import aggregate
from graphglass.structure.kernels.motifs import COUNTING, ESTIMATED, ways_to_count
from graphglass.structure.kernels.spectrum import component_of

LTD_NAMES = (
    "degree", "neighbour_degree_min", "neighbour_degree_mean", "neighbour_degree_max", "neighbour_degree_std",
    "clustering", "core", "triangles", "four_cycles",
)  # fmt: skip
MOTIFS = LTD_NAMES.index("triangles")  # and four_cycles


def describe(
    chosen: Counts, flat: tuple[Counts, Counts, Ends], limit: int, descriptors: Floats, aggregates: Floats
) -> NDArray[np.int64]:
    """Write the node descriptors (eq:ltd) and the aggregates of the chosen graphs.

    Returns those whose motifs take more than ``limit`` steps to count, and were estimated.
    """
    ways = ways_to_count(chosen, *flat, limit)
    for way, count in enumerate(COUNTING):
        some = chosen[ways == way]
        if len(some):
            count(some, *flat, limit, descriptors[:, MOTIFS:])
    describe_graphs(chosen, *flat, descriptors, aggregates)
    return np.asarray(chosen[ways == ESTIMATED])


@kernel
def describe_graphs(
    chosen: Counts,
    node_offsets: Counts,
    neighbour_offsets: Counts,
    neighbours: Ends,
    descriptors: Floats,
    aggregates: Floats,
) -> None:
    """Write all descriptors and aggregates of the chosen graphs, given their motifs."""
    for g in chosen:
        first, last = node_offsets[g], node_offsets[g + 1]
        indptr, rows = neighbour_offsets[first : last + 1], descriptors[first:last]
        neighbour_degrees(indptr, neighbours, rows)
        core = core_numbers(indptr, neighbours)
        for v in range(last - first):
            pairs = rows[v, 0] * (rows[v, 0] - 1) / 2
            rows[v, 5] = rows[v, MOTIFS] / pairs if pairs > 0 else 0.0
            rows[v, 6] = core[v]
        aggregate(rows, component_of(indptr, neighbours)[1], aggregates[g])


@kernel
def neighbour_degrees(indptr: Counts, neighbours: Ends, out: Floats) -> None:
    """Write degree and neighbour-degree minimum, mean, maximum and population deviation into columns 0 to 4 (eq:ltd).

    Sums run over integers, so the result is the same bit for bit in any node order. An isolated node has zeros.
    """
    for v in range(len(indptr) - 1):
        degree = indptr[v + 1] - indptr[v]
        out[v, 0] = degree
        if degree == 0:
            out[v, 1:5] = 0.0
            continue
        total, squares, low, high = np.int64(0), np.int64(0), np.int64(2**62), np.int64(0)
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
def _variance(count: int, total: np.int64, squares: np.int64) -> float:
    """The population variance of `count` integers, from their sum and the sum of their squares."""
    if float(count) * squares < 2.0**62:
        return (count * squares - total * total) / (count * count)
    # The products above would overflow at hubs joined to hubs. Sums around the floor of the mean stay below `squares`
    # and are exact, so the result depends on no order here either, and what is subtracted is below 1.
    floor = total // count
    rest = total - count * floor
    around = squares - floor * total - floor * rest
    return around / count - (rest / count) ** 2


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
