"""One graph as an SVG picture."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.layout import breadth_first, stress_layout
from graphglass.graphs.molecule import node_label_text
from graphglass.graphs.subgraphs import without_nodes

# More nodes than this cannot be told apart on a card; a connected part around the most telling node is drawn instead.
MOST_NODES = 150
_SIZE, _MARGIN = 260, 18


def draw_graph(graph: GraphSet, attribution: NDArray[np.float64] | None = None) -> str:
    """SVG of a graph; with an attribution, nodes that make it abnormal are red and others blue."""
    shown, note = graph, ""
    if graph.node_count > MOST_NODES:
        start = int(np.argmax(attribution)) if attribution is not None else int(np.argmax(_degrees(graph)))
        kept = np.sort(breadth_first(graph, start)[:MOST_NODES])
        shown = without_nodes(graph, [np.setdiff1d(np.arange(graph.node_count), kept)])
        attribution = attribution[kept] if attribution is not None else None
        note = f"{len(kept)} of {graph.node_count} nodes"
    places = _MARGIN + stress_layout(shown) * (_SIZE - 2 * _MARGIN)
    radius = float(np.clip(60 / np.sqrt(shown.node_count), 2.5, 8))
    label = f"drawing of {escape(graph.ids[0])}"
    parts = [f'<svg class="graph" viewBox="0 0 {_SIZE} {_SIZE}" role="img" aria-label="{label}">']
    sources = np.repeat(np.arange(shown.node_count), _degrees(shown))
    for one, two in zip(sources, shown.neighbours, strict=True):
        if one < two:
            (x1, y1), (x2, y2) = places[one], places[two]
            parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
    strengths = _strengths(attribution, shown.node_count)
    for node, (x, y) in enumerate(places):
        colour = _colour(strengths[node])
        name = _label(shown, node)
        title = f"node {node}{f' ({name})' if name else ''}"
        if attribution is not None:
            title += f", attribution {attribution[node]:+.3f}"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"{colour}><title>{escape(title)}</title></circle>'
        )
        if name and len(name) <= 2 and radius >= 5:
            place = f'x="{x:.1f}" y="{y + radius * 0.4:.1f}" font-size="{radius * 1.2:.1f}"'
            parts.append(f"<text {place}>{escape(name)}</text>")
    if note:
        parts.append(f'<text class="note" x="{_SIZE / 2}" y="{_SIZE - 4}" font-size="11">{note}</text>')
    parts.append("</svg>")
    return "".join(parts)


def _degrees(graph: GraphSet) -> NDArray[np.int64]:
    return np.diff(graph.neighbour_offsets)


def _strengths(attribution: NDArray[np.float64] | None, nodes: int) -> NDArray[np.float64]:
    if attribution is None:
        return np.zeros(nodes)
    centred = attribution - np.median(attribution)
    largest = np.abs(centred).max()
    return centred / largest if largest > 0 else np.zeros(nodes)


def _colour(strength: float) -> str:
    if abs(strength) < 0.05:
        return ""
    hue = "var(--hot)" if strength > 0 else "var(--cold)"
    return f' style="fill: color-mix(in srgb, {hue} {round(100 * abs(strength))}%, var(--node))"'


def _label(graph: GraphSet, node: int) -> str:
    if graph.node_labels is None:
        return ""
    return node_label_text(graph, int(graph.node_labels[node]))
