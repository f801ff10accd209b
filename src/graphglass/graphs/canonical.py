"""The one form every graph takes: no self-loops, no repeated edges; what was removed is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.parallel_edges import Listing
from graphglass.graphs.ragged import offsets
from graphglass.graphs.user_columns import own_column


def canonical_graph_set(
    node_counts: ArrayLike,
    sources: ArrayLike,
    targets: ArrayLike,
    *,
    ids: Sequence[str] | None = None,
    labels: ArrayLike | None = None,
    node_labels: ArrayLike | None = None,
    attributes: ArrayLike | None = None,
    attribute_names: Sequence[str] = (),
    edge_labels: ArrayLike | None = None,
    edge_attributes: ArrayLike | None = None,
    edge_attribute_names: Sequence[str] = (),
    directed: bool = False,
    merge: Mapping[str, str] | None = None,
    node_names: ArrayLike | None = None,
    label_names: Mapping[int, str] | None = None,
    columns: Mapping[str, Sequence[object] | NDArray[Any]] | None = None,
) -> GraphSet:
    """Build a GraphSet from raw edge lists.

    Parameters
    ----------
    node_counts : (graphs,)
        Nodes of each graph, isolated ones included; every graph has at least one.
    sources, targets : (edges,)
        End nodes as rows counted over the whole set, in any order. In an undirected set an edge may be listed in one
        direction or in both.
    ids : sequence of str, optional
        Unique names of the graphs; 0, 1, 2, ... by default.
    labels : (graphs,), optional
        Class labels.
    node_labels, node_names : (nodes,), optional
    attributes : (nodes, width), optional
    attribute_names, edge_attribute_names : sequence of str
    edge_labels : (edges,), optional
        Of parallel edges the first gives the label.
    edge_attributes : (edges, width), optional
        Parallel edges become one: see :mod:`graphglass.graphs.parallel_edges` for how their values combine.
    directed : bool, default False
        Whether an edge from source to target differs from one back.
    merge : mapping, optional
        Edge attribute to ``sum``, ``mean``, ``min`` or ``max``, where the rule by name does not fit.
    label_names : mapping, optional
        What label codes stand for.
    columns : mapping, optional
        The caller's own values per graph by name.
    """
    counts = np.asarray(node_counts, dtype=np.int64)
    starts = offsets(counts)
    nodes = int(starts[-1])
    names = tuple(ids) if ids is not None else tuple(str(i) for i in range(len(counts)))
    if (counts < 1).any():
        empty = names[int(np.argmin(counts))]
        raise GraphError(f"Graph {empty!r} has no nodes. A graph needs at least one node; remove it or add its nodes.")
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise GraphError(f"Graph ids must be unique; {twice!r} occurs more than once.")
    src, dst = np.asarray(sources), np.asarray(targets)
    if src.shape != dst.shape or src.ndim != 1:
        raise GraphError(f"Edges need one source and one target each, found shapes {src.shape} and {dst.shape}.")
    if src.size and not (np.issubdtype(src.dtype, np.integer) and np.issubdtype(dst.dtype, np.integer)):
        raise GraphError(f"Edges join nodes by whole numbers, found {src.dtype} and {dst.dtype}.")
    if src.size and (min(src.min(), dst.min()) < 0 or max(src.max(), dst.max()) >= nodes):
        bad = int(np.flatnonzero((src < 0) | (dst < 0) | (src >= nodes) | (dst >= nodes))[0])
        raise GraphError(f"Edge {bad} joins nodes {src[bad]} and {dst[bad]}, but the nodes are 0..{nodes - 1}.")
    # Edge lists are the large part of a dataset: half the width is half the memory.
    width = np.int32 if nodes < 2**31 else np.int64
    src, dst = src.astype(width, copy=False), dst.astype(width, copy=False)
    graph_of = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    across = np.flatnonzero(graph_of[src] != graph_of[dst])
    if across.size:
        one, two = names[graph_of[src[across[0]]]], names[graph_of[dst[across[0]]]]
        raise GraphError(f"Edge {across[0]} joins graph {one!r} to graph {two!r}; edges must stay inside a graph.")

    given = _edge_column(edge_labels, np.int64, 1, len(src), "Edge labels")
    numbers = _edge_column(edge_attributes, np.float64, 2, len(src), "Edge attributes")
    if numbers is not None and not np.isfinite(numbers).all():
        bad = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])
        raise GraphError(f"Edge {bad} has a NaN or infinite attribute; its values must be finite.")
    removed = np.zeros((len(counts), 3), np.int64)
    loops = src == dst
    if loops.any():
        removed[:, 0] = np.bincount(graph_of[src[loops]], minlength=len(counts))
        src, dst = src[~loops], dst[~loops]
        given = None if given is None else given[~loops]
        numbers = None if numbers is None else numbers[~loops]
    del loops
    from scipy.sparse import csr_array  # not before the first call: a slow import

    listed = csr_array((np.ones(len(src), np.int32), (src, dst)), shape=(nodes, nodes))
    listed.sum_duplicates()  # the data now counts how often each ordered pair is listed
    if listed.nnz != len(src):
        removed[:, 1] = np.diff(np.concatenate([[0], np.cumsum(listed.data - 1)])[listed.indptr[starts]])
    listed.data = np.ones(listed.nnz, np.int8)
    adjacency = listed + listed.T.tocsr()
    adjacency.sort_indices()
    ends = np.diff(adjacency.indptr[starts])  # stored ends of each graph, (graphs,)
    if not directed:
        removed[:, 2] = ends - np.diff(listed.indptr[starts])
    del listed
    aligned, table, table_names, outgoing = None, None, tuple(edge_attribute_names), None
    if given is not None or numbers is not None or directed:
        listing = Listing.of(src, dst, adjacency, directed=directed)
        aligned = None if given is None else given[listing.first()]
        table, table_names = listing.merged(numbers, table_names, merge or {})
        outgoing = listing.listed if directed else None
    values = None
    if attributes is not None:
        values = np.asarray(attributes, dtype=np.float32)
        if values.ndim != 2 or len(values) != nodes:
            raise GraphError(f"Attributes must be ({nodes}, width), one row per node, found {values.shape}.")
        broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if broken.size:
            graph = int(graph_of[broken[0]])
            place = f"Node {int(broken[0] - starts[graph])} of graph {names[graph]!r}"
            raise GraphError(f"{place} has a NaN or infinite attribute; its values must be finite.")
    return GraphSet(
        node_offsets=starts,
        neighbour_offsets=adjacency.indptr.astype(np.int64),
        neighbours=(adjacency.indices - np.repeat(starts[:-1].astype(width), ends)).astype(np.int32, copy=False),
        ids=names,
        labels=None if labels is None else np.asarray(labels),
        node_labels=None if node_labels is None else np.asarray(node_labels, dtype=np.int64),
        attributes=values,
        attribute_names=tuple(attribute_names),
        edge_labels=aligned,
        edge_attributes=table,
        edge_attribute_names=table_names,
        outgoing=outgoing,
        node_names=None if node_names is None else np.asarray(node_names, dtype=np.str_),
        label_names=dict(label_names or {}),
        removed=removed,
        columns={name: own_column(values) for name, values in (columns or {}).items()},
    )


def _edge_column(values: ArrayLike | None, kind: type[object], axes: int, edges: int, what: str) -> NDArray[Any] | None:
    if values is None:
        return None
    column = np.asarray(values, dtype=kind)
    if column.ndim != axes or len(column) != edges:
        raise GraphError(f"{what} must match the {edges} edges, found shape {column.shape}.")
    return column
