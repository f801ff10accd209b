"""Graph-level numbers gathered from the node descriptors."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

AGGREGATE_NAMES = (
    "nodes", "edges", "density", "components",
    "degree_mean", "degree_std", "degree_entropy", "degree_q25", "degree_q50", "degree_q75",
    "clustering_mean", "clustering_std", "transitivity",
    "triangles", "four_cycles", "motif_density", "core_max",
)  # fmt: skip


@njit(cache=True, nogil=True)
def aggregate(descriptors: NDArray[np.float64], components: int, out: NDArray[np.float64]) -> None:
    """Write the 17 aggregates of one graph in the order of :data:`AGGREGATE_NAMES`.

    Values are sorted before they are summed, so that the result is the same bit for bit in any node order.

    * density: edges over possible edges, 0 for a single node
    * degree_entropy: Shannon entropy in nats of the degree histogram
    * quantiles: linear interpolation between order statistics
    * transitivity: share of wedges (paths of length two) that close into a triangle, 0 without wedges
    * triangles, four_cycles: motifs in the graph, each counted once
    * motif_density: triangles plus 4-cycles per node
    """
    n = len(descriptors)
    degree = np.sort(descriptors[:, 0])
    clustering = np.sort(descriptors[:, 5])
    ends, wedges = degree.sum(), (degree * (degree - 1) / 2).sum()
    triangles, cycles = _ordered_sum(descriptors[:, 7]) / 3, _ordered_sum(descriptors[:, 8]) / 4
    out[0] = n
    out[1] = ends / 2
    out[2] = ends / (n * (n - 1.0)) if n > 1 else 0.0
    out[3] = components
    out[4] = ends / n
    out[5] = np.sqrt(max(n * (degree * degree).sum() - ends * ends, 0.0)) / n
    out[6] = _entropy(degree)
    out[7], out[8], out[9] = quantile(degree, 0.25), quantile(degree, 0.5), quantile(degree, 0.75)
    out[10] = clustering.sum() / n
    out[11] = np.sqrt(((clustering - out[10]) ** 2).sum() / n)
    out[12] = 3 * triangles / wedges if wedges > 0 else 0.0
    out[13] = triangles
    out[14] = cycles
    out[15] = (triangles + cycles) / n
    out[16] = descriptors[:, 6].max()


@njit(cache=True, nogil=True)
def quantile(ordered: NDArray[np.float64], p: float) -> float:
    """The p-quantile of sorted values, by linear interpolation as NumPy's default."""
    position = p * (len(ordered) - 1)
    below = int(position)
    if below + 1 >= len(ordered):
        return ordered[-1]
    return ordered[below] + (position - below) * (ordered[below + 1] - ordered[below])


@njit(cache=True, nogil=True)
def _ordered_sum(values: NDArray[np.float64]) -> float:
    return np.sort(values).sum()


@njit(cache=True, nogil=True)
def _entropy(ordered: NDArray[np.float64]) -> float:
    n, total, run = len(ordered), 0.0, 0
    for i in range(n):
        run += 1
        if i + 1 == n or ordered[i + 1] != ordered[i]:
            total -= run / n * np.log(run / n)
            run = 0
    return max(total, 0.0)
