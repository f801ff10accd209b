"""The one form every graph takes: undirected, no self-loops, no repeated edges; what was removed is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet


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
    node_names: ArrayLike | None = None,
    label_names: Mapping[int, str] | None = None,
) -> GraphSet:
    """Build a GraphSet from raw edge lists.

    Parameters
    ----------
    node_counts : (graphs,)
        Nodes of each graph, isolated ones included; every graph has at least one.
    sources, targets : (edges,)
        End nodes as rows counted over the whole set, in any order and direction. A pair listed in one direction only is
        completed; of repeated pairs the first keeps its edge label.
    """
    counts = np.asarray(node_counts, dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    nodes = int(offsets[-1])
    names = tuple(ids) if ids is not None else tuple(str(i) for i in range(len(counts)))
    if (counts < 1).any():
        empty = names[int(np.argmin(counts))]
        raise GraphError(f"Graph {empty!r} has no nodes. A graph needs at least one node; remove it or add its nodes.")
    if len(set(names)) != len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise GraphError(f"Graph ids must be unique; {twice!r} stands more than once.")
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

    given = None
    if edge_labels is not None:
        given = np.asarray(edge_labels, dtype=np.int64)
        if given.shape != src.shape:
            raise GraphError(f"Edge labels must match the {len(src)} edges, found {len(given)}.")
    removed = np.zeros((len(counts), 3), np.int64)
    loops = src == dst
    if loops.any():
        removed[:, 0] = np.bincount(graph_of[src[loops]], minlength=len(counts))
        src, dst = src[~loops], dst[~loops]
        given = None if given is None else given[~loops]
    del loops
    listed = csr_array((np.ones(len(src), np.int32), (src, dst)), shape=(nodes, nodes))
    listed.sum_duplicates()  # the data now counts how often each ordered pair stands
    if listed.nnz != len(src):
        removed[:, 1] = np.diff(np.concatenate([[0], np.cumsum(listed.data - 1)])[listed.indptr[offsets]])
    listed.data = np.ones(listed.nnz, np.int8)
    adjacency = listed + listed.T.tocsr()
    adjacency.sort_indices()
    ends = np.diff(adjacency.indptr[offsets])  # stored ends of each graph, (graphs,)
    removed[:, 2] = ends - np.diff(listed.indptr[offsets])
    del listed
    aligned = None
    if given is not None:
        rows = np.repeat(np.arange(nodes), np.diff(adjacency.indptr))
        aligned = _edge_labels(src, dst, given, rows, adjacency.indices, nodes)
    values = None
    if attributes is not None:
        values = np.asarray(attributes, dtype=np.float32)
        if values.ndim != 2 or len(values) != nodes:
            raise GraphError(f"Attributes must be ({nodes}, width), one row per node, found {values.shape}.")
        broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if broken.size:
            graph = int(graph_of[broken[0]])
            place = f"Node {int(broken[0] - offsets[graph])} of graph {names[graph]!r}"
            raise GraphError(f"{place} has a NaN or infinite attribute; its values must be finite.")
    return GraphSet(
        node_offsets=offsets,
        neighbour_offsets=adjacency.indptr.astype(np.int64),
        neighbours=(adjacency.indices - np.repeat(offsets[:-1].astype(width), ends)).astype(np.int32, copy=False),
        ids=names,
        labels=None if labels is None else np.asarray(labels),
        node_labels=None if node_labels is None else np.asarray(node_labels, dtype=np.int64),
        attributes=values,
        attribute_names=tuple(attribute_names),
        edge_labels=aligned,
        node_names=None if node_names is None else np.asarray(node_names, dtype=np.str_),
        label_names=dict(label_names or {}),
        removed=removed,
    )


def _edge_labels(
    src: NDArray[Any],
    dst: NDArray[Any],
    given: NDArray[np.int64],
    rows: NDArray[np.int64],
    columns: NDArray[Any],
    nodes: int,
) -> NDArray[np.int64]:
    """The label of the first listing of each unordered pair, for every stored end."""
    pairs = np.minimum(src, dst).astype(np.int64) * nodes + np.maximum(src, dst)
    keys, first = np.unique(pairs, return_index=True)
    wanted = np.minimum(rows, columns).astype(np.int64) * nodes + np.maximum(rows, columns)
    return given[first[np.searchsorted(keys, wanted)]] if len(keys) else np.zeros(0, np.int64)
