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
    src, dst = np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64)
    if src.shape != dst.shape or src.ndim != 1:
        raise GraphError(f"Edges need one source and one target each, found shapes {src.shape} and {dst.shape}.")
    if src.size and (min(src.min(), dst.min()) < 0 or max(src.max(), dst.max()) >= nodes):
        bad = int(np.flatnonzero((src < 0) | (dst < 0) | (src >= nodes) | (dst >= nodes))[0])
        raise GraphError(f"Edge {bad} joins nodes {src[bad]} and {dst[bad]}, but the nodes are 0..{nodes - 1}.")
    graph_of = np.repeat(np.arange(len(counts)), counts)
    across = np.flatnonzero(graph_of[src] != graph_of[dst])
    if across.size:
        one, two = names[graph_of[src[across[0]]]], names[graph_of[dst[across[0]]]]
        raise GraphError(f"Edge {across[0]} joins graph {one!r} to graph {two!r}; edges must stay inside a graph.")

    loops = src == dst
    removed = np.zeros((len(counts), 3), np.int64)
    removed[:, 0] = np.bincount(graph_of[src[loops]], minlength=len(counts))
    kept_src, kept_dst = src[~loops], dst[~loops]
    shape = (nodes, nodes)
    ordered = csr_array((np.ones(len(kept_src), np.int32), (kept_src, kept_dst)), shape=shape)
    ordered.sum_duplicates()
    repeats = _row_sums(ordered.indptr, ordered.data - 1)
    removed[:, 1] = np.bincount(graph_of, weights=repeats, minlength=len(counts))
    adjacency = ordered + ordered.T.tocsr()
    adjacency.sort_indices()
    added = np.diff(adjacency.indptr) - np.diff(ordered.indptr)
    removed[:, 2] = np.bincount(graph_of, weights=added, minlength=len(counts))

    ends = np.diff(adjacency.indptr)
    rows = np.repeat(np.arange(nodes), ends)
    aligned = None
    if edge_labels is not None:
        given = np.asarray(edge_labels, dtype=np.int64)
        if given.shape != src.shape:
            raise GraphError(f"Edge labels must match the {len(src)} edges, found {len(given)}.")
        aligned = _edge_labels(kept_src, kept_dst, given[~loops], rows, adjacency.indices, nodes)
    values = None
    if attributes is not None:
        values = np.asarray(attributes, dtype=np.float32)
        if values.ndim != 2 or len(values) != nodes:
            raise GraphError(f"Attributes must be ({nodes}, width), one row per node, found {values.shape}.")
        broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if broken.size:
            graph = int(graph_of[broken[0]])
            place = f"Node {int(broken[0] - offsets[graph])} of graph {names[graph]!r}"
            raise GraphError(f"{place} has a NaN or infinite attribute. Replace or drop such values before reading.")
    return GraphSet(
        node_offsets=offsets,
        neighbour_offsets=adjacency.indptr.astype(np.int64),
        neighbours=(adjacency.indices - offsets[graph_of[rows]]).astype(np.int32),
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


def _row_sums(indptr: NDArray[Any], data: NDArray[Any]) -> NDArray[np.int64]:
    cumulative = np.concatenate([[0], np.cumsum(data)])
    return cumulative[indptr[1:]] - cumulative[indptr[:-1]]


def _edge_labels(
    src: NDArray[np.int64],
    dst: NDArray[np.int64],
    given: NDArray[np.int64],
    rows: NDArray[np.int64],
    columns: NDArray[Any],
    nodes: int,
) -> NDArray[np.int64]:
    """The label of the first listing of each unordered pair, for every stored end."""
    keys, first = np.unique(np.minimum(src, dst) * nodes + np.maximum(src, dst), return_index=True)
    wanted = np.minimum(rows, columns) * nodes + np.maximum(rows, columns)
    return given[first[np.searchsorted(keys, wanted)]] if len(keys) else np.zeros(0, np.int64)
