"""What a table channel reads of a graph: a row of numbers, by a map that may learn its columns from the references."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import State
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.unmatched import Nearest, Unmatched
from graphglass.graphs.chemistry import descriptors
from graphglass.kernel import kernel
from graphglass.structure.aggregates import ascending, quantile
from graphglass.structure.profile import AGGREGATE_NAMES

# Counts that range over orders of magnitude enter by their logarithm.
LOGARITHMIC = ("nodes", "edges", "components", "triangles", "four_cycles", "motif_density", "core_max")


class FeatureMap(ABC):
    """Graphs to a table with one row per graph. A map without columns to learn has no state."""

    def fit(self, references: ProfiledGraphs) -> None:  # noqa: B027  # most maps have nothing to learn
        """Learn the columns."""

    @abstractmethod
    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        """(graphs, columns); no columns if the graphs lack what the map reads."""

    def min_scales(self, columns: int) -> NDArray[np.float64]:
        """The least unit of every column, (columns,); only standardised channels ask for it."""
        return np.full(columns, 0.1)

    def unmatched(
        self, query: ProfiledGraphs, near: Nearest, past: NDArray[np.float64], short: NDArray[np.float64]
    ) -> Unmatched:
        """What of one query its nearest references lack; by default nothing that a node or an edge shows.

        ``past`` is how far every column of the query lies above their weighted mean, squared, ``short`` how far below.
        """
        return Unmatched.whole(query.graphs)

    def state(self) -> State:
        """What `fit` learned."""
        return {}

    def restore(self, state: State) -> None:  # noqa: B027
        """The inverse of `state`."""


class SizeMap(FeatureMap):
    """log nodes, log edges."""

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        graphs = profiled.graphs
        return np.stack([np.log(graphs.sizes), np.log1p(graphs.edge_counts)], axis=1)


class StructureMap(FeatureMap):
    """Graph aggregates (17), mean, deviation and maximum of the node descriptors (27), and the spectral sketch (11)."""

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        profile = profiled.profile
        aggregates = profile.aggregates.copy()
        counts = [AGGREGATE_NAMES.index(name) for name in LOGARITHMIC]
        aggregates[:, counts] = np.log1p(aggregates[:, counts])
        nodes = np.log1p(profile.descriptors)
        offsets = profile.node_offsets
        largest = np.maximum.reduceat(nodes, offsets[:-1], axis=0) if len(profile) else nodes
        return np.concatenate([aggregates, *mean_and_deviation(nodes, offsets), largest, profile.sketch], axis=1)


class DescriptorMap(FeatureMap):
    """logP, polar surface, weight, donors, acceptors, rotatable bonds, rings, charge and sp3 fraction.

    No columns for graphs that were not read as molecules.
    """

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        return descriptors(profiled.graphs)


@kernel
def mean_and_deviation(
    nodes: NDArray[np.float64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of node columns over every graph, (graphs, columns) each."""
    graphs, columns = len(offsets) - 1, nodes.shape[1]
    mean, deviation = np.zeros((graphs, columns)), np.zeros((graphs, columns))
    for graph in range(graphs):
        first, last = offsets[graph], offsets[graph + 1]
        for node in range(first, last):
            for column in range(columns):
                mean[graph, column] += nodes[node, column]
        for column in range(columns):
            mean[graph, column] /= last - first
        for node in range(first, last):
            for column in range(columns):
                centred = nodes[node, column] - mean[graph, column]
                deviation[graph, column] += centred * centred
        for column in range(columns):
            deviation[graph, column] = np.sqrt(deviation[graph, column] / (last - first))
    return mean, deviation


@kernel
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


@kernel
def quantiles(
    nodes: NDArray[np.float64], offsets: NDArray[np.int64], levels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Quantiles of node columns over every graph, interpolated linearly, (graphs, levels * columns)."""
    graphs, columns = len(offsets) - 1, nodes.shape[1]
    out = np.empty((graphs, len(levels) * columns))
    for graph in range(graphs):
        first, last = offsets[graph], offsets[graph + 1]
        for column in range(columns):
            ordered = ascending(nodes[first:last, column])
            for i in range(len(levels)):
                out[graph, i * columns + column] = quantile(ordered, levels[i])
    return out
