"""Graph-level numbers gathered from the node descriptors."""

from __future__ import annotations

import numpy as np

from graphglass.kernel import Floats, kernel
from graphglass.structure.kernels.dense_eigenvalues import sort_values

AGGREGATE_NAMES = (
    "nodes", "edges", "density", "components",
    "degree_mean", "degree_std", "degree_entropy", "degree_q25", "degree_q50", "degree_q75",
    "clustering_mean", "clustering_std", "transitivity",
    "triangles", "four_cycles", "motif_density", "core_max",
)  # fmt: skip


@kernel
def aggregate(descriptors: Floats, components: int, out: Floats) -> None:
    """Write the 17 aggregates of one graph in the order of :data:`AGGREGATE_NAMES`.

    Values are sorted before they are summed, so the result is the same bit for bit in any node order.

    * density: edges over possible edges, 0 for a single node
    * degree_entropy: Shannon entropy in nats of the degree histogram
    * quantiles: linear interpolation between order statistics
    * transitivity: share of wedges (paths of length two) that close into a triangle, 0 without wedges
    * triangles, four_cycles: motifs in the graph, each counted once
    * motif_density: triangles plus 4-cycles per node
    """
    n = len(descriptors)
    degree, clustering = ascending(descriptors[:, 0]), ascending(descriptors[:, 5])
    ends, share = _sum(degree), _sum(clustering)
    squares, deviations, core = 0.0, 0.0, 0.0
    for v in range(n):
        squares += degree[v] * degree[v]
        deviations += (clustering[v] - share / n) * (clustering[v] - share / n)
        core = max(core, descriptors[v, 6])
    wedges = (squares - ends) / 2
    triangles, cycles = _sum(ascending(descriptors[:, 7])) / 3, _sum(ascending(descriptors[:, 8])) / 4
    out[0] = n
    out[1] = ends / 2
    out[2] = ends / (n * (n - 1.0)) if n > 1 else 0.0
    out[3] = components
    out[4] = ends / n
    out[5] = np.sqrt(max(n * squares - ends * ends, 0.0)) / n
    out[6] = entropy(degree)
    out[7], out[8], out[9] = quantile(degree, 0.25), quantile(degree, 0.5), quantile(degree, 0.75)
    out[10] = share / n
    out[11] = np.sqrt(deviations / n)
    out[12] = 3 * triangles / wedges if wedges > 0 else 0.0
    out[13] = triangles
    out[14] = cycles
    out[15] = (triangles + cycles) / n
    out[16] = core


@kernel
def ascending(values: Floats) -> Floats:
    """A sorted copy."""
    out = np.empty(len(values))
    for i in range(len(values)):
        out[i] = values[i]
    sort_values(out)
    return out


@kernel
def _sum(values: Floats) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


@kernel
def quantile(values: Floats, p: float) -> float:
    """The p-quantile of sorted values, by linear interpolation as NumPy's default."""
    position = p * (len(values) - 1)
    below = int(position)
    if below + 1 >= len(values):
        return float(values[-1])
    return float(values[below] + (position - below) * (values[below + 1] - values[below]))


@kernel
def entropy(values: Floats) -> float:
    """Shannon entropy in nats of the histogram of sorted values."""
    n, result, run = len(values), 0.0, 0
    for i in range(n):
        run += 1
        if i + 1 == n or values[i + 1] != values[i]:
            result -= run / n * np.log(run / n)
            run = 0
    return max(result, 0.0)
