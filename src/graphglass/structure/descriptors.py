"""The nine local topology descriptors of every node."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphglass.structure.aggregates import aggregate
from graphglass.structure.components import component_of
from graphglass.structure.cores import core_numbers
from graphglass.structure.degrees import neighbour_degrees
from graphglass.structure.motifs import count_motifs

LTD_NAMES = (
    "degree", "neighbour_degree_min", "neighbour_degree_mean", "neighbour_degree_max", "neighbour_degree_std",
    "clustering", "core", "triangles", "four_cycles",
)  # fmt: skip


@njit(cache=True, nogil=True)
def describe_graphs(
    chosen: NDArray[np.int64],
    node_offsets: NDArray[np.int64],
    neighbour_offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    descriptors: NDArray[np.float64],
    aggregates: NDArray[np.float64],
) -> None:
    """Write the node descriptors (eq:ltd) and the aggregates of the chosen graphs."""
    for g in chosen:
        first, last = node_offsets[g], node_offsets[g + 1]
        indptr = neighbour_offsets[first : last + 1]
        out = descriptors[first:last]
        neighbour_degrees(indptr, neighbours, out)
        triangles, cycles = count_motifs(indptr, neighbours)
        core = core_numbers(indptr, neighbours)
        for v in range(last - first):
            pairs = out[v, 0] * (out[v, 0] - 1) / 2
            out[v, 5] = triangles[v] / pairs if pairs > 0 else 0.0
            out[v, 6] = core[v]
            out[v, 7] = triangles[v]
            out[v, 8] = cycles[v]
        aggregate(out, component_of(indptr, neighbours)[1], aggregates[g])
