"""Estimates of triangles and 4-cycles for graphs too large or dense to count exactly.

Edges are kept with probability p by a hash of the structural keys of their ends, motifs are counted exactly among the
kept edges, and scaled by p^-3 and p^-4: each triangle keeps its three edges with probability p^3, each 4-cycle its four
with p^4. The same graph always keeps the same edges.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphglass.structure.kernels.keys import mix, structural_keys
from graphglass.structure.kernels.motifs import ordered_motifs, wedge_work

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True, error_model="numpy")
def estimate_motifs(indptr: NDArray[np.int64], neighbours: NDArray[np.int32], limit: int) -> tuple[Floats, Floats]:
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
