"""Copies of one graph with some of its nodes left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.ragged import offsets


def without_nodes(graph: GraphSet, groups: Sequence[NDArray[np.int64]]) -> GraphSet:
    """One copy of a single graph per group of local node indices, with these nodes and their edges deleted."""
    if len(graph) != 1:
        raise GraphError(f"Nodes are deleted from one graph at a time, found {len(graph)}.")
    rows, columns = graph.end_nodes, graph.neighbours
    copies = []
    for number, group in enumerate(groups):
        keep = np.ones(graph.node_count, dtype=bool)
        keep[group] = False
        if not keep.any():
            raise GraphError("Deleting every node leaves no graph.")
        renumber, ends = np.cumsum(keep) - 1, keep[rows] & keep[columns]
        masks = {"graph": np.ones(1, bool), "node": keep, "end": ends}
        copies.append(
            replace(
                graph,
                node_offsets=np.array([0, keep.sum()]),
                neighbour_offsets=offsets(np.bincount(renumber[rows[ends]], minlength=int(keep.sum()))),
                neighbours=renumber[columns[ends]].astype(np.int32),
                ids=(f"{graph.ids[0]} without {number}",),
                **graph.rows_at(masks),
            )
        )
    return concatenate(copies)
