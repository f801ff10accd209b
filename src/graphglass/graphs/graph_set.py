"""GraphSet: many graphs as a handful of flat arrays, frozen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.ragged import chosen_graphs, offsets, ranges
from graphglass.graphs.reading import ReadingOptions, Reject
from graphglass.messages import no_such_id

COUNT = "count"  # the edge attribute that says how many parallel edges became one

# What one row of each column stands for; selecting, joining and checking go by this table.
ROWS = {
    "labels": "graph", "removed": "graph",
    "node_labels": "node", "attributes": "node", "node_names": "node",
    "atom_environments": "node", "atom_contributions": "node",
    "edge_labels": "end", "edge_attributes": "end", "outgoing": "end",
}  # fmt: skip


class EdgeList(NamedTuple):
    """Each edge once: node rows over the whole set and what the edge carries; each (edges,) or (edges, width)."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    labels: NDArray[np.int64] | None
    attributes: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class GraphSet:
    """A set of simple graphs held column by column.

    Readers and :func:`graphglass.graphs.canonical.canonical_graph_set` build it; the constructor only checks shapes.

    Every edge is stored at both of its ends, whatever its direction: neighbours, offsets and everything measured from
    them are those of the undirected skeleton. In a directed set ``outgoing`` tells which ends are the start of an
    edge, and an end carries the label and attributes of the edge that leaves its node, or, where only the opposite
    edge exists, of that one.

    Attributes
    ----------
    node_offsets : int64 (graphs + 1,)
        Nodes of graph ``i`` are rows ``node_offsets[i]:node_offsets[i + 1]`` of every node array.
    neighbour_offsets : int64 (nodes + 1,)
        Neighbours of node row ``v`` are ``neighbours[neighbour_offsets[v]:neighbour_offsets[v + 1]]``.
    neighbours : int32 (2 * edges,)
        Sorted neighbour indices, LOCAL to the graph (0 is the graph's first node); each joined pair is stored twice.
    ids : tuple of str (graphs,)
    labels : (graphs,) or None
        Raw class labels as they were read, only ever used by benchmarks.
    node_labels : int64 (nodes,) or None
        Discrete node types (atomic number, residue, hashed string).
    attributes : float32 (nodes, width) or None
        Continuous node attributes.
    attribute_names : tuple of str (width,)
    edge_labels : int64 (2 * edges,) or None
        Discrete edge types aligned with ``neighbours``.
    edge_attributes : float64 (2 * edges, width) or None
        Numbers of every edge, aligned with ``neighbours``; double precision because times and amounts need it.
    edge_attribute_names : tuple of str (width,)
    outgoing : bool (2 * edges,) or None
        Directed sets: whether an edge points from the node to this neighbour. True at both ends of a pair means one
        edge in each direction. None for an undirected set.
    node_names : (nodes,) str or None
        The caller's node identifiers where they are not 0..n-1.
    atom_environments, atom_contributions : int64 (nodes, 3), float64 (nodes, width) or None
        Molecules only, see :mod:`graphglass.graphs.chemistry`.
    label_names : mapping int -> str
        What a node or edge label stood for when it was text.
    code_names : mapping str -> mapping int -> str
        What numbers stand for as labels of nodes (under ``node``) and edges (``edge``), where the format documents it.
    removed : int64 (graphs, 3)
        Self-loops and repeated edges removed, one-way edges completed, per graph.
    columns : mapping str -> (graphs,)
        The caller's own columns, such as names or SMILES: bool, int64, float64, or objects (text; None where a value is
        missing). They follow the graphs through selection, joining and writing, and no score depends on them.
    rejected : tuple of Reject
        The records of the input that could not be read; none of a selection.
    reading : ReadingOptions or None
        How the graphs were read, if from a file or objects.

    Examples
    --------
    >>> from graphglass import read_graphs
    >>> triangle = {"id": "triangle", "nodes": 3, "edges": [[0, 1], [1, 2], [2, 0]]}
    >>> graphs = read_graphs([triangle, {"id": "node", "nodes": 1}])
    >>> graphs.sizes.tolist(), graphs.edge_counts.tolist()
    ([3, 1], [3, 0])
    >>> graphs[graphs.sizes > 1].ids
    ('triangle',)
    """

    node_offsets: NDArray[np.int64]
    neighbour_offsets: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    ids: tuple[str, ...]
    labels: NDArray[Any] | None = None
    node_labels: NDArray[np.int64] | None = None
    attributes: NDArray[np.float32] | None = None
    attribute_names: tuple[str, ...] = ()
    edge_labels: NDArray[np.int64] | None = None
    edge_attributes: NDArray[np.float64] | None = None
    edge_attribute_names: tuple[str, ...] = ()
    outgoing: NDArray[np.bool_] | None = None
    node_names: NDArray[np.str_] | None = None
    atom_environments: NDArray[np.int64] | None = None
    atom_contributions: NDArray[np.float64] | None = None
    label_names: Mapping[int, str] = field(default_factory=dict)
    code_names: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    removed: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    rejected: tuple[Reject, ...] = ()
    reading: ReadingOptions | None = None

    def __post_init__(self) -> None:
        graphs = len(self)
        if self.removed.shape[0] == 0 and graphs:
            object.__setattr__(self, "removed", np.zeros((graphs, 3), np.int64))
        lengths = {"graph": graphs, "node": self.node_count, "end": len(self.neighbours)}
        expected = {"ids": graphs, "neighbour_offsets": self.node_count + 1}
        for name, length in (expected | {name: lengths[kind] for name, kind in ROWS.items()}).items():
            value = getattr(self, name)
            if value is not None and len(value) != length:
                raise GraphError(f"GraphSet.{name} must have {length} rows, found {len(value)}.")
        for name, value in self.columns.items():
            if np.shape(value) != (graphs,):
                found = f"found shape {np.shape(value)}"
                raise GraphError(f"GraphSet.columns[{name!r}] must have {graphs} values, {found}.")
        for name, stem in (("attribute", "attribute"), ("edge_attribute", "value")):
            table = getattr(self, f"{name}s")
            if table is not None and len(getattr(self, f"{name}_names")) != table.shape[1]:
                object.__setattr__(self, f"{name}_names", tuple(f"{stem}_{i}" for i in range(table.shape[1])))
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, item.name, _frozen(value))
        object.__setattr__(self, "columns", {name: _frozen(np.asarray(v)) for name, v in self.columns.items()})

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def __repr__(self) -> str:
        kind = "directed graphs" if self.directed else "graphs"
        parts = [f"{len(self)} {kind}", f"{self.node_count} nodes", f"{self.edge_count} edges"]
        for name in ("node_labels", "attributes", "edge_labels", "edge_attributes"):
            value, words = getattr(self, name), name.replace("_", " ")
            if value is not None:
                parts.append(words if value.ndim == 1 else f"{value.shape[1]} {words}")
        return f"GraphSet({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from graphglass.drawing.notebook import graph_set_html

        return graph_set_html(self)

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self.outgoing is not None

    @property
    def node_count(self) -> int:
        return int(self.node_offsets[-1])

    @property
    def edge_count(self) -> int:
        return len(self.neighbours) // 2

    @cached_property
    def distinct_labels(self) -> dict[str, NDArray[np.int64]]:
        """The labels that occur at nodes (under ``node``) and edges (``edge``), ascending, where there are labels."""
        labels = {"node": self.node_labels, "edge": self.edge_labels}
        return {kind: np.unique(codes) for kind, codes in labels.items() if codes is not None}

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Nodes per graph, (graphs,)."""
        return np.diff(self.node_offsets)

    @property
    def edge_counts(self) -> NDArray[np.int64]:
        """Undirected edges per graph, (graphs,)."""
        return np.diff(self.neighbour_offsets[self.node_offsets]) // 2

    @property
    def node_graph(self) -> NDArray[np.int64]:
        """The graph index of every node row, (nodes,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def global_neighbours(self) -> NDArray[np.int64]:
        """Neighbour node rows counted over the whole set, (2 * edges,)."""
        ends_per_graph = np.diff(self.neighbour_offsets[self.node_offsets])
        return self.neighbours.astype(np.int64) + np.repeat(self.node_offsets[:-1], ends_per_graph)

    @property
    def end_nodes(self) -> NDArray[np.int64]:
        """The node row that every stored end belongs to, (2 * edges,)."""
        return np.repeat(np.arange(self.node_count), np.diff(self.neighbour_offsets))

    @property
    def opposite_ends(self) -> NDArray[np.int64]:
        """Where the other end of every stored end is found, (2 * edges,)."""
        # Ends are sorted by row and column; sorted by column and row, each is at the place of its other end.
        return np.argsort(self.global_neighbours, kind="stable")

    def edge_list(self) -> EdgeList:
        """Each edge once: of an undirected set with the source below the target, of a directed one as it points."""
        rows, columns = self.end_nodes, self.global_neighbours
        once = rows < columns if self.outgoing is None else self.outgoing
        labels = None if self.edge_labels is None else self.edge_labels[once]
        attributes = None if self.edge_attributes is None else self.edge_attributes[once]
        return EdgeList(rows[once], columns[once], labels, attributes)

    def __getitem__(self, key: int | np.integer[Any] | slice | str | Sequence[int | str] | NDArray[Any]) -> GraphSet:
        """Select graphs by integer or id (a set of one), slice, index array, list of ids or boolean mask."""
        if isinstance(key, str) or (isinstance(key, list | tuple) and any(isinstance(item, str) for item in key)):
            key = [self.place(item) for item in ([key] if isinstance(key, str) else key)]
        # Only what the chosen graphs hold is touched: taking one graph costs its own size, not the set's.
        chosen = chosen_graphs(key, len(self))
        sizes = self.node_offsets[chosen + 1] - self.node_offsets[chosen]
        nodes = ranges(self.node_offsets[chosen], sizes)
        degrees = self.neighbour_offsets[nodes + 1] - self.neighbour_offsets[nodes]
        ends = ranges(self.neighbour_offsets[nodes], degrees)
        return replace(
            self,
            node_offsets=offsets(sizes),
            neighbour_offsets=offsets(degrees),
            neighbours=self.neighbours[ends],
            ids=tuple(self.ids[i] for i in chosen),
            rejected=(),
            **self.rows_at({"graph": chosen, "node": nodes, "end": ends}),
        )

    def place(self, identifier: str | int) -> int:
        """The place of the graph with an id; a mistyped id is refused with the nearest ones."""
        if isinstance(identifier, str) and identifier in self._places:
            return self._places[identifier]
        for reject in self.rejected:
            if reject.id == identifier:
                raise GraphError(f"The record {identifier!r:.60} could not be read: {reject.reason}.")
        raise GraphError(no_such_id("graph", identifier, self.ids))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.ids)}

    def rows_at(self, places: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """Rows of all arrays the set has, chosen by index or mask for each of ``graph``, ``node`` and ``end``."""
        found = {name: (getattr(self, name), kind) for name, kind in ROWS.items()}
        rows = {name: value[places[kind]] for name, (value, kind) in found.items() if value is not None}
        if self.columns:
            rows["columns"] = {name: value[places["graph"]] for name, value in self.columns.items()}
        return rows

    def __iter__(self) -> Iterator[GraphSet]:
        return (self[i] for i in range(len(self)))

    def __add__(self, other: GraphSet) -> GraphSet:
        from graphglass.graphs.concatenation import concatenate

        return concatenate([self, other])

    def without_labels(self) -> GraphSet:
        """The same graphs with no class label attached."""
        return replace(self, labels=None)

    def structure_only(self) -> GraphSet:
        """The undirected skeletons without labels or attributes: what graphs of any domain share."""
        return replace(
            self, node_labels=None, attributes=None, attribute_names=(), edge_labels=None, edge_attributes=None,
            edge_attribute_names=(), outgoing=None, label_names={}, code_names={}, atom_environments=None,
            atom_contributions=None,
        )  # fmt: skip

    def without_nodes(self, nodes: NDArray[np.int64]) -> GraphSet:
        """A single graph without some of its nodes and without their edges."""
        if len(self) != 1:
            raise GraphError(f"Nodes are deleted from one graph at a time, found {len(self)}.")
        keep = np.ones(self.node_count, dtype=bool)
        keep[nodes] = False
        if not keep.any():
            raise GraphError("Deleting every node leaves no graph.")
        renumber, ends = np.cumsum(keep) - 1, keep[self.end_nodes] & keep[self.neighbours]
        degrees = np.bincount(renumber[self.end_nodes[ends]], minlength=int(keep.sum()))
        return replace(
            self,
            node_offsets=np.array([0, keep.sum()]),
            neighbour_offsets=offsets(degrees),
            neighbours=renumber[self.neighbours[ends]].astype(np.int32),
            **self.rows_at({"graph": np.ones(1, bool), "node": keep, "end": ends}),
        )

    def as_directed(self) -> GraphSet:
        """The same graphs as a directed set; an undirected edge becomes one edge in each direction."""
        return self if self.directed else replace(self, outgoing=np.ones(len(self.neighbours), np.bool_))

    def content_hashes(self) -> tuple[str, ...]:
        """A sha256 per graph over its edges, labels, attributes and directions, as ordered in memory.

        Ids and class labels do not enter. Isomorphic graphs with another node order hash differently.
        """
        hashes = []
        for first, last in pairwise(self.node_offsets):
            nodes = slice(first, last)
            ends = slice(self.neighbour_offsets[first], self.neighbour_offsets[last])
            digest = hashlib.sha256(np.diff(self.neighbour_offsets[first : last + 1]).tobytes())
            digest.update(self.neighbours[ends].tobytes())
            for value, rows in ((self.node_labels, nodes), (self.attributes, nodes), (self.edge_labels, ends)):
                digest.update(b"|" if value is None else np.ascontiguousarray(value[rows]).tobytes())
            for name in ("edge_attributes", "outgoing"):  # sets without them keep the hashes they always had
                if (value := getattr(self, name)) is not None:
                    digest.update(name.encode() + np.ascontiguousarray(value[ends]).tobytes())
            hashes.append(digest.hexdigest())
        return tuple(hashes)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()  # so freezing this set does not freeze an array the caller still owns
    view.flags.writeable = False
    return view
