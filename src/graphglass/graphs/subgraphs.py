"""Copies of one graph with some of its nodes left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet, concatenate


def without_nodes(graph: GraphSet, groups: Sequence[NDArray[np.int64]]) -> GraphSet:
    """One copy of ``graph`` per group, with that group's nodes and their edges deleted.

    Parameters
    ----------
    graph : GraphSet of one graph
    groups : sequence of local node indices; none may hold every node
    """
    if len(graph) != 1:
        raise GraphError(f"Nodes are deleted from one graph at a time, found {len(graph)}.")
    nodes = graph.node_count
    sources = np.repeat(np.arange(nodes), np.diff(graph.neighbour_offsets))
    targets = graph.neighbours.astype(np.int64)
    copies = []
    for number, group in enumerate(groups):
        keep = np.ones(nodes, dtype=bool)
        keep[group] = False
        if not keep.any():
            raise GraphError("Deleting every node leaves no graph.")
        renumber = np.cumsum(keep) - 1
        edges = keep[sources] & keep[targets]
        copies.append(
            canonical_graph_set(
                [int(keep.sum())],
                renumber[sources[edges]],
                renumber[targets[edges]],
                ids=[f"{graph.ids[0]} without {number}"],
                node_labels=None if graph.node_labels is None else graph.node_labels[keep],
                attributes=None if graph.attributes is None else graph.attributes[keep],
                attribute_names=graph.attribute_names,
                edge_labels=None if graph.edge_labels is None else graph.edge_labels[edges],
                label_names=graph.label_names,
            )
        )
    return concatenate(copies)
