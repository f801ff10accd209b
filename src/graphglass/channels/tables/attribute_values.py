"""What values the attributes of a graph's nodes take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import mean_and_deviation
from graphglass.channels.tables.geometry import edge_lengths
from graphglass.graphs.attributes import attribute_columns
from graphglass.graphs.graph_set import GraphSet

FLAGS = 2  # distinct values that make attributes flags, whatever the lengths between them
RIGID = 0.2  # deviation of edge lengths over their mean, below which attributes are positions in space


class AttributeMap:
    """Mean, deviation, lowest and highest value of every attribute.

    Silent where the attributes are positions: two or three columns in which all edges have nearly one length, as bonds
    have in a molecule. Moving or turning such a graph changes every value and means nothing.
    """

    def __init__(self) -> None:
        self._positions = False

    def fit(self, references: ProfiledGraphs) -> None:
        self._positions = are_positions(references.graphs)

    def table(self, evidence: ProfiledGraphs) -> NDArray[np.float64]:
        if self._positions:
            return np.zeros((len(evidence), 0))
        values, offsets = attribute_columns(evidence.graphs), evidence.graphs.node_offsets
        if values.shape[1] == 0 or len(evidence) == 0:
            return np.zeros((len(evidence), 4 * values.shape[1]))
        lowest, highest = (extreme.reduceat(values, offsets[:-1], axis=0) for extreme in (np.minimum, np.maximum))
        return np.concatenate([*mean_and_deviation(values, offsets), lowest, highest], axis=1)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"positions": np.array(self._positions)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self._positions = bool(state["positions"])


def are_positions(graphs: GraphSet) -> bool:
    """Whether the attributes look like coordinates of nodes that edges hold at one distance."""
    if graphs.attributes is None or graphs.attributes.shape[1] not in (2, 3):
        return False
    if len(np.unique(graphs.attributes)) <= FLAGS:
        return False  # flags, such as one column for each side of a bipartite graph
    lengths = edge_lengths(graphs)
    return bool(lengths.size and lengths.std() < RIGID * lengths.mean())
