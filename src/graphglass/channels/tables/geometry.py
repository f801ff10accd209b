"""Functions of node attributes that do not change when the attribute space is moved or turned.

Attributes may be coordinates, whose values mean nothing by themselves. Lengths along edges, distances between nodes and
the extent of the cloud of nodes mean the same for coordinates and for any other attribute.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import FeatureMap
from graphglass.graphs.attributes import attribute_columns
from graphglass.graphs.graph_set import GraphSet
from graphglass.kernel import kernel
from graphglass.structure.aggregates import quantile
from graphglass.structure.kernels.dense_eigenvalues import sort_values

EXTENTS = 6
EDGE_QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
PAIR_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
MOST_NODES = 256  # of a graph that enter the distances between all pairs


class GeometryMap(FeatureMap):
    """Extents of the cloud of nodes, quantiles of distances between nodes, and the law of edge lengths."""

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        graphs = profiled.graphs
        values = attribute_columns(graphs)
        if values.shape[1] == 0:
            return np.zeros((len(graphs), 0))
        lengths = edge_lengths(graphs)
        ends = graphs.neighbour_offsets[graphs.node_offsets]
        # Large graphs are thinned along the order of their attributes, which no renumbering of nodes changes.
        order = np.lexsort((*values.T[::-1], graphs.node_graph))
        values = values[order]
        between = _lengths(values, lengths, graphs.node_offsets, ends)
        return np.concatenate([extents(values, graphs.node_offsets), between], axis=1)


def edge_lengths(graphs: GraphSet) -> NDArray[np.float64]:
    """Distance in attribute space between the two ends of every stored edge end, (2 * edges,)."""
    values = attribute_columns(graphs)
    return np.asarray(np.sqrt(((values[graphs.end_nodes] - values[graphs.global_neighbours]) ** 2).sum(axis=1)))


def extents(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Deviations of each graph's nodes along their principal directions, largest first, (graphs, EXTENTS)."""
    sizes = np.diff(offsets)
    mean = np.add.reduceat(values, offsets[:-1], axis=0) / sizes[:, None]
    centred = values - np.repeat(mean, sizes, axis=0)
    width = values.shape[1]
    covariance = np.empty((len(sizes), width, width))
    for column in range(width):
        products = centred * centred[:, column : column + 1]
        covariance[:, column] = np.add.reduceat(products, offsets[:-1], axis=0) / sizes[:, None]
    variances = np.linalg.eigvalsh(covariance)[:, ::-1]
    # Flat clouds leave rounding noise, which the root would blow up.
    extent = np.sqrt(np.where(variances > 1e-6 * variances[:, :1], variances, 0))
    out = np.zeros((len(sizes), EXTENTS))
    out[:, : min(width, EXTENTS)] = extent[:, :EXTENTS]
    return out


@kernel
def _lengths(
    values: NDArray[np.float64],
    lengths: NDArray[np.float64],
    node_offsets: NDArray[np.int64],
    end_offsets: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Quantiles of pair distances, then quantiles, mean and deviation of edge lengths, which it sorts in place."""
    graphs, width = len(node_offsets) - 1, values.shape[1]
    at_edges = len(PAIR_QUANTILES)
    out = np.zeros((graphs, at_edges + len(EDGE_QUANTILES) + 2))
    for graph in range(graphs):
        first = node_offsets[graph]
        count = node_offsets[graph + 1] - first
        kept = min(count, MOST_NODES)
        if kept > 1:
            pairs = np.empty(kept * (kept - 1) // 2)
            at = 0
            for i in range(kept):
                for j in range(i):
                    total = 0.0
                    for column in range(width):
                        step = values[first + i * count // kept, column] - values[first + j * count // kept, column]
                        total += step * step
                    pairs[at] = np.sqrt(total)
                    at += 1
            sort_values(pairs)
            for q in range(len(PAIR_QUANTILES)):
                out[graph, q] = quantile(pairs, PAIR_QUANTILES[q])
        edges = lengths[end_offsets[graph] : end_offsets[graph + 1]]
        if len(edges) > 0:
            sort_values(edges)
            for q in range(len(EDGE_QUANTILES)):
                out[graph, at_edges + q] = quantile(edges, EDGE_QUANTILES[q])
            total, squares = 0.0, 0.0
            for i in range(len(edges)):
                total += edges[i]
            mean = total / len(edges)
            for i in range(len(edges)):
                squares += (edges[i] - mean) * (edges[i] - mean)
            out[graph, -2] = mean
            out[graph, -1] = (squares / len(edges)) ** 0.5
    return out
