"""Weisfeiler-Lehman patterns: rooted neighbourhoods of radius 0 to 3, compared by weighted Jaccard similarity."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import State
from graphglass.channels.patterns.count_channel import CountChannel, PatternRows
from graphglass.channels.patterns.counts import Counts, count_keys, join_counts
from graphglass.channels.patterns.initial_labels import Start
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.graphs.graph_set import GraphSet
from graphglass.kernel import kernel
from graphglass.structure.kernels.hashing import spread_all, spread_bits

LEVELS = 4


class PatternChannel(CountChannel):
    """Weighted Jaccard similarity of neighbourhood counts, averaged over radius 0 to 3.

    Parameters
    ----------
    name : str
    start : Start
        The names of nodes and edges at radius 0.
    """

    def __init__(self, name: str, start: Start) -> None:
        super().__init__(name)
        self.start = start

    def learn(self, references: ProfiledGraphs) -> PatternRows | None:
        return self.encode(references) if self.start.fit(references) else None

    def encode(self, graphs: ProfiledGraphs) -> PatternRows:
        levels = zip(*(self._count(part) for part in graphs.parts()), strict=True)
        return PatternRows(tuple(join_counts(parts) for parts in levels))

    def _count(self, graphs: ProfiledGraphs) -> list[Counts]:
        offsets, keys = graphs.graphs.node_offsets, neighbourhood_keys(graphs.graphs, *self.start.names(graphs))
        return [count_keys(offsets, level) for level in keys]

    def occurrences(self, query: ProfiledGraphs) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], int]]:
        nodes = np.arange(query.graphs.node_count)
        for level, keys in enumerate(neighbourhood_keys(query.graphs, *self.start.names(query))):
            yield nodes, keys, level

    def state(self) -> State:
        return {"cuts": self.start.cuts, **super().state()}

    def restore(self, state: State) -> None:
        self.start.cuts = state["cuts"]
        super().restore(state)


def neighbourhood_keys(
    graphs: GraphSet, roots: NDArray[np.int64], edge_names: NDArray[np.int64] | None = None, levels: int = LEVELS
) -> list[NDArray[np.int64]]:
    """Hash the neighbourhood of every node at radius 0, 1, ..., levels - 1.

    Equal neighbourhoods have equal hashes in any graph: nothing needs a vocabulary, and unseen patterns are no special
    case.
    """
    edges = edge_names.view() if edge_names is not None else np.zeros(0, np.int64)
    edges.flags.writeable = False  # always: another type of array would be compiled by itself
    keys = spread_all(roots.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
    out = [keys]
    for _ in range(levels - 1):
        keys = _look_around(keys, edges, graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours)
        out.append(keys)
    return [level.view(np.int64) for level in out]


def graph_hashes(graphs: GraphSet, levels: int = LEVELS) -> list[str]:
    """sha256 over the rooted neighbourhoods of every graph, with all that its nodes and edges carry.

    Copies of a graph in another node order have equal hashes. So do different graphs that `levels` rounds of
    Weisfeiler-Lehman refinement cannot distinguish.
    """
    nodes = _names(graphs.node_count, graphs.node_labels, graphs.attributes)
    edges = _names(len(graphs.neighbours), graphs.edge_labels, graphs.edge_attributes, graphs.outgoing)
    keys = np.stack(neighbourhood_keys(graphs, nodes, edges, levels))
    bounds = zip(graphs.node_offsets[:-1], graphs.node_offsets[1:], strict=True)
    return [hashlib.sha256(np.sort(keys[:, first:last], axis=1).tobytes()).hexdigest() for first, last in bounds]


def _names(count: int, *columns: NDArray[Any] | None) -> NDArray[np.int64]:
    """A number for everything that a node or an edge end carries, (count,)."""
    values = [np.zeros((count, 1), np.uint8)]
    for place, column in enumerate(columns, start=1):
        if column is not None:
            table = column.reshape(count, -1)
            # + 0.0: no minus zero
            numbers = table.astype("<f8") + 0.0 if table.dtype.kind == "f" else table.astype("<i8")
            values += [np.full((count, 1), place, np.uint8), np.ascontiguousarray(numbers).view(np.uint8)]
    rows, places = np.unique(np.concatenate(values, axis=1), axis=0, return_inverse=True)
    digests = [hashlib.sha256(row.tobytes()).digest()[:8] for row in rows]
    return np.frombuffer(b"".join(digests), "<i8")[places.reshape(-1)]


@kernel
def _look_around(
    keys: NDArray[np.uint64],
    edges: NDArray[np.int64],
    node_offsets: NDArray[np.int64],
    neighbour_offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
) -> NDArray[np.uint64]:
    """One round of refinement; the sum over neighbours makes the order of neighbours irrelevant."""
    out = np.empty_like(keys)
    for graph in range(len(node_offsets) - 1):
        start = node_offsets[graph]
        for node in range(start, node_offsets[graph + 1]):
            around = np.uint64(0)
            for position in range(neighbour_offsets[node], neighbour_offsets[node + 1]):
                word = keys[start + neighbours[position]]
                if len(edges) > 0:
                    word = word ^ spread_bits(np.uint64(edges[position]) + np.uint64(0xD1B54A32D192ED03))
                around += spread_bits(word + np.uint64(0x8CB92BA72F3D8DD7))
            out[node] = spread_bits(keys[node] * np.uint64(3) + around + np.uint64(0xAAAAAAAAAAAAAAAB))
    return out
