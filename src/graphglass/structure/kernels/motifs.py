"""Triangles and 4-cycles through each node.

Both follow from the codegree c(u, w), the number of common neighbours: a node lies on sum_w C(c(u, w), 2) 4-cycles, w
being the opposite corner, and on half the sum of c(u, w) over its neighbours w triangles. Two exact methods compute it;
small graphs take bit rows, others the cheaper one:

* ordered wedges, O(sum over edges of the smaller degree): a 4-cycle is found once, from its corner of highest degree
  rank, so a hub with a thousand leaves costs a thousand steps and not a million;
* bit rows, O(n^3 / 128): common neighbours as the population count of an AND, for small or dense graphs.

Where even the cheaper one takes more than :data:`EXACT_WORK` steps, the counts are estimates: edges are kept with
probability p by a hash of the structural keys of their ends, motifs are counted exactly among the kept edges, and
scaled by p^-3 (a triangle keeps its three edges with that probability) and p^-4. The same graph always keeps the same
edges.
"""

from __future__ import annotations

import numpy as np

from graphglass.kernel import Counts, Ends, Floats, kernel
from graphglass.structure.kernels.hashing import mix, structural_keys

EXACT_WORK = 2**31  # steps; a few seconds on one core
SMALL_WORK = 2**14  # steps that are not worth compiling another method: bit rows of 128 nodes


@kernel
def wedge_work(indptr: Counts, neighbours: Ends) -> int:
    """Sum over edges of the smaller end's degree: the steps of the ordered count, the same in any node order."""
    work = 0
    for v in range(len(indptr) - 1):
        degree = indptr[v + 1] - indptr[v]
        for e in range(indptr[v], indptr[v + 1]):
            u = neighbours[e]
            other = indptr[u + 1] - indptr[u]
            if other < degree or (other == degree and u < v):
                work += other
    return work


def ways_to_count(
    chosen: Counts, node_offsets: Counts, neighbour_offsets: Counts, neighbours: Ends, limit: int
) -> Counts:
    """How the motifs of every chosen graph are counted: by bits if it is small, else in the fewest steps.

    Returns a place in :data:`COUNTING` for every graph.
    """
    sizes = (node_offsets[chosen + 1] - node_offsets[chosen]).astype(np.float64)
    bits = sizes * sizes // 2 * ((sizes + 63) // 64)
    ways = np.ones(len(chosen), np.int64)
    large = np.flatnonzero(bits > min(SMALL_WORK, limit))
    if len(large):
        wedges = wedges_of(chosen[large], node_offsets, neighbour_offsets, neighbours)
        ways[large] = np.where(np.minimum(bits[large], wedges) > limit, ESTIMATED, bits[large] < 2 * wedges)
    return ways


@kernel
def wedges_of(chosen: Counts, node_offsets: Counts, neighbour_offsets: Counts, neighbours: Ends) -> Counts:
    """:func:`wedge_work` of every chosen graph."""
    work = np.empty(len(chosen), np.int64)
    for i in range(len(chosen)):
        first, last = node_offsets[chosen[i]], node_offsets[chosen[i] + 1]
        work[i] = wedge_work(neighbour_offsets[first : last + 1], neighbours)
    return work


@kernel
def count_by_wedges(
    chosen: Counts, node_offsets: Counts, neighbour_offsets: Counts, neighbours: Ends, limit: int, out: Floats
) -> None:
    """Write triangles and 4-cycles through each node of the chosen graphs, (nodes, 2) (eq:ltd)."""
    for g in chosen:
        first, last = node_offsets[g], node_offsets[g + 1]
        triangles, cycles = ordered_motifs(neighbour_offsets[first : last + 1], neighbours)
        for v in range(first, last):
            out[v, 0], out[v, 1] = triangles[v - first], cycles[v - first]


@kernel
def count_by_bits(
    chosen: Counts, node_offsets: Counts, neighbour_offsets: Counts, neighbours: Ends, limit: int, out: Floats
) -> None:
    """:func:`count_by_wedges`, by ANDing rows of adjacency bits."""
    for g in chosen:
        first = node_offsets[g]
        n = node_offsets[g + 1] - first
        words = (n + 63) // 64
        bits = np.zeros((n, words), np.uint64)
        for v in range(n):
            for e in range(neighbour_offsets[first + v], neighbour_offsets[first + v + 1]):
                u = neighbours[e]
                bits[v, u >> 6] |= np.uint64(1) << np.uint64(u & 63)
            triangles, cycles = np.int64(0), np.int64(0)
            for u in range(v):
                common = np.int64(0)
                for k in range(words):
                    common += _population(bits[v, k] & bits[u, k])
                pairs = common * (common - 1) // 2
                cycles += pairs
                out[first + u, 1] += pairs
                if bits[v, u >> 6] >> np.uint64(u & 63) & np.uint64(1):
                    triangles += common
                    out[first + u, 0] += common / 2
            out[first + v, 0], out[first + v, 1] = triangles / 2, cycles


@kernel
def count_by_estimate(
    chosen: Counts, node_offsets: Counts, neighbour_offsets: Counts, neighbours: Ends, limit: int, out: Floats
) -> None:
    """:func:`count_by_wedges`, estimated in about ``limit`` steps."""
    for g in chosen:
        first, last = node_offsets[g], node_offsets[g + 1]
        triangles, cycles = estimate_motifs(neighbour_offsets[first : last + 1], neighbours, limit)
        for v in range(first, last):
            out[v, 0], out[v, 1] = triangles[v - first], cycles[v - first]


# A kernel each: a set of graphs compiles those that it needs.
COUNTING = (count_by_wedges, count_by_bits, count_by_estimate)
ESTIMATED = 2


@kernel
def ordered_motifs(indptr: Counts, neighbours: Ends) -> tuple[Counts, Counts]:
    """Count by wedges whose far end has lower degree rank than the near end."""
    n = len(indptr) - 1
    node, rows, columns = by_degree(indptr, neighbours)
    triangles, cycles = np.zeros(n, np.int64), np.zeros(n, np.int64)
    paths = np.zeros(n, np.int64)
    mark = np.zeros(n, np.int64)
    for v in range(n):
        start = rows[v]
        stop = start
        while stop < rows[v + 1] and columns[stop] < v:
            mark[columns[stop]] = v + 1
            stop += 1
        closed = 0
        for e in range(start, stop):
            u = columns[e]
            for f in range(rows[u], rows[u + 1]):
                w = columns[f]
                if w >= v:
                    break
                paths[w] += 1
                if mark[w] == v + 1:
                    closed += 1
                    triangles[node[w]] += 1
        triangles[node[v]] += closed // 2  # both (u, w) and (w, u) were seen
        opposite = 0
        for e in range(start, stop):
            u = columns[e]
            through = 0
            for f in range(rows[u], rows[u + 1]):
                w = columns[f]
                if w >= v:
                    break
                through += abs(paths[w]) - 1
                if paths[w] > 0:
                    # First visit of this far end: the cycle's other two corners, v and w, are credited once.
                    pairs = paths[w] * (paths[w] - 1) // 2
                    cycles[node[w]] += pairs
                    opposite += pairs
                    paths[w] = -paths[w]
            cycles[node[u]] += through
        cycles[node[v]] += opposite
        for e in range(start, stop):
            u = columns[e]
            for f in range(rows[u], rows[u + 1]):
                w = columns[f]
                if w >= v:
                    break
                paths[w] = 0
    return triangles, cycles


@kernel
def by_degree(indptr: Counts, neighbours: Ends) -> tuple[Counts, Counts, Ends]:
    """The graph renumbered by rising degree: node of each rank, and rows of sorted neighbour ranks."""
    n = len(indptr) - 1
    starts = np.zeros(n + 1, np.int64)
    for v in range(n):
        starts[indptr[v + 1] - indptr[v] + 1] += 1
    for d in range(n):
        starts[d + 1] += starts[d]
    node, rank = np.empty(n, np.int64), np.empty(n, np.int64)
    for v in range(n):
        degree = indptr[v + 1] - indptr[v]
        rank[v] = starts[degree]
        node[rank[v]] = v
        starts[degree] += 1
    rows = np.zeros(n + 1, np.int64)
    for r in range(n):
        rows[r + 1] = rows[r] + indptr[node[r] + 1] - indptr[node[r]]
    fill = rows.copy()
    columns = np.empty(rows[n], np.int32)
    for r in range(n):  # visiting ranks in order leaves every row sorted
        v = node[r]
        for e in range(indptr[v], indptr[v + 1]):
            to = rank[neighbours[e]]
            columns[fill[to]] = r
            fill[to] += 1
    return node, rows, columns


@kernel
def _population(word: np.uint64) -> np.int64:
    """Set bits of a word; the compiler turns this into its population-count instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def estimate_motifs(indptr: Counts, neighbours: Ends, limit: int) -> tuple[Floats, Floats]:
    """Estimated triangles and 4-cycles through each node in about ``limit`` steps."""
    n = len(indptr) - 1
    share = min(np.sqrt(limit / wedge_work(indptr, neighbours)), 1.0)  # both ends' degrees and the edges shrink by p
    keys = structural_keys(indptr, neighbours)
    rows = np.zeros(n + 1, np.int64)
    kept = np.empty(indptr[n] - indptr[0], np.int32)
    at = 0
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            if mix(keys[v] + keys[neighbours[e]]) / 2.0**64 < share:
                kept[at] = neighbours[e]
                at += 1
        rows[v + 1] = at
    triangles, cycles = ordered_motifs(rows, kept)
    found, round_trips = np.empty(n), np.empty(n)
    for v in range(n):
        degree = indptr[v + 1] - indptr[v]
        found[v] = min(triangles[v] / share**3, degree * (degree - 1) / 2)  # no more than there are pairs to close
        round_trips[v] = cycles[v] / share**4
    return found, round_trips
