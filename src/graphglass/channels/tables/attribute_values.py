"""The values that the attributes of a graph's nodes take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import State
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import FeatureMap, mean_and_deviation, neighbour_mean, quantiles
from graphglass.channels.tables.geometry import edge_lengths
from graphglass.channels.unmatched import Nearest, Unmatched
from graphglass.graphs.attributes import attribute_columns
from graphglass.graphs.graph_set import GraphSet

FLAGS = 2  # distinct values that make attributes flags, whatever the lengths between them
RIGID = 0.2  # deviation of edge lengths over their mean, below which attributes are positions in space
MIN_SCALE = 0.1  # least unit of a column, in deviations of the attribute over the references' nodes
LEVELS = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])


class AttributeMap(FeatureMap):
    """Quantiles of every attribute over the nodes, and of its means over the neighbours of each node.

    No columns where the attributes are positions: two or three columns in which all edges have nearly one length, as
    bonds have in a molecule. Moving or turning such a graph changes every value and means nothing.
    """

    def __init__(self) -> None:
        self._positions = False
        self._min_scales = np.zeros(0)  # of one column for each attribute

    def fit(self, references: ProfiledGraphs) -> None:
        self._positions = are_positions(references.graphs)
        self._min_scales = _min_scales(references.graphs)

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        graphs = profiled.graphs
        values, offsets = attribute_columns(graphs), graphs.node_offsets
        if self._positions or values.shape[1] == 0:
            return np.zeros((len(graphs), 0))
        around = neighbour_mean(values, offsets, graphs.neighbour_offsets, graphs.neighbours)
        return np.concatenate([quantiles(values, offsets, LEVELS), quantiles(around, offsets, LEVELS)], axis=1)

    def unmatched(
        self, query: ProfiledGraphs, near: Nearest, past: NDArray[np.float64], short: NDArray[np.float64]
    ) -> Unmatched:
        """Nodes whose values lie past the quantiles of the nearest references.

        A quantile past the mean of theirs weighs on the nodes past that mean, more on those whose value fewer of their
        nodes have. Only where no value does, means over neighbours count, and weigh on the neighbours that
        make them.
        """
        graphs, width = query.graphs, len(past) // 2
        normal, others = near.weights @ self.table(near.graphs), near.graphs.graphs
        values, usual = attribute_columns(graphs), attribute_columns(others)
        weights = _past_quantiles(values, usual, normal[:width], past[:width], short[:width])
        if not weights.any():
            values, usual = (
                neighbour_mean(table, part.node_offsets, part.neighbour_offsets, part.neighbours)
                for table, part in ((values, graphs), (usual, others))
            )
            centres = _past_quantiles(values, usual, normal[width:], past[width:], short[width:])
            each = (centres / np.maximum(np.diff(graphs.neighbour_offsets), 1))[graphs.end_nodes]
            weights = np.bincount(graphs.global_neighbours, each, graphs.node_count).astype(np.float64)
        return replace(Unmatched.whole(graphs), nodes=weights)

    def min_scales(self, columns: int) -> NDArray[np.float64]:
        return np.resize(self._min_scales, columns)

    def state(self) -> State:
        return {"positions": np.array(self._positions), "room": self._min_scales}

    def restore(self, state: State) -> None:
        self._positions, self._min_scales = bool(state["positions"]), state["room"]


def _past_quantiles(
    values: NDArray[np.float64],
    usual: NDArray[np.float64],
    normal: NDArray[np.float64],
    past: NDArray[np.float64],
    short: NDArray[np.float64],
) -> NDArray[np.float64]:
    """What quantiles weigh above and below the normal ones, over the nodes beyond by how unusual they are, (nodes,)."""
    weights = np.zeros(len(values))
    sides = (past, values, usual, normal), (short, -values, -usual, -normal)
    for side, own, others, mean in sides:
        beyond = np.tile(own, len(LEVELS)) > mean
        nearer = [np.searchsorted(np.sort(known), value) for known, value in zip(others.T, own.T, strict=True)]
        surprise = np.tile(-np.log1p(-np.stack(nearer, axis=1) / (1 + len(others))), len(LEVELS))
        weights += (beyond * surprise * (side / np.maximum(beyond.sum(axis=0), 1))).sum(axis=1)
    return weights


def attribute_summary(graphs: GraphSet) -> NDArray[np.float64]:
    """Mean, deviation, lowest and highest value of every attribute over every graph, (graphs, 4 attributes)."""
    values, offsets = attribute_columns(graphs), graphs.node_offsets
    if values.shape[1] == 0 or len(graphs) == 0:
        return np.zeros((len(graphs), 4 * values.shape[1]))
    lowest, highest = (extreme.reduceat(values, offsets[:-1], axis=0) for extreme in (np.minimum, np.maximum))
    return np.concatenate([*mean_and_deviation(values, offsets), lowest, highest], axis=1)


def attribute_min_scales(graphs: GraphSet) -> NDArray[np.float64]:
    """The least unit of every column of :func:`attribute_summary`."""
    return np.tile(_min_scales(graphs), 4)


def _min_scales(graphs: GraphSet) -> NDArray[np.float64]:
    values = attribute_columns(graphs)
    return MIN_SCALE * values.std(axis=0) if len(values) else np.zeros(values.shape[1])


def are_positions(graphs: GraphSet) -> bool:
    """Whether the attributes look like coordinates of nodes that edges hold at one distance."""
    if graphs.attributes is None or graphs.attributes.shape[1] not in (2, 3):
        return False
    if len(np.unique(graphs.attributes)) <= FLAGS:
        return False  # flags, such as one column for each side of a bipartite graph
    lengths = edge_lengths(graphs)
    return bool(lengths.size and lengths.std() < RIGID * lengths.mean())
