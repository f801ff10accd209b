"""A graph set as a notebook shows it: what it holds, and its first graphs."""

from __future__ import annotations

from html import escape

import numpy as np

from graphglass.drawing.graph_svg import draw_graph, drawing_style, frequent_labels
from graphglass.graphs.graph_set import GraphSet
from graphglass.messages import listing

_DRAWN = 4
_LARGEST_DRAWN = 60  # nodes; a larger graph takes too long to lay out for a picture nobody asked for


def graph_set_html(graphs: GraphSet) -> str:
    """A table of what the set holds, and pictures of its first small graphs."""
    rows = {"graphs": f"{len(graphs):,} {'directed' if graphs.directed else 'undirected'}"}
    for name, counts in (("nodes", graphs.sizes), ("edges", graphs.edge_counts)):
        spread = f", {counts.min()} to {counts.max()} per graph" if len(graphs) else ""
        rows[name] = f"{counts.sum():,}{spread}"
    if graphs.labels is not None:
        classes, counts = np.unique(graphs.labels, return_counts=True)
        rows["classes"] = listing([f"{one} ({count:,})" for one, count in zip(classes, counts, strict=True)], 6)
    if graphs.node_labels is not None:
        rows["node labels"] = listing(frequent_labels(graphs))
    if graphs.edge_labels is not None:
        rows["edge labels"] = f"{len(np.unique(graphs.edge_labels))} different"
    for name, names in (
        ("node attributes", graphs.attribute_names),
        ("edge attributes", graphs.edge_attribute_names),
        ("columns", tuple(graphs.columns)),
    ):
        if names:
            rows[name] = listing(names)
    body = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
    first = np.flatnonzero(graphs.sizes <= _LARGEST_DRAWN)[:_DRAWN]
    pictures = "".join(
        f'<figure style="margin:0;width:220px"><figcaption>{escape(graphs.ids[place])}</figcaption>'
        f"{draw_graph(graphs[int(place)], coloured=frequent_labels(graphs)).svg}</figure>"
        for place in first
    )
    return (
        f'<div><style>{drawing_style()}</style><table>{body}</table><div style="display:flex;gap:12px;flex-wrap:wrap">'
        f"{pictures}</div></div>"
    )
