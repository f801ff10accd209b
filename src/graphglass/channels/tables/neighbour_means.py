"""Node labels and attributes after zero to three steps of averaging over neighbours, summarised per graph."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphglass.channels.channel import State
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.composition import VOCABULARY, columns_of, frequent
from graphglass.channels.tables.feature_maps import FeatureMap, mean_and_deviation
from graphglass.graphs.attributes import attribute_columns
from graphglass.structure.profile import LTD_NAMES

STEPS = 3
SHAPE = [LTD_NAMES.index(name) for name in ("degree", "clustering", "core")]


class NeighbourMeansMap(FeatureMap):
    """Structure columns beside mean, deviation and neighbour correlation of propagated node features.

    A node starts as its degree, clustering and core number, its label (one column each) and its attributes,
    standardised over the nodes of the references. The correlation with the neighbours' mean says whether like sits
    beside like.
    """

    def __init__(self) -> None:
        self._labels = np.zeros(0, np.int64)
        self._centre = np.zeros(0)
        self._spread = np.ones(0)

    def fit(self, references: ProfiledGraphs) -> None:
        graphs = references.graphs
        self._labels, self._centre, self._spread = np.zeros(0, np.int64), np.zeros(0), np.ones(0)
        if graphs.node_labels is not None:
            self._labels = frequent(graphs.node_labels, VOCABULARY)
        if graphs.attributes is not None:
            values = attribute_columns(graphs)
            self._centre, spread = values.mean(axis=0), values.std(axis=0)
            self._spread = np.where(spread > 1e-9, spread, 1.0)

    def nodes(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        """The features every node starts with, (nodes, columns)."""
        graphs = profiled.graphs
        labels = 0 if graphs.node_labels is None else len(self._labels) + 1
        nodes = np.zeros((graphs.node_count, len(SHAPE) + labels + len(self._centre)))
        nodes[:, : len(SHAPE)] = np.log1p(profiled.profile.descriptors[:, SHAPE])
        if graphs.node_labels is not None:
            nodes[np.arange(len(nodes)), len(SHAPE) + columns_of(graphs.node_labels, self._labels)] = 1
        if graphs.attributes is not None:
            nodes[:, len(SHAPE) + labels :] = (attribute_columns(graphs) - self._centre) / self._spread
        return nodes

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        graphs = profiled.graphs
        offsets = graphs.node_offsets
        start = self.nodes(profiled)
        mean, deviation = mean_and_deviation(start, offsets)
        columns = [profiled.structure_table, mean, deviation]
        current = start
        for _ in range(STEPS):
            current = neighbour_mean(current, offsets, graphs.neighbour_offsets, graphs.neighbours)
            step_mean, step_deviation = mean_and_deviation(current, offsets)
            product = mean_and_deviation(start * current, offsets)[0]
            columns += [step_mean, step_deviation, product - mean * step_mean]
        return np.concatenate(columns, axis=1)

    def state(self) -> State:
        return {"labels": self._labels, "centre": self._centre, "spread": self._spread}

    def restore(self, state: State) -> None:
        self._labels, self._centre, self._spread = state["labels"], state["centre"], state["spread"]


@njit(cache=True, nogil=True)
def neighbour_mean(
    values: NDArray[np.float64],
    node_offsets: NDArray[np.int64],
    neighbour_offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
) -> NDArray[np.float64]:
    """The mean over each node's neighbours; 0 for an isolated node."""
    out = np.zeros_like(values)
    for graph in range(len(node_offsets) - 1):
        start = node_offsets[graph]
        for node in range(start, node_offsets[graph + 1]):
            first, last = neighbour_offsets[node], neighbour_offsets[node + 1]
            for position in range(first, last):
                other = start + neighbours[position]
                for column in range(values.shape[1]):
                    out[node, column] += values[other, column]
            for column in range(values.shape[1]):
                out[node, column] /= max(last - first, 1)
    return out
