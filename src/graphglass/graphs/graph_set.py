"""GraphSet: many graphs as a handful of flat arrays, frozen."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphglass.errors import GraphError, SchemaError
from graphglass.wording import listing

REMOVED = ("self_loops", "multi_edges", "one_way")


@dataclass(frozen=True, eq=False)
class GraphSet:
    """A set of undirected simple graphs held column by column.

    Build one with :func:`graphglass.graphs.canonical.canonical_graph_set` or a reader; the constructor only checks
    shapes.

    Attributes
    ----------
    node_offsets : int64 (graphs + 1,)
        Nodes of graph ``i`` are rows ``node_offsets[i]:node_offsets[i + 1]`` of every node array.
    neighbour_offsets : int64 (nodes + 1,)
        Neighbours of node row ``v`` are ``neighbours[neighbour_offsets[v]:neighbour_offsets[v + 1]]``.
    neighbours : int32 (2 * edges,)
        Sorted neighbour indices, LOCAL to the graph (0 is the graph's first node); each edge stands twice.
    ids : tuple of str (graphs,)
    labels : (graphs,) or None
        Raw class labels as they were read, only ever used by benchmarks.
    node_labels : int64 (nodes,) or None
        Discrete node types (atomic number, residue, hashed string).
    attributes : float32 (nodes, width) or None
        Continuous node attributes.
    attribute_names : tuple of str (width,)
    edge_labels : int64 (2 * edges,) or None
        Discrete edge types aligned with ``neighbours``; both directions carry the same value.
    node_names : (nodes,) str or None
        The caller's node identifiers where they are not 0..n-1.
    label_names : mapping int -> str
        What a node or edge label stood for when it was text.
    removed : int64 (graphs, 3)
        Self-loops and repeated edges removed, one-way edges completed, per graph (:data:`REMOVED`).
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
    node_names: NDArray[np.str_] | None = None
    label_names: Mapping[int, str] = field(default_factory=dict)
    removed: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), np.int64))

    def __post_init__(self) -> None:
        graphs, nodes, ends = len(self.node_offsets) - 1, int(self.node_offsets[-1]), len(self.neighbours)
        if self.removed.shape[0] == 0 and graphs:
            object.__setattr__(self, "removed", np.zeros((graphs, 3), np.int64))
        expected = {
            "ids": graphs, "labels": graphs, "removed": graphs, "neighbour_offsets": nodes + 1,
            "node_labels": nodes, "attributes": nodes, "node_names": nodes, "edge_labels": ends,
        }  # fmt: skip
        for name, length in expected.items():
            value = getattr(self, name)
            if value is not None and len(value) != length:
                raise GraphError(f"GraphSet.{name} must have {length} rows, found {len(value)}.")
        if self.attributes is not None and len(self.attribute_names) != self.attributes.shape[1]:
            names = tuple(f"attribute_{i}" for i in range(self.attributes.shape[1]))
            object.__setattr__(self, "attribute_names", names)
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                # A view, so that freezing this set does not freeze an array the caller still owns.
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, item.name, view)

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def __repr__(self) -> str:
        parts = [f"{len(self)} graphs", f"{self.node_count} nodes", f"{self.edge_count} edges"]
        if self.node_labels is not None:
            parts.append("node labels")
        if self.attributes is not None:
            parts.append(f"{self.attributes.shape[1]} attributes")
        if self.edge_labels is not None:
            parts.append("edge labels")
        return f"GraphSet({', '.join(parts)})"

    @property
    def node_count(self) -> int:
        return int(self.node_offsets[-1])

    @property
    def edge_count(self) -> int:
        return len(self.neighbours) // 2

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

    def edge_list(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
        """Each edge once: node rows over the whole set, source below target, and the edge labels; each (edges,)."""
        rows = np.repeat(np.arange(self.node_count), np.diff(self.neighbour_offsets))
        columns = self.global_neighbours
        once = rows < columns
        return rows[once], columns[once], None if self.edge_labels is None else self.edge_labels[once]

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> GraphSet: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> GraphSet: ...
    def __getitem__(self, key: Any) -> GraphSet:
        """Select graphs by integer (a set of one), slice, index array or boolean mask."""
        return self._take(chosen_graphs(key, len(self)))

    def _take(self, chosen: NDArray[np.int64]) -> GraphSet:
        # Only what the chosen graphs hold is touched: taking one graph costs its own size, not the set's.
        sizes = self.node_offsets[chosen + 1] - self.node_offsets[chosen]
        nodes = ranges(self.node_offsets[chosen], sizes)
        degrees = self.neighbour_offsets[nodes + 1] - self.neighbour_offsets[nodes]
        ends = ranges(self.neighbour_offsets[nodes], degrees)

        def rows(value: NDArray[Any] | None, index: NDArray[np.int64]) -> Any:
            return None if value is None else value[index]

        return replace(
            self,
            node_offsets=offsets(sizes),
            neighbour_offsets=offsets(degrees),
            neighbours=self.neighbours[ends],
            ids=tuple(self.ids[i] for i in chosen),
            labels=rows(self.labels, chosen),
            node_labels=rows(self.node_labels, nodes),
            attributes=rows(self.attributes, nodes),
            edge_labels=rows(self.edge_labels, ends),
            node_names=rows(self.node_names, nodes),
            removed=self.removed[chosen],
        )

    def __iter__(self) -> Iterator[GraphSet]:
        return (self[i] for i in range(len(self)))

    def __add__(self, other: GraphSet) -> GraphSet:
        return concatenate([self, other])

    def without_labels(self) -> GraphSet:
        """The same graphs with no class label attached."""
        return replace(self, labels=None)

    def structure_only(self) -> GraphSet:
        """The same graphs without node labels, attributes or edge labels: what graphs of any domain share."""
        return replace(self, node_labels=None, attributes=None, attribute_names=(), edge_labels=None, label_names={})

    def content_hashes(self) -> tuple[str, ...]:
        """A sha256 per graph over its edges, node labels, attributes and edge labels, as ordered in memory.

        Ids and class labels do not enter. Isomorphic graphs with another node order hash differently.
        """
        hashes = []
        for i in range(len(self)):
            first, last = self.node_offsets[i], self.node_offsets[i + 1]
            start, stop = self.neighbour_offsets[first], self.neighbour_offsets[last]
            digest = hashlib.sha256(np.diff(self.neighbour_offsets[first : last + 1]).tobytes())
            digest.update(self.neighbours[start:stop].tobytes())
            for value, begin, end in (
                (self.node_labels, first, last),
                (self.attributes, first, last),
                (self.edge_labels, start, stop),
            ):
                digest.update(b"|" if value is None else np.ascontiguousarray(value[begin:end]).tobytes())
            hashes.append(digest.hexdigest())
        return tuple(hashes)


def concatenate(sets: Iterable[GraphSet]) -> GraphSet:
    """Join graph sets of one schema, in order.

    Raises
    ------
    GraphError
        If a graph id stands in more than one of them, or twice in one.
    SchemaError
        If some carry node labels, edge labels or attributes that others lack, or attribute widths differ.
    """
    parts = list(sets)
    if not parts:
        return GraphSet(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), ())
    if len(parts) == 1:
        return parts[0]
    schema = {_schema(part) for part in parts if len(part)}
    if len(schema) > 1:
        found = "; ".join(
            f"{'with' if nodes else 'no'} node labels, {'with' if edges else 'no'} edge labels, attributes: "
            f"{listing(names)}"
            for nodes, edges, names in sorted(schema)
        )
        raise SchemaError(
            "Graph sets can be joined only if they carry the same node labels, edge labels and attributes. "
            f"Found {found}."
        )
    filled = [part for part in parts if len(part)] or parts[:1]
    ids = tuple(identifier for part in filled for identifier in part.ids)
    if len(set(ids)) < len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        raise GraphError(
            f"Graph ids must be unique in the joined set; {twice!r} stands more than once. Rename graphs first, for "
            "example with the name of their set in front: dataclasses.replace(graphs, ids=...)."
        )

    def joined(name: str) -> Any:
        values = [getattr(part, name) for part in filled]
        if any(value is None for value in values):
            return None  # class labels and node names are optional per part
        return np.concatenate(values)

    return GraphSet(
        node_offsets=offsets(np.concatenate([part.sizes for part in filled])),
        neighbour_offsets=offsets(np.concatenate([np.diff(part.neighbour_offsets) for part in filled])),
        neighbours=joined("neighbours"),
        ids=ids,
        labels=joined("labels"),
        node_labels=joined("node_labels"),
        attributes=joined("attributes"),
        attribute_names=filled[0].attribute_names,
        edge_labels=joined("edge_labels"),
        node_names=joined("node_names"),
        label_names={code: name for part in filled for code, name in part.label_names.items()},
        removed=joined("removed"),
    )


def _schema(part: GraphSet) -> tuple[bool, bool, tuple[str, ...]]:
    return part.node_labels is not None, part.edge_labels is not None, part.attribute_names


def offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """Where pieces of these lengths start when they stand one after another, and where the last ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers of many half-open ranges, one after another."""
    places = offsets(lengths)
    return np.arange(places[-1]) + np.repeat(starts - places[:-1], lengths)


def chosen_graphs(key: Any, count: int) -> NDArray[np.int64]:
    """The indices that an integer, slice, index array or boolean mask selects of ``count`` graphs."""
    if isinstance(key, int | np.integer):
        key = np.array([key])
    elif isinstance(key, slice):
        key = np.arange(count)[key]
    key = np.asarray(key)
    if key.dtype == bool:
        if key.shape != (count,):
            raise IndexError(f"a mask over {count} graphs must have that length, found shape {key.shape}")
        key = np.flatnonzero(key)
    if key.size == 0:
        key = key.astype(np.int64)
    if key.ndim != 1 or not np.issubdtype(key.dtype, np.integer):
        raise IndexError(f"graphs are selected by integers or a mask, found dtype {key.dtype}, shape {key.shape}")
    if key.size and (key.min() < -count or key.max() >= count):
        raise IndexError(f"graph indices must lie in 0..{count - 1}")
    return np.where(key < 0, key + count, key).astype(np.int64)
