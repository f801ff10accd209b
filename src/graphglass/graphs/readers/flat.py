"""Many graphs as flat tables, checked graph by graph without a loop over graphs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import COUNT, GraphSet
from graphglass.graphs.labels import class_labels
from graphglass.graphs.ragged import offsets
from graphglass.graphs.readers.options import ReadOptions
from graphglass.messages import setting

_ROWS = {
    "ids": "graph", "positions": "graph", "counts": "graph", "labels": "graph", "listed_once": "graph",
    "node_labels": "node", "attributes": "node", "node_names": "node",
    "atom_environments": "node", "atom_contributions": "node",
    "edge_graph": "edge", "sources": "edge", "targets": "edge", "edge_labels": "edge", "edge_attributes": "edge",
}  # fmt: skip

_FEW = 10  # values that may ascend or differ by chance
_IDENTIFIER = re.compile(r"(^|[^a-z])(id|uuid|guid|idx|rownum|serial)$|[a-z](Id|ID)$", re.IGNORECASE)
_EPOCHS = [(6e8 * unit, 2.2e9 * unit) for unit in (1.0, 1e3, 1e6, 1e9)]  # 1989 to 2039, in seconds and smaller units
_ROUNDING = 0.01  # of an attribute's deviation: what rounding to float32 may change without a note


@dataclass
class FlatGraphs:
    """Columns of many graphs before they are checked."""

    ids: list[str]
    positions: NDArray[np.int64]  # (graphs,): where each graph is found in the input, for its reject
    counts: NDArray[np.int64]
    edge_graph: NDArray[Any]  # (edges,): the graph of each edge, and its end nodes as rows over the whole set
    sources: NDArray[Any]
    targets: NDArray[Any]
    labels: list[Any] | NDArray[Any] | None = None
    node_labels: NDArray[np.int64] | None = None
    # NaN marks a value the input does not give; a missing ``count`` of an edge is 1.
    attributes: NDArray[Any] | None = None
    attribute_names: tuple[str, ...] = ()
    edge_labels: NDArray[np.int64] | None = None
    edge_attributes: NDArray[np.float64] | None = None
    edge_attribute_names: tuple[str, ...] = ()
    node_names: NDArray[np.str_] | None = None
    label_names: dict[int, str] = field(default_factory=dict)
    code_names: dict[str, dict[int, str]] = field(default_factory=dict)
    # Graph index -> (position, reason); these graphs are left out.
    faults: dict[int, tuple[int, str]] = field(default_factory=dict)
    inside: bool = False  # whether all edges of graphs without a fault are known to stay inside their graph
    directed: bool = False  # whether the set becomes a directed one
    # Graphs whose edges have no direction and are listed once, in any order of their ends. Elsewhere an undirected edge
    # is expected in both directions, and one listed in a single direction counts as one-way.
    listed_once: NDArray[np.bool_] | None = None
    columns: dict[str, list[Any]] = field(default_factory=dict)
    atom_environments: NDArray[np.int64] | None = None
    atom_contributions: NDArray[np.float64] | None = None
    # Where attributes come from: ``fixed`` by the format, ``stated`` to be attributes by the input, or ``free``: any
    # numeric column, which may also be a row number or a date.
    source: str = "fixed"

    def fault(self, graph: int, reason: str, position: int | None = None) -> None:
        """Note what is wrong with a graph; the first finding stays."""
        self.faults.setdefault(int(graph), (int(self.positions[graph] if position is None else position), reason))

    def build(self, options: ReadOptions) -> GraphSet:
        """Leave out what is at fault, and put the rest into the canonical form."""
        for bound, found, what in (
            ("max_graphs", len(self.ids), "Graphs of the input"),
            ("max_nodes", int(self.counts.sum()), "Nodes of the input"),
            ("max_edges", len(self.sources), "Edges of the input"),
            ("max_attributes", len(self.attribute_names), "Attributes per node"),
            ("max_attributes", len(self.edge_attribute_names), "Attributes per edge"),
        ):
            options.limits.check(bound, found, what)
        if self.source != "fixed":
            self.attributes, self.attribute_names = self._compared(
                "node", self.attributes, self.attribute_names, options
            )
            self.edge_attributes, self.edge_attribute_names = self._compared(
                "edge", self.edge_attributes, self.edge_attribute_names, options
            )
        self._check_sizes(options)
        if not self.inside:
            self._check_edges()
        attributes = self._checked("node", self.attributes, self.attribute_names, options)
        edge_attributes = self._checked("edge", self.edge_attributes, self.edge_attribute_names, options)
        for graph, (position, reason) in sorted(self.faults.items(), key=lambda item: item[1][0]):
            own = {name: values[graph] for name, values in self.columns.items()}
            options.log.add(position, self.ids[graph], reason, own, start=int(self.positions[graph]))
        sound = replace(self, attributes=attributes, edge_attributes=edge_attributes)._without_faults()
        options.log.positions = sound.positions
        return sound._canonical(options) if sound.ids else concatenate([])

    def _compared(
        self, owner: str, values: NDArray[Any] | None, names: tuple[str, ...], options: ReadOptions
    ) -> tuple[NDArray[Any] | None, tuple[str, ...]]:
        """The attributes without those that the caller ignores and those that only identify or date a row."""
        ignored = {name.lower() for name in options.ignore}
        options.log.ignorable.update(dict.fromkeys(names))
        kept = []
        for place, name in enumerate(names):
            if name.lower() in ignored:
                options.log.ignored[name] = None
                continue
            judged = (self.source == "free" or owner in options.log.free) and not options.uses(name)
            kind = None
            if judged and values is not None:
                kind = "dates" if name in options.log.dates else column_kind(name, values[:, place].astype(np.float64))
            if kind is None:
                kept.append(place)
            else:
                options.log.leave_out(owner, name, kind)
        if len(kept) == len(names) or values is None:
            return values, names
        return (values[:, kept] if kept else None), tuple(names[place] for place in kept)

    def _canonical(self, options: ReadOptions) -> GraphSet:
        sources, targets, codes, numbers = self.sources, self.targets, self.edge_labels, self.edge_attributes
        if self.listed_once is not None and self.listed_once.any():
            once = self.listed_once[self.edge_graph]
            if self.directed:
                back = np.flatnonzero(once & (sources != targets))
                sources, targets = np.append(sources, targets[back]), np.append(targets, sources[back])
                codes = None if codes is None else np.append(codes, codes[back])
                numbers = None if numbers is None else np.concatenate([numbers, numbers[back]])
            else:
                low, high = np.minimum(sources, targets), np.maximum(sources, targets)
                sources, targets = np.where(once, low, sources), np.where(once, high, targets)
        built = canonical_graph_set(
            self.counts,
            sources,
            targets,
            ids=self.ids,
            labels=class_labels(self.labels) if isinstance(self.labels, list) else self.labels,
            node_labels=self.node_labels,
            attributes=self.attributes,
            attribute_names=self.attribute_names,
            edge_labels=codes,
            edge_attributes=numbers,
            edge_attribute_names=self.edge_attribute_names,
            directed=self.directed,
            merge=options.merge,
            node_names=self.node_names,
            label_names=self.label_names,
            columns=self.columns,
        )
        removed = built.removed.copy()
        if self.listed_once is not None:
            removed[self.listed_once, 2] = 0
        return replace(
            built,
            removed=removed,
            code_names=self.code_names,
            atom_environments=self.atom_environments,
            atom_contributions=self.atom_contributions,
        )

    def _without_faults(self) -> FlatGraphs:
        if not self.faults:
            return self
        keep = np.ones(len(self.ids), bool)
        keep[list(self.faults)] = False
        masks = {"graph": keep, "node": np.repeat(keep, self.counts), "edge": keep[self.edge_graph]}
        found = {name: (getattr(self, name), masks[kind]) for name, kind in _ROWS.items()}
        rows = {name: _chosen(value, mask) for name, (value, mask) in found.items() if value is not None}
        nodes = np.cumsum(masks["node"]) - 1  # the new row of every node
        rows |= {name: nodes[rows[name]] for name in ("sources", "targets")}
        rows["edge_graph"] = (np.cumsum(keep) - 1)[rows["edge_graph"]]
        return replace(self, **rows, columns={name: _chosen(value, keep) for name, value in self.columns.items()})

    def _check_sizes(self, options: ReadOptions) -> None:
        for graph in np.flatnonzero(self.counts < 1).tolist():
            self.fault(graph, "the graph has no nodes")
        listed = np.bincount(self.edge_graph, minlength=len(self.ids))
        limits = options.limits
        over = (self.counts > limits.max_nodes_per_graph) | (listed > limits.max_edges_per_graph)
        for graph in np.flatnonzero(over).tolist():
            self.fault(graph, str(limits.graph_excess(int(self.counts[graph]), int(listed[graph]))))

    def _check_edges(self) -> None:
        """A graph with an edge that joins nodes of another one is at fault."""
        starts = offsets(self.counts)
        low, high = starts[self.edge_graph], starts[self.edge_graph + 1]
        good = [(low <= ends) & (ends < high) for ends in (self.sources, self.targets)]
        for edge in np.flatnonzero(~(good[0] & good[1])):
            worst = (self.targets if good[0][edge] else self.sources)[edge]
            reason = f"an edge names node {worst - low[edge]}, but the nodes are 0..{high[edge] - low[edge] - 1}"
            self.fault(self.edge_graph[edge], reason)

    def _checked(
        self, owner: str, values: NDArray[Any] | None, names: tuple[str, ...], options: ReadOptions
    ) -> NDArray[Any] | None:
        """Attributes with missing values filled; a graph with others that are not finite is at fault."""
        if values is None:
            return None
        if owner == "node":  # what float32 cannot hold becomes infinite and is refused below
            with np.errstate(over="ignore"):
                given, values = values, values.astype(np.float32)
            for name, exact, rounded in zip(names, given.T, values.T, strict=True):
                if _rounding_shows(exact, rounded):
                    options.log.note(
                        f"node attribute {name!r} is stored with seven digits, too few to distinguish its values; "
                        "subtract a constant, such as the smallest value, from all of them"
                    )
        elif COUNT in names:
            place = names.index(COUNT)
            values = values.copy()
            values[np.isnan(values[:, place]), place] = 1.0
        if options.fill is not None:
            values = np.where(np.isnan(values), values.dtype.type(options.fill), values)
        finite = np.isfinite(values)
        starts = offsets(self.counts)
        for row in np.flatnonzero(~finite.all(axis=1)):
            column = int(np.argmin(finite[row]))
            if owner == "node":
                graph = int(np.searchsorted(starts, row, side="right")) - 1
                first = starts[graph]
            else:
                graph = int(self.edge_graph[row])
                first = np.argmax(self.edge_graph == graph)
            named = owner == "node" and self.node_names is not None
            called = f"node {str(self.node_names[row])!r}" if named else f"{owner} {row - first}"  # type: ignore[index]
            if np.isnan(values[row, column]):
                hint = f"give it a value or read with {setting('fill', 0.0)}"
                self.fault(graph, f"{called} has no attribute {names[column]!r}; {hint}")
            else:
                self.fault(graph, f"attribute {names[column]!r} of {called} is infinite or too large")
        return values


def _rounding_shows(exact: NDArray[Any], rounded: NDArray[np.float32]) -> bool:
    """Whether rounding moves a finite value by more than a hundredth of the deviation of all of them."""
    finite = np.isfinite(rounded)
    exact, rounded = exact[finite], rounded[finite]
    if not len(exact) or np.ptp(exact) == 0:
        return False
    return bool(np.abs(exact - rounded).max() > _ROUNDING * exact.std())


def _chosen(values: Any, mask: NDArray[np.bool_]) -> Any:
    return values[mask] if isinstance(values, np.ndarray) else list(compress(values, mask))


def column_kind(name: str, column: NDArray[np.float64]) -> str | None:
    """What the values are if they should not be compared, as a plural noun; None for ordinary numbers.

    Numbers that identify or date a row would make every new graph look unusual.
    """
    values = column[np.isfinite(column)]
    if len(values) < 3 or values.min() == values.max():
        return None
    low, high = float(values.min()), float(values.max())
    if any(first <= low and high < last for first, last in _EPOCHS):
        return "time stamps"
    whole = bool((values == np.round(values)).all())
    if whole and 19000101 <= low and high <= 21001231:
        months, days = values // 100 % 100, values % 100
        if ((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all():
            return "dates"
    if len(values) < _FEW:
        return None
    distinct = len(np.unique(values))
    steps = np.diff(values)
    if distinct == len(values) and (whole or len(values) >= 5 * _FEW) and ((steps > 0).all() or (steps < 0).all()):
        return "running numbers"
    if whole and distinct == len(values) == high - low + 1:
        return "running numbers"
    if whole and _IDENTIFIER.search(name) and distinct > 2 * _FEW:
        return "identifiers"
    equally_long = low > 0 and len(f"{low:.0f}") == len(f"{high:.0f}") >= 5
    return "identifiers" if whole and equally_long and distinct == len(values) >= 2 * _FEW else None
