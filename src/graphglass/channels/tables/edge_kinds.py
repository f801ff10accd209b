"""How usual every edge is for its kind: the labels of its source, of itself and of its target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import State
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.edge_values import edge_values, listed_edges, summary
from graphglass.channels.tables.feature_maps import FeatureMap
from graphglass.channels.unmatched import Nearest, Unmatched, beyond, with_ends
from graphglass.graphs.graph_set import EdgeList, GraphSet
from graphglass.graphs.labels import columns_of
from graphglass.structure.kernels.hashing import mix

FEWEST = 8  # edges of a kind that give their own mean and deviation; others share those of all edges
FARTHEST = 20.0  # deviations at which a value is cut off


class EdgeKindMap(FeatureMap):
    """Mean and highest surprise of a graph's edges: how rare their kind is, and how unusual their values are for it.

    One edge against the usual direction, or with another kind's amount, is the highest surprise of its graph, however
    many ordinary edges are around it.
    """

    def __init__(self) -> None:
        self._kinds = np.zeros(0, np.int64)
        self._rarity, self._mean, self._scale = np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0))

    def fit(self, references: ProfiledGraphs) -> None:
        edges = listed_edges(references.graphs)
        self._kinds = np.zeros(0, np.int64)
        if edges is None or not len(edges.sources):
            return
        self._kinds, places, counts = np.unique(
            edge_kinds(references.graphs, edges), return_inverse=True, return_counts=True
        )
        values = edge_values(edges)
        mean, deviation, _, _ = summary(values, places, len(self._kinds))
        few = (counts < FEWEST)[:, None]
        overall = values.std(axis=0)
        least = np.where(overall > 1e-9, 0.1 * overall, 0.05 * np.abs(values.mean(axis=0)) + 1e-3)
        # The last row is for kinds that no reference has.
        self._mean = np.concatenate([np.where(few, values.mean(axis=0), mean), values.mean(axis=0)[None]])
        self._scale = np.concatenate([np.where(few, overall, deviation), overall[None]]) + least
        self._rarity = -np.log(np.append(counts, 0.5) / counts.sum())

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        graphs = profiled.graphs
        edges = listed_edges(graphs)
        if not len(self._kinds) or edges is None:
            return np.zeros((len(graphs), 0))
        mean, _, _, highest = summary(self._surprise(graphs, edges), graphs.node_graph[edges.sources], len(graphs))
        return np.concatenate([mean, highest], axis=1)

    def _surprise(self, graphs: GraphSet, edges: EdgeList) -> NDArray[np.float64]:
        """How rare the kind of every edge is, and how far each of its values lies from its kind's."""
        place = columns_of(edge_kinds(graphs, edges), self._kinds)
        off = np.minimum(np.abs(edge_values(edges) - self._mean[place]) / self._scale[place], FARTHEST)
        return np.concatenate([self._rarity[place, None], off], axis=1)

    def unmatched(
        self, query: ProfiledGraphs, near: Nearest, past: NDArray[np.float64], short: NDArray[np.float64]
    ) -> Unmatched:
        """Edges with a higher surprise than all edges of the nearest references."""
        edges, others = listed_edges(query.graphs), listed_edges(near.graphs.graphs)
        if edges is None or others is None:
            return Unmatched.whole(query.graphs)
        own, normal = self._surprise(query.graphs, edges), self._surprise(near.graphs.graphs, others)
        # Zeros below: an edge is never too usual.
        normal = np.concatenate([normal, np.zeros_like(own[:1])])
        weights = beyond(own, normal, np.ones(own.shape[1]))
        return with_ends(np.zeros(query.graphs.node_count), edges, weights)

    def state(self) -> State:
        return {"kinds": self._kinds, "rarity": self._rarity, "mean": self._mean, "scale": self._scale}

    def restore(self, state: State) -> None:
        self._kinds, self._rarity = state["kinds"], state["rarity"]
        self._mean, self._scale = state["mean"], state["scale"]


def edge_kinds(graphs: GraphSet, edges: EdgeList) -> NDArray[np.int64]:
    """One number for the labels of source, edge and target; the order of the ends counts in directed sets only."""
    labels = np.zeros(graphs.node_count, np.int64) if graphs.node_labels is None else graphs.node_labels
    one, two = labels[edges.sources], labels[edges.targets]
    if not graphs.directed:
        one, two = np.minimum(one, two), np.maximum(one, two)
    own = np.zeros(len(one), np.int64) if edges.labels is None else edges.labels
    key = np.zeros(len(one), np.uint64)
    for part in (one, own, two):
        key = mix_each(key + part.astype(np.int64).view(np.uint64))
    return key.view(np.int64)


def mix_each(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    distinct, places = np.unique(words, return_inverse=True)
    return np.array([mix(word) for word in distinct], dtype=np.uint64)[places]
