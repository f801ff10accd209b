"""One hash per graph that does not depend on the order of its nodes."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.patterns.pattern_channel import LEVELS, neighbourhood_keys
from graphglass.graphs.graph_set import GraphSet


def graph_hashes(graphs: GraphSet, levels: int = LEVELS) -> list[str]:
    """sha256 over the rooted neighbourhoods of every graph, with all that its nodes and edges carry.

    Copies of a graph in another node order hash alike. So do different graphs that as many rounds of Weisfeiler-Lehman
    refinement as there are `levels` cannot tell apart.
    """
    nodes = _names(graphs.node_count, graphs.node_labels, graphs.attributes)
    edges = _names(len(graphs.neighbours), graphs.edge_labels, graphs.edge_attributes, graphs.outgoing)
    keys = np.stack(neighbourhood_keys(graphs, nodes, edges, levels))
    bounds = zip(graphs.node_offsets[:-1], graphs.node_offsets[1:], strict=True)
    return [hashlib.sha256(np.sort(keys[:, first:last], axis=1).tobytes()).hexdigest() for first, last in bounds]


def _names(count: int, *columns: NDArray[Any] | None) -> NDArray[np.int64]:
    """A number for everything that a node or an edge end carries, (count,)."""
    values = [np.zeros((count, 1), np.uint8)]
    for place, column in enumerate(columns, start=1):
        if column is not None:
            table = column.reshape(count, -1)
            # + 0.0: no minus zero
            numbers = table.astype("<f8") + 0.0 if table.dtype.kind == "f" else table.astype("<i8")
            values += [np.full((count, 1), place, np.uint8), np.ascontiguousarray(numbers).view(np.uint8)]
    rows, places = np.unique(np.concatenate(values, axis=1), axis=0, return_inverse=True)
    digests = [hashlib.sha256(row.tobytes()).digest()[:8] for row in rows]
    return np.frombuffer(b"".join(digests), "<i8")[places.reshape(-1)]
