"""A graph as places, labels and edges, for the page to draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.layout import breadth_first, stress_layout
from graphglass.graphs.molecule import node_label_text
from graphglass.graphs.subgraphs import without_nodes
from graphglass.serve.schemas import Drawing

MOST_NODES = 150


def drawing(graph: GraphSet, attribution: NDArray[np.float64] | None = None) -> Drawing:
    """Lay a graph out; of a large one, the part around its most telling node."""
    kept = np.arange(graph.node_count)
    if graph.node_count > MOST_NODES:
        weight = attribution if attribution is not None else np.diff(graph.neighbour_offsets)
        kept = np.sort(breadth_first(graph, int(np.argmax(weight)))[:MOST_NODES])
    shown = graph
    if len(kept) < graph.node_count:
        shown = without_nodes(graph, [np.setdiff1d(np.arange(graph.node_count), kept)])
    sources = np.repeat(np.arange(shown.node_count), np.diff(shown.neighbour_offsets))
    edges = [(int(one), int(two)) for one, two in zip(sources, shown.neighbours, strict=True) if one < two]
    codes = [] if graph.node_labels is None else graph.node_labels[kept].tolist()
    labels = [node_label_text(graph, code) for code in codes]
    names = kept.astype(str) if graph.node_names is None else graph.node_names[kept]
    return Drawing(
        places=[(round(float(x), 4), round(float(y), 4)) for x, y in stress_layout(shown)],
        names=[str(name) for name in names],
        labels=labels,
        edges=edges,
        attribution=None if attribution is None else [float(value) for value in attribution[kept]],
        shown=len(kept),
        total=graph.node_count,
    )
