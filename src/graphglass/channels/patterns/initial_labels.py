"""Names of nodes and edges at radius 0, before Weisfeiler-Lehman refinement."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import neighbour_mean
from graphglass.channels.tables.geometry import edge_lengths
from graphglass.graphs.attributes import attribute_columns, edge_numbers
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import LTD_NAMES

CLUSTERING = LTD_NAMES.index("clustering")
Names = tuple[NDArray[np.int64], NDArray[np.int64] | None]  # of nodes, of stored edge ends


class Start(Protocol):
    """Names of nodes and edge ends."""

    cuts: NDArray[np.float64]  # what `fit` learned

    def fit(self, references: ProfiledGraphs) -> bool:
        """Learn where to cut continuous values into names; whether the graphs carry what names are made of."""

    def names(self, graphs: ProfiledGraphs) -> Names:
        """Names of nodes and of stored edge ends."""


class LabelStart:
    """Node and edge labels as given; the degree where nodes have no label."""

    cuts = np.zeros(0)

    def fit(self, references: ProfiledGraphs) -> bool:
        return True

    def names(self, graphs: ProfiledGraphs) -> Names:
        return node_names(graphs.graphs), graphs.graphs.edge_labels


class ShapeStart:
    """The bucket of a node's degree and clustering, whatever its label; edge labels as given."""

    cuts = np.zeros(0)

    def fit(self, references: ProfiledGraphs) -> bool:
        return True

    def names(self, graphs: ProfiledGraphs) -> Names:
        degrees = np.diff(graphs.graphs.neighbour_offsets)
        # Half-octaves, so large degrees share a bucket.
        bucket = np.floor(2 * np.log2(1 + degrees)).astype(np.int64)
        clustering = graphs.profile.descriptors[:, CLUSTERING]
        inside = np.digitize(clustering, (1e-9, 0.25, 0.5, 0.75, 1 - 1e-9))
        return bucket * 8 + inside, graphs.graphs.edge_labels


class LengthStart:
    """Labels as given, and every edge named by its length in attribute space: the quantile bucket among references.

    Lengths do not change when coordinates are moved or turned; in molecules they distinguish bond types.
    """

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets
        self.cuts = np.zeros(0)

    def fit(self, references: ProfiledGraphs) -> bool:
        if references.graphs.attributes is None:
            return False
        lengths = edge_lengths(references.graphs)
        self.cuts = quantile_cuts(lengths, self.buckets)
        return varies(lengths)

    def names(self, graphs: ProfiledGraphs) -> Names:
        bucket = np.searchsorted(self.cuts, edge_lengths(graphs.graphs))
        given = 0 if graphs.graphs.edge_labels is None else graphs.graphs.edge_labels
        return node_names(graphs.graphs), bucket + self.buckets * (given + 1)


class ContrastStart:
    """A node's label and how far its attributes lie from the mean of its neighbours': the bucket among references."""

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets
        self.cuts = np.zeros(0)

    def fit(self, references: ProfiledGraphs) -> bool:
        if references.graphs.attributes is None:
            return False
        values = contrast(references.graphs)
        self.cuts = quantile_cuts(values, self.buckets)
        return references.graphs.node_labels is None or varies(values)  # without labels it repeats no channel

    def names(self, graphs: ProfiledGraphs) -> Names:
        read = graphs.graphs
        labels = np.zeros(read.node_count, np.int64) if read.node_labels is None else read.node_labels
        return labels * self.buckets + np.searchsorted(self.cuts, contrast(read)), read.edge_labels


class DirectionStart:
    """Labels as given, and every edge end named by whether its edge leaves, enters or does both."""

    cuts = np.zeros(0)

    def fit(self, references: ProfiledGraphs) -> bool:
        return references.graphs.directed

    def names(self, graphs: ProfiledGraphs) -> Names:
        return node_names(graphs.graphs), directed_names(graphs.graphs)


class EdgeValueStart:
    """Labels and directions as given, and every edge named by one of its attributes: the bucket among references.

    Attributes are numbered without ``count``. A place of None stands for the count itself, which every edge of a
    directed set and of a set with edge attributes has, and which is a name as it is. Where it is 1 for every edge of
    the references, or the attribute has one value, the channel would only repeat another one: no data.
    """

    def __init__(self, buckets: int, place: int | None) -> None:
        self.buckets, self.place = buckets, place
        self.cuts: NDArray[np.float64] = np.zeros(0)

    def fit(self, references: ProfiledGraphs) -> bool:
        values = edge_numbers(references.graphs)
        if self.place is None:
            self.cuts = np.arange(1.5, self.buckets, dtype=np.float64)
            return values.shape[1] > 0 and bool((values[:, -1] != 1).any())
        if self.place >= values.shape[1] - 1:
            return False
        self.cuts = quantile_cuts(values[:, self.place], self.buckets)
        return varies(values[:, self.place])

    def names(self, graphs: ProfiledGraphs) -> Names:
        values = edge_numbers(graphs.graphs)[:, -1 if self.place is None else self.place]
        bucket = np.searchsorted(self.cuts, values)
        return node_names(graphs.graphs), directed_names(graphs.graphs) * self.buckets + bucket


def directed_names(graphs: GraphSet) -> NDArray[np.int64]:
    """The label of every edge end and the direction of its edge, as one number."""
    given = np.zeros(len(graphs.neighbours), np.int64) if graphs.edge_labels is None else graphs.edge_labels + 1
    if graphs.outgoing is None:
        return given * 4
    return given * 4 + graphs.outgoing + 2 * graphs.outgoing[graphs.opposite_ends]


def node_names(graphs: GraphSet) -> NDArray[np.int64]:
    return np.diff(graphs.neighbour_offsets) if graphs.node_labels is None else graphs.node_labels


def contrast(graphs: GraphSet) -> NDArray[np.float64]:
    """Distance in attribute space of every node to the mean of its neighbours, 0 for an isolated node, (nodes,)."""
    values = attribute_columns(graphs)
    around = neighbour_mean(values, graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours)
    return np.where(np.diff(graphs.neighbour_offsets) > 0, np.sqrt(((values - around) ** 2).sum(axis=1)), 0.0)


def varies(values: NDArray[np.float64]) -> bool:
    """Whether there are two values."""
    return bool((values != values[:1]).any())


def quantile_cuts(values: NDArray[np.float64], buckets: int) -> NDArray[np.float64]:
    """The values that cut references into equal shares."""
    return np.quantile(values, np.arange(1, buckets) / buckets) if len(values) else np.zeros(buckets - 1)
