"""Many graphs as flat tables straight from a columnar file: checked graph by graph without a loop over graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet, concatenate
from graphglass.graphs.label_codes import class_labels
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import to_float32
from graphglass.wording import setting


@dataclass
class FlatGraphs:
    """Columns of many graphs before they are checked.

    Attributes
    ----------
    positions : int (graphs,)
        Where each graph stands in the file, for its reject.
    edge_graph, sources, targets : int (edges,)
        The graph of each edge, and its end nodes counted inside that graph.
    attributes : float (nodes, width) or None
        NaN marks a value the table does not give.
    faults : dict
        Graph index -> (position, reason) found before.
    directed : bool
        Whether an edge listed in one direction counts as one-way.
    """

    ids: list[str]
    positions: NDArray[np.int64]
    counts: NDArray[np.int64]
    edge_graph: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    labels: list[Any] | None = None
    node_labels: NDArray[np.int64] | None = None
    attributes: NDArray[Any] | None = None
    attribute_names: tuple[str, ...] = ()
    edge_labels: NDArray[np.int64] | None = None
    node_names: NDArray[np.str_] | None = None
    label_names: dict[int, str] = field(default_factory=dict)
    faults: dict[int, tuple[int, str]] = field(default_factory=dict)
    directed: bool = True

    def build(self, options: ReadOptions) -> GraphSet:
        """Leave out what is at fault, and put the rest into the canonical form."""
        limits = options.limits
        limits.check("max_graphs", len(self.ids), "Graphs of the input")
        limits.check("max_nodes", int(self.counts.sum()), "Nodes of the input")
        limits.check("max_edges", len(self.sources), "Edges of the input")
        limits.check("max_attributes", len(self.attribute_names), "Attributes per node")
        offsets = np.concatenate([[0], np.cumsum(self.counts)])
        inside = self._check_edges(limits.graph_excess)
        attributes = self._check_attributes(options.fill)
        for graph, (position, reason) in sorted(self.faults.items(), key=lambda item: item[1][0]):
            options.log.add(position, self.ids[graph], reason)
        filled = self.counts > 0
        if not filled.any():
            return concatenate([])
        keep = np.ones(len(self.ids), bool)
        keep[list(self.faults)] = False
        start = offsets[self.edge_graph[inside]]
        sources, targets = self.sources[inside] + start, self.targets[inside] + start
        if not self.directed:
            sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
        labels = None
        if self.labels is not None:
            labels = class_labels([label for label, some in zip(self.labels, filled, strict=True) if some])
        built = canonical_graph_set(
            self.counts[filled],
            sources,
            targets,
            ids=[name for name, some in zip(self.ids, filled, strict=True) if some],
            node_labels=self.node_labels,
            attributes=attributes,
            attribute_names=self.attribute_names,
            edge_labels=None if self.edge_labels is None else self.edge_labels[inside],
            node_names=self.node_names,
            label_names=self.label_names,
            labels=labels,
        )
        if not self.directed:
            built = replace(built, removed=built.removed * np.array([1, 1, 0]))
        return built if keep[filled].all() else built[keep[filled]]

    def fault(self, graph: int, position: int, reason: str) -> None:
        """Note what is wrong with a graph; the first finding stays."""
        self.faults.setdefault(int(graph), (int(position), reason))

    def _check_edges(self, excess: Callable[[int, int], str | None]) -> NDArray[np.bool_]:
        """Which edges can be used."""
        for graph in np.flatnonzero(self.counts < 1).tolist():
            self.fault(graph, self.positions[graph], "the graph has no nodes")
        listed = np.bincount(self.edge_graph, minlength=len(self.ids))
        for graph, (nodes, edges) in enumerate(zip(self.counts.tolist(), listed.tolist(), strict=True)):
            if reason := excess(nodes, edges):
                self.fault(graph, self.positions[graph], reason)
        bound = self.counts[self.edge_graph]
        inside = (self.sources >= 0) & (self.targets >= 0) & (self.sources < bound) & (self.targets < bound)
        for edge in np.flatnonzero(~inside):
            graph = int(self.edge_graph[edge])
            pair = f"{self.sources[edge]} and {self.targets[edge]}"
            self.fault(graph, self.positions[graph], f"an edge joins nodes {pair}, the nodes are 0..{bound[edge] - 1}")
        return np.asarray(inside)

    def _check_attributes(self, fill: float | None) -> NDArray[np.float32] | None:
        if self.attributes is None:
            return None
        values = self.attributes
        graph_of = np.repeat(np.arange(len(self.ids)), self.counts)
        if fill is not None:
            values = np.where(np.isnan(values), fill, values)
        values = to_float32(values)
        for node in np.flatnonzero(~np.isfinite(values).all(axis=1)):
            name = self.attribute_names[int(np.argmin(np.isfinite(values[node])))]
            graph = graph_of[node]
            what = f"attribute {name!r} of a node is missing, NaN or infinite"
            reason = f"{what}; give it a value or read with {setting('fill', 0.0)}"
            self.fault(graph, self.positions[graph], reason)
        return np.where(np.isfinite(values), values, np.float32(0))
