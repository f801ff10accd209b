"""What a graph is made of: its size, and counts of degrees, labels, edge labels and label pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import State
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.attribute_values import attribute_min_scales, attribute_summary
from graphglass.channels.tables.feature_maps import FeatureMap
from graphglass.channels.unmatched import Nearest, Unmatched, with_ends
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import columns_of, frequent

VOCABULARY = 64  # the references' most frequent labels get a column each; all others share one
DEGREES = 10  # degrees from this one on share a column
MIN_SCALE = 0.1  # least unit of a count or a logarithm


class CompositionMap(FeatureMap):
    """Log size, counts of degrees, node labels, edge labels and label pairs at edges, and attribute summaries.

    Counts, not shares: how much of something a graph holds matters as well as its proportion.
    """

    def __init__(self) -> None:
        self._nodes = self._edges = self._pairs = np.zeros(0, np.int64)
        self._attributes = np.zeros(0)

    def fit(self, references: ProfiledGraphs) -> None:
        graphs = references.graphs
        none = np.zeros(0, np.int64)
        self._nodes = none if graphs.node_labels is None else frequent([graphs.node_labels], VOCABULARY)
        self._edges = none if graphs.edge_labels is None else frequent([graphs.edge_labels], VOCABULARY)
        pairs = (self._label_pairs(part.graphs) for part in references.parts())
        self._pairs = none if graphs.node_labels is None else frequent(pairs, VOCABULARY)
        self._attributes = attribute_min_scales(graphs)

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        graphs = profiled.graphs
        count, owner, degrees = len(graphs), graphs.node_graph, np.diff(graphs.neighbour_offsets)
        ends = np.repeat(owner, degrees)
        parts = [
            np.log(graphs.sizes)[:, None],
            np.log1p(graphs.edge_counts)[:, None],
            count_table(owner, np.minimum(degrees, DEGREES), DEGREES + 1, count),
        ]
        if graphs.node_labels is not None:
            names, pairs = columns_of(graphs.node_labels, self._nodes), self._label_pairs(graphs)
            parts.append(count_table(owner, names, len(self._nodes) + 1, count))
            parts.append(count_table(ends, columns_of(pairs, self._pairs), len(self._pairs) + 1, count) / 2)
        if graphs.edge_labels is not None:
            names = columns_of(graphs.edge_labels, self._edges)
            parts.append(count_table(ends, names, len(self._edges) + 1, count) / 2)
        return np.concatenate([*parts, attribute_summary(graphs)], axis=1)

    def unmatched(
        self, query: ProfiledGraphs, near: Nearest, past: NDArray[np.float64], short: NDArray[np.float64]
    ) -> Unmatched:
        """The excess of a degree or a label over its nodes, that of a pair or an edge label over its edges."""
        graphs = query.graphs
        listed, width = graphs.edge_list(), 2 + DEGREES + 1
        nodes = _shared_out(past[2:width], np.minimum(np.diff(graphs.neighbour_offsets), DEGREES))
        ends = np.zeros(len(graphs.neighbours))
        if graphs.node_labels is not None:
            names, pairs = (
                columns_of(graphs.node_labels, self._nodes),
                columns_of(self._label_pairs(graphs), self._pairs),
            )
            nodes += _shared_out(past[width : width + len(self._nodes) + 1], names)
            width += len(self._nodes) + 1
            ends += _shared_out(past[width : width + len(self._pairs) + 1], pairs)
            width += len(self._pairs) + 1
        if graphs.edge_labels is not None:
            ends += _shared_out(past[width : width + len(self._edges) + 1], columns_of(graphs.edge_labels, self._edges))
        once = graphs.end_nodes < graphs.global_neighbours if graphs.outgoing is None else graphs.outgoing
        edges = (ends + ends[graphs.opposite_ends])[once]
        if graphs.outgoing is not None:  # an edge in each direction is one pair
            edges /= 1 + graphs.outgoing[graphs.opposite_ends][once]
        values = past[len(past) - len(self._attributes) :]
        return with_ends(nodes, listed, edges, float(past[:2].sum() + values.sum() + short.sum()))

    def min_scales(self, columns: int) -> NDArray[np.float64]:
        return np.concatenate([np.full(columns - len(self._attributes), MIN_SCALE), self._attributes])

    def state(self) -> State:
        return {"nodes": self._nodes, "edges": self._edges, "pairs": self._pairs, "attributes": self._attributes}

    def restore(self, state: State) -> None:
        self._nodes, self._edges, self._pairs = state["nodes"], state["edges"], state["pairs"]
        self._attributes = state["attributes"]

    def _label_pairs(self, graphs: GraphSet) -> NDArray[np.int64]:
        """The unordered pair of labels at every stored edge end."""
        assert graphs.node_labels is not None
        names = columns_of(graphs.node_labels, self._nodes)
        first, second = names[graphs.end_nodes], names[graphs.global_neighbours]
        return np.minimum(first, second) * (VOCABULARY + 1) + np.maximum(first, second)


def count_table(owner: NDArray[np.int64], column: NDArray[np.int64], width: int, graphs: int) -> NDArray[np.float64]:
    """How often each column occurs in each graph, (graphs, width)."""
    return np.bincount(owner * width + column, minlength=graphs * width).reshape(graphs, width).astype(np.float64)


def _shared_out(excess: NDArray[np.float64], column: NDArray[np.int64]) -> NDArray[np.float64]:
    """The excess of every column in equal parts over what is counted in it."""
    counts = np.bincount(column, minlength=len(excess))
    return (excess[: len(counts)] / np.maximum(counts, 1))[column]
