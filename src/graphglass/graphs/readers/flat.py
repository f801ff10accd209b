"""Many graphs as flat tables, checked graph by graph without a loop over graphs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import COUNT, GraphSet
from graphglass.graphs.joining import concatenate
from graphglass.graphs.label_codes import class_labels
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.selection import offsets
from graphglass.wording import setting


@dataclass
class FlatGraphs:
    """Columns of many graphs before they are checked.

    Attributes
    ----------
    positions : int (graphs,)
        Where each graph is found in the input, for its reject.
    edge_graph, sources, targets : int (edges,)
        The graph of each edge, and its end nodes as rows over the whole set.
    attributes : float (nodes, width) or None
        NaN marks a value the input does not give.
    edge_attributes : float (edges, width) or None
        As `attributes`; a missing ``count`` is 1.
    faults : dict
        Graph index -> (position, reason) found before.
    inside : bool (edges,) or None
        Which edges stay inside their graph, if that is known already.
    directed : bool
        Whether the set becomes a directed one.
    listed_once : bool (graphs,) or None
        Graphs whose edges have no direction and are listed once, in any order of their ends. Elsewhere an undirected
        edge is expected in both directions, and one listed in a single direction counts as one-way.
    """

    ids: list[str]
    positions: NDArray[np.int64]
    counts: NDArray[np.int64]
    edge_graph: NDArray[Any]
    sources: NDArray[Any]
    targets: NDArray[Any]
    labels: list[Any] | NDArray[Any] | None = None
    node_labels: NDArray[np.int64] | None = None
    attributes: NDArray[Any] | None = None
    attribute_names: tuple[str, ...] = ()
    edge_labels: NDArray[np.int64] | None = None
    edge_attributes: NDArray[np.float64] | None = None
    edge_attribute_names: tuple[str, ...] = ()
    node_names: NDArray[np.str_] | None = None
    label_names: dict[int, str] = field(default_factory=dict)
    faults: dict[int, tuple[int, str]] = field(default_factory=dict)
    inside: NDArray[np.bool_] | None = None
    directed: bool = False
    listed_once: NDArray[np.bool_] | None = None
    columns: dict[str, list[Any]] = field(default_factory=dict)
    atom_environments: NDArray[np.int64] | None = None
    atom_contributions: NDArray[np.float64] | None = None

    def build(self, options: ReadOptions) -> GraphSet:
        """Leave out what is at fault, and put the rest into the canonical form."""
        limits = options.limits
        limits.check("max_graphs", len(self.ids), "Graphs of the input")
        limits.check("max_nodes", int(self.counts.sum()), "Nodes of the input")
        limits.check("max_edges", len(self.sources), "Edges of the input")
        limits.check("max_attributes", len(self.attribute_names), "Attributes per node")
        limits.check("max_attributes", len(self.edge_attribute_names), "Attributes per edge")
        self._check_sizes(options)
        inside = self._edges_inside() if self.inside is None else self.inside
        node_graph = np.repeat(np.arange(len(self.ids)), self.counts)
        attributes = self._checked(self.attributes, self.attribute_names, node_graph, "node", options.fill)
        numbers = self._checked(self.edge_attributes, self.edge_attribute_names, self.edge_graph, "edge", options.fill)
        for graph, (position, reason) in sorted(self.faults.items(), key=lambda item: item[1][0]):
            options.log.add(position, self.ids[graph], reason)
        filled = self.counts > 0
        if not filled.any():
            return concatenate([])
        sources, targets, codes = self.sources, self.targets, self.edge_labels
        edge_graph = self.edge_graph
        if not inside.all():
            sources, targets, edge_graph = sources[inside], targets[inside], edge_graph[inside]
            codes = None if codes is None else codes[inside]
            numbers = None if numbers is None else numbers[inside]
        if self.listed_once is not None and self.listed_once.any():
            once = self.listed_once[edge_graph]
            if self.directed:
                back = np.flatnonzero(once & (sources != targets))
                sources, targets = np.append(sources, targets[back]), np.append(targets, sources[back])
                codes = None if codes is None else np.append(codes, codes[back])
                numbers = None if numbers is None else np.concatenate([numbers, numbers[back]])
            else:
                low, high = np.minimum(sources, targets), np.maximum(sources, targets)
                sources, targets = np.where(once, low, sources), np.where(once, high, targets)
        labels = self.labels
        if labels is not None:
            kept = [label for label, some in zip(labels, filled, strict=True) if some]
            labels = labels[filled] if isinstance(labels, np.ndarray) else class_labels(kept)
        built = canonical_graph_set(
            self.counts[filled],
            sources,
            targets,
            ids=[name for name, some in zip(self.ids, filled, strict=True) if some],
            node_labels=self.node_labels,
            attributes=attributes,
            attribute_names=self.attribute_names,
            edge_labels=codes,
            edge_attributes=numbers,
            edge_attribute_names=self.edge_attribute_names,
            directed=self.directed,
            merge=options.merge,
            node_names=self.node_names,
            label_names=self.label_names,
            labels=labels,
            columns={name: [v for v, some in zip(values, filled, strict=True) if some]
                     for name, values in self.columns.items()},
        )  # fmt: skip
        removed = built.removed.copy()
        if self.listed_once is not None:
            removed[self.listed_once[filled], 2] = 0
        built = replace(
            built,
            removed=removed,
            atom_environments=self.atom_environments,
            atom_contributions=self.atom_contributions,
        )
        keep = np.ones(len(self.ids), bool)
        keep[list(self.faults)] = False
        return built if keep[filled].all() else built[keep[filled]]

    def fault(self, graph: int, position: int, reason: str) -> None:
        """Note what is wrong with a graph; the first finding stays."""
        self.faults.setdefault(int(graph), (int(position), reason))

    def _check_sizes(self, options: ReadOptions) -> None:
        for graph in np.flatnonzero(self.counts < 1).tolist():
            self.fault(graph, self.positions[graph], "the graph has no nodes")
        listed = np.bincount(self.edge_graph, minlength=len(self.ids))
        limits = options.limits
        over = (self.counts > limits.max_nodes_per_graph) | (listed > limits.max_edges_per_graph)
        for graph in np.flatnonzero(over).tolist():
            reason = limits.graph_excess(int(self.counts[graph]), int(listed[graph]))
            self.fault(graph, self.positions[graph], str(reason))

    def _edges_inside(self) -> NDArray[np.bool_]:
        """Which edges join nodes of their own graph; a graph with others is at fault."""
        starts = offsets(self.counts)
        low, high = starts[self.edge_graph], starts[self.edge_graph + 1]
        good = [(low <= ends) & (ends < high) for ends in (self.sources, self.targets)]
        for edge in np.flatnonzero(~(good[0] & good[1])):
            graph, worst = int(self.edge_graph[edge]), (self.targets if good[0][edge] else self.sources)[edge]
            reason = f"an edge names node {worst - low[edge]}, but the nodes are 0..{high[edge] - low[edge] - 1}"
            self.fault(graph, self.positions[graph], reason)
        return np.asarray(good[0] & good[1])

    def _checked(
        self,
        values: NDArray[Any] | None,
        names: tuple[str, ...],
        graph_of: NDArray[np.int64],
        owner: str,
        fill: float | None,
    ) -> NDArray[Any] | None:
        """Attributes with missing values filled; a graph with others that are not finite is at fault."""
        if values is None:
            return None
        if owner == "node":  # what float32 cannot hold becomes infinite and is refused below
            with np.errstate(over="ignore"):
                values = values.astype(np.float32)
        elif COUNT in names:
            place = names.index(COUNT)
            values = values.copy()
            values[np.isnan(values[:, place]), place] = 1.0
        if fill is not None:
            values = np.where(np.isnan(values), values.dtype.type(fill), values)
        finite = np.isfinite(values)
        if finite.all():
            return values
        for row in np.flatnonzero(~finite.all(axis=1)).tolist():
            column, graph = int(np.argmin(finite[row])), int(graph_of[row])
            hint = f"give it a value or read with {setting('fill', 0.0)}"
            if np.isnan(values[row, column]):
                what = f"{self._called(owner, row, graph)} has no attribute {names[column]!r}; {hint}"
            else:
                what = f"attribute {names[column]!r} of {self._called(owner, row, graph)} is infinite or too large"
            self.fault(graph, self.positions[graph], what)
        return np.where(finite, values, values.dtype.type(0))

    def _called(self, owner: str, row: int, graph: int) -> str:
        first = int(self.counts[:graph].sum()) if owner == "node" else int(np.argmax(self.edge_graph == graph))
        if owner == "node" and self.node_names is not None:
            return f"node {str(self.node_names[row])!r}"
        return f"{owner} {row - first}"
