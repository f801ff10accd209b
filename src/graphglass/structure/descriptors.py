"""The nine local topology descriptors of every node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.structure.aggregates import aggregate
from graphglass.structure.kernels.compiled import Counts, Ends, Floats, kernel
from graphglass.structure.kernels.components import component_of
from graphglass.structure.kernels.cores import core_numbers
from graphglass.structure.kernels.degrees import neighbour_degrees
from graphglass.structure.kernels.motifs import bit_work, count_motifs, estimate_motifs, wedge_work

LTD_NAMES = (
    "degree", "neighbour_degree_min", "neighbour_degree_mean", "neighbour_degree_max", "neighbour_degree_std",
    "clustering", "core", "triangles", "four_cycles",
)  # fmt: skip


@kernel
def describe_graphs(
    chosen: Counts,
    node_offsets: Counts,
    neighbour_offsets: Counts,
    neighbours: Ends,
    limit: int,
    descriptors: Floats,
    aggregates: Floats,
    estimated: NDArray[np.bool_],
) -> None:
    """Write the node descriptors (eq:ltd) and the aggregates of the chosen graphs.

    Graphs whose motifs take more than ``limit`` steps to count are marked and left to :func:`estimate_graphs`.
    """
    for g in chosen:
        first, last = node_offsets[g], node_offsets[g + 1]
        indptr = neighbour_offsets[first : last + 1]
        estimated[g] = min(bit_work(last - first), wedge_work(indptr, neighbours)) > limit
        if not estimated[g]:
            triangles, cycles = count_motifs(indptr, neighbours)
            finish(indptr, neighbours, triangles, cycles, descriptors[first:last], aggregates[g])


@kernel
def estimate_graphs(
    chosen: Counts,
    node_offsets: Counts,
    neighbour_offsets: Counts,
    neighbours: Ends,
    limit: int,
    descriptors: Floats,
    aggregates: Floats,
) -> None:
    """:func:`describe_graphs` with estimated motif counts."""
    for g in chosen:
        first, last = node_offsets[g], node_offsets[g + 1]
        indptr = neighbour_offsets[first : last + 1]
        triangles, cycles = estimate_motifs(indptr, neighbours, limit)
        finish(indptr, neighbours, triangles, cycles, descriptors[first:last], aggregates[g])


@kernel
def finish(
    indptr: Counts,
    neighbours: Ends,
    triangles: NDArray[Any],
    cycles: NDArray[Any],
    descriptors: Floats,
    aggregates: Floats,
) -> None:
    """Write all descriptors and aggregates of one graph, given its motifs."""
    neighbour_degrees(indptr, neighbours, descriptors)
    core = core_numbers(indptr, neighbours)
    for v in range(len(core)):
        pairs = descriptors[v, 0] * (descriptors[v, 0] - 1) / 2
        descriptors[v, 5] = triangles[v] / pairs if pairs > 0 else 0.0
        descriptors[v, 6] = core[v]
        descriptors[v, 7] = triangles[v]
        descriptors[v, 8] = cycles[v]
    aggregate(descriptors, component_of(indptr, neighbours)[1], aggregates)
