"""The values that the attributes of a graph's nodes take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import State
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import FeatureMap, mean_and_deviation
from graphglass.channels.tables.geometry import edge_lengths
from graphglass.graphs.attributes import attribute_columns
from graphglass.graphs.graph_set import GraphSet

FLAGS = 2  # distinct values that make attributes flags, whatever the lengths between them
RIGID = 0.2  # deviation of edge lengths over their mean, below which attributes are positions in space
ROOM = 0.1  # least unit of a column, in deviations of the attribute over the references' nodes


class AttributeMap(FeatureMap):
    """Mean, deviation, lowest and highest value of every attribute.

    No columns where the attributes are positions: two or three columns in which all edges have nearly one length, as
    bonds have in a molecule. Moving or turning such a graph changes every value and means nothing.
    """

    def __init__(self) -> None:
        self._positions = False
        self._room = np.zeros(0)

    def fit(self, references: ProfiledGraphs) -> None:
        self._positions = are_positions(references.graphs)
        self._room = attribute_room(references.graphs)

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        return np.zeros((len(profiled), 0)) if self._positions else attribute_summary(profiled.graphs)

    def room(self, columns: int) -> NDArray[np.float64]:
        return self._room[:columns]

    def state(self) -> State:
        return {"positions": np.array(self._positions), "room": self._room}

    def restore(self, state: State) -> None:
        self._positions, self._room = bool(state["positions"]), state["room"]


def attribute_summary(graphs: GraphSet) -> NDArray[np.float64]:
    """Mean, deviation, lowest and highest value of every attribute over every graph, (graphs, 4 attributes)."""
    values, offsets = attribute_columns(graphs), graphs.node_offsets
    if values.shape[1] == 0 or len(graphs) == 0:
        return np.zeros((len(graphs), 4 * values.shape[1]))
    lowest, highest = (extreme.reduceat(values, offsets[:-1], axis=0) for extreme in (np.minimum, np.maximum))
    return np.concatenate([*mean_and_deviation(values, offsets), lowest, highest], axis=1)


def attribute_room(graphs: GraphSet) -> NDArray[np.float64]:
    """The least unit of every column of :func:`attribute_summary`."""
    values = attribute_columns(graphs)
    return ROOM * np.tile(values.std(axis=0) if len(values) else np.zeros(values.shape[1]), 4)


def are_positions(graphs: GraphSet) -> bool:
    """Whether the attributes look like coordinates of nodes that edges hold at one distance."""
    if graphs.attributes is None or graphs.attributes.shape[1] not in (2, 3):
        return False
    if len(np.unique(graphs.attributes)) <= FLAGS:
        return False  # flags, such as one column for each side of a bipartite graph
    lengths = edge_lengths(graphs)
    return bool(lengths.size and lengths.std() < RIGID * lengths.mean())
