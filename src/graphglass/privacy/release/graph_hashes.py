"""One hash per graph that does not depend on the order of its nodes."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.patterns.pattern_channel import neighbourhood_keys
from graphglass.graphs.graph_set import GraphSet


def graph_hashes(graphs: GraphSet) -> list[str]:
    """sha256 over the rooted neighbourhoods of every graph, with labels and attributes.

    Copies of a graph in another node order hash alike. So do the few different graphs that Weisfeiler-Lehman refinement
    cannot tell apart.
    """
    keys = np.stack(neighbourhood_keys(graphs, _roots(graphs), graphs.edge_labels))
    bounds = zip(graphs.node_offsets[:-1], graphs.node_offsets[1:], strict=True)
    return [hashlib.sha256(np.sort(keys[:, first:last], axis=1).tobytes()).hexdigest() for first, last in bounds]


def _roots(graphs: GraphSet) -> NDArray[np.int64]:
    """A number for the label and attributes of every node, (nodes,)."""
    labels = np.zeros(graphs.node_count, np.int64) if graphs.node_labels is None else graphs.node_labels
    values = [labels.astype("<i8")[:, None].view(np.uint8)]
    if graphs.attributes is not None:
        values.append(np.ascontiguousarray(graphs.attributes + 0.0, "<f8").view(np.uint8))  # 0.0: no minus zero
    rows, places = np.unique(np.concatenate(values, axis=1), axis=0, return_inverse=True)
    digests = [hashlib.sha256(row.tobytes()).digest()[:8] for row in rows]
    return np.frombuffer(b"".join(digests), "<i8")[places.reshape(-1)]
