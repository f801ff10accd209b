"""One graph as an SVG picture, for the report, the inspector and notebooks.

Colours come from the classes in ``drawing.css``; the picture has no inline style, so a page with a strict
content security policy can show it and a dark page can change it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from graphglass.drawing.layout import breadth_first, layout_graph
from graphglass.drawing.molecule_svg import atom_name, depict
from graphglass.graphs.graph_set import COUNT, GraphSet
from graphglass.graphs.molecules import node_label_text
from graphglass.graphs.parallel_edges import merge_rule

# More nodes than this cannot be distinguished; a connected part around the most important node is drawn instead.
MOST_NODES = 150
COLOURS = 9  # label colours of drawing.css; labels past them share one grey
_WARM = 0.08  # of the hottest part: cooler nodes and edges have no halo
_LACKED = 0.5
_LETTERS, _LONGEST = 8.0, 14  # size of names and amounts, characters of the longest
_WIDTH, _MARGIN, _ROW = 300.0, 24.0, 15.0  # the margin has room for a halo, and for the text of an atom


@dataclass(frozen=True)
class Picture:
    """SVG text, and how many of the graph's nodes it shows."""

    svg: str
    shown: int
    total: int


def drawing_style() -> str:
    """The style sheet that pictures need."""
    return files("graphglass.drawing").joinpath("drawing.css").read_text(encoding="utf-8")


def frequent_labels(graphs: GraphSet) -> tuple[str, ...]:
    """The most frequent node labels of a set, which get their own colours in all its pictures."""
    if graphs.node_labels is None:
        return ()
    codes, counts = np.unique(graphs.node_labels, return_counts=True)
    order = np.lexsort((codes, -counts))[:COLOURS]
    return tuple(node_label_text(graphs, int(codes[place])) for place in order)


def draw_graph(
    graph: GraphSet,
    attribution: NDArray[np.float64] | None = None,
    coloured: Sequence[str] | None = None,
    edge_attribution: NDArray[np.float64] | None = None,
    *,
    foreign: Sequence[str] = (),
    lacking: NDArray[np.float64] | None = None,
) -> Picture:
    """Draw a graph, a molecule with its bonds where atoms are known and RDKit is installed.

    Parameters
    ----------
    graph : GraphSet
        One graph.
    attribution : float64 (nodes,), optional
        The part of every node in the score: the larger, the warmer its halo.
    coloured : sequence of str, optional
        Labels with a colour of their own, in order; the graph's most frequent labels by default.
    edge_attribution : float64 (edges,), optional
        The same for edges, in the order of :meth:`GraphSet.edge_list`.
    foreign : sequence of str
        Labels that no reference has, which share one strong colour and are named.
    lacking : float64 (nodes,), optional
        From 0 to 1, nodes that another graph lacks, which get a dashed ring.
    """
    shown, kept = graph, np.arange(graph.node_count)
    listed = graph.edge_list()
    at_edges = np.zeros(len(listed.sources)) if edge_attribution is None else edge_attribution
    if graph.node_count > MOST_NODES:
        weight = attribution if attribution is not None else np.diff(graph.neighbour_offsets)
        kept = np.sort(breadth_first(graph, int(np.argmax(weight)))[:MOST_NODES])
        shown = graph.without_nodes(np.delete(np.arange(graph.node_count), kept))
        at_edges = at_edges[np.isin(listed.sources, kept) & np.isin(listed.targets, kept)]
        listed = shown.edge_list()
    molecule = depict(shown, _WIDTH, _MARGIN)
    if molecule is None:
        places, spacing, height = _fitted(layout_graph(shown))
    else:
        places, spacing, height = molecule.places, molecule.length, molecule.height
    nodes = np.zeros(len(kept)) if attribution is None else attribution[kept]
    hottest = max(nodes.max(initial=0.0), at_edges.max(initial=0.0)) or 1.0
    titles = _titles(graph, kept, attribution)
    edges = np.stack([listed.sources, listed.targets], axis=1)
    rings = [] if lacking is None else np.flatnonzero(lacking[kept] >= _LACKED).tolist()
    if molecule is None:
        labels = [] if shown.node_labels is None else [node_label_text(graph, int(code)) for code in shown.node_labels]
        coloured = list(coloured if coloured is not None else frequent_labels(graph))
        radius = float(np.clip(0.4 * spacing, 2, 9))
        parts = _halos(places, edges, nodes / hottest, at_edges / hottest, 1.9 * radius)
        parts += _lines(places, edges, _widths(shown, max(0.8, radius / 5)), radius if shown.directed else None)
        parts += _circles(places, labels, coloured, foreign, titles, radius)
        parts += [_circle(places[node], 1.6 * radius, "lacking", titles[node]) for node in rings]
        parts += _names(shown, places, edges, labels, foreign, radius)
        legend = _legend(labels, coloured, foreign, height)
    else:
        parts = _halos(places, edges, nodes / hottest, at_edges / hottest, 0.42 * spacing)
        parts += molecule.svg
        parts += [_circle(places[node], 0.38 * spacing, "lacking", titles[node]) for node in rings]
        parts += [_circle(place, 0.4 * spacing, "touch", title) for place, title in zip(places, titles, strict=True)]
        legend = []
    height += _ROW * len({row for row, _ in legend})
    total = graph.node_count
    part = "" if len(kept) == total else f", {len(kept)} of {total} nodes"
    name = escape(f"{'molecule' if molecule is not None else 'graph'} {graph.ids[0]}{part}")
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 {_WIDTH:g} {height:.0f}" role="img" '
    svg = f'{opened}aria-label="{name}">{"".join(parts)}{"".join(text for _, text in legend)}</svg>'
    return Picture(svg, len(kept), total)


def _fitted(places: NDArray[np.float64]) -> tuple[NDArray[np.float64], float, float]:
    """Places on paper, the usual distance of closest nodes there, and how high the paper is."""
    corner, extent = places.min(axis=0), np.ptp(places, axis=0)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    closest = float(np.quantile(gaps.min(axis=1), 0.2)) if len(places) > 1 else 1.0
    free = _WIDTH - 2 * _MARGIN
    scale = min(free / max(extent.max(), 1e-9), 48 / max(closest, 1e-9))
    height = max(extent[1] * scale, 60.0) + 2 * _MARGIN
    centred = (places - corner - extent / 2) * scale
    return centred + np.array([_WIDTH / 2, height / 2]), closest * scale, height


def _titles(graph: GraphSet, kept: NDArray[np.int64], attribution: NDArray[np.float64] | None) -> list[str]:
    titles = []
    for node in kept:
        name = atom_name(graph, int(node))
        if name is None:
            name = f"node {node if graph.node_names is None else graph.node_names[node]}"
            if graph.node_labels is not None:
                name += f" ({node_label_text(graph, int(graph.node_labels[node]))})"
        titles.append(name if attribution is None else f"{name}, part of the score {attribution[node]:.3f}")
    return titles


def _halos(
    places: NDArray[np.float64],
    edges: NDArray[np.int64],
    nodes: NDArray[np.float64],
    at_edges: NDArray[np.float64],
    radius: float,
) -> list[str]:
    """Highlights behind nodes and edges, from 0 to 1; an edge is at least as warm as the cooler of its ends."""
    parts = []
    for (one, two), own in zip(edges, at_edges, strict=True):
        strength = max(own, min(nodes[one], nodes[two]))
        if strength >= _WARM:
            shade = f' stroke-opacity="{_opacity(strength):.2f}"'
            parts.append(_line(places[one], places[two], "halo hot", 1.2 * radius, shade))
    for place, strength in zip(places, nodes, strict=True):
        if strength >= _WARM:
            where = f'cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{radius:.1f}"'
            parts.append(f'<circle class="halo hot" {where} fill-opacity="{_opacity(strength):.2f}"/>')
    return parts


def _opacity(strength: float) -> float:
    return 0.1 + 0.8 * strength


def _widths(graph: GraphSet, usual: float) -> NDArray[np.float64]:
    """How wide each edge is drawn: up to four times as wide, by the logarithm of its amount, weight or count."""
    listed, summed = graph.edge_list(), _summed(graph)
    if listed.attributes is None or summed is None:
        return np.full(len(listed.sources), usual)
    amounts = np.log1p(np.abs(listed.attributes[:, summed]))
    lowest, span = amounts.min(initial=np.inf), np.ptp(amounts) if len(amounts) else 0.0
    return np.asarray(usual * (1 + 3 * (amounts - lowest) / span) if span > 0 else np.full(len(amounts), usual))


def _summed(graph: GraphSet) -> int | None:
    """The first edge attribute that adds up over parallel edges, such as an amount, else the first, the count last."""
    names = graph.edge_attribute_names
    ranks = [(name == COUNT, merge_rule(name, {}) != "sum", place) for place, name in enumerate(names)]
    return min(ranks)[-1] if ranks else None


def _lines(
    places: NDArray[np.float64], edges: NDArray[np.int64], widths: NDArray[np.float64], radius: float | None
) -> list[str]:
    """The edges; with a radius of the nodes, edges have a head where they point to."""
    ends = zip(edges, widths, strict=True)
    parts = [_line(places[one], places[two], "edge", width) for (one, two), width in ends]
    for (one, two), width in zip(edges, widths, strict=True) if radius is not None else ():
        along = places[two] - places[one]
        length = float(np.linalg.norm(along))
        if radius is None or length < 2 * radius:
            continue
        along = along / length
        across = np.array([-along[1], along[0]])
        tip, size = places[two] - radius * along, max(3.0, 0.8 * radius, 1.8 * width)
        corners = (tip, tip - size * along + 0.5 * size * across, tip - size * along - 0.5 * size * across)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        parts.append(f'<polygon class="head" points="{points}"/>')
    return parts


def _circles(
    places: NDArray[np.float64],
    labels: Sequence[str],
    coloured: Sequence[str],
    foreign: Sequence[str],
    titles: Sequence[str],
    radius: float,
) -> list[str]:
    parts = []
    for node, place in enumerate(places):
        label = labels[node] if labels else None
        parts.append(_circle(place, radius, _colour(label, coloured, foreign), titles[node]))
        if label and len(label) <= 2 and radius >= 5:
            size = radius * (1.15 if len(label) == 1 else 0.9)
            where = f'x="{place[0]:.1f}" y="{place[1]:.1f}" font-size="{size:.1f}"'
            parts.append(f'<text class="label" {where}>{escape(label)}</text>')
    return parts


def _names(
    graph: GraphSet,
    places: NDArray[np.float64],
    edges: NDArray[np.int64],
    labels: Sequence[str],
    foreign: Sequence[str],
    radius: float,
) -> list[str]:
    """Names of nodes and amounts of edges, where they fit: foreign labels first, then names, then amounts."""
    wanted: list[tuple[float, float, str, str]] = []
    below = radius + 6.0
    for node, (x, y) in enumerate(places):
        if labels and labels[node] in foreign:
            wanted.append((x, y + below, labels[node], "name foreign"))
    if graph.node_names is not None:
        for node, (x, y) in enumerate(places):
            name = str(graph.node_names[node])
            if not labels or (labels[node] not in foreign and not (len(labels[node]) <= 2 and name == labels[node])):
                wanted.append((x, y + below, name, "name"))
    listed, summed = graph.edge_list(), _summed(graph)
    if summed is not None and listed.attributes is not None:
        middles = (places[edges[:, 0]] + places[edges[:, 1]]) / 2
        for (x, y), value in zip(middles, listed.attributes[:, summed], strict=True):
            wanted.append((x, y, f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}", "amount"))
    taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in places]
    parts = []
    for x, y, text, kind in wanted:
        text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        half = 0.29 * _LETTERS * len(text)
        box = (x - half, y - 0.5 * _LETTERS, x + half, y + 0.5 * _LETTERS)
        inside = box[0] >= 0 and box[2] <= _WIDTH
        if inside and all(box[2] <= b[0] or b[2] <= box[0] or box[3] <= b[1] or b[3] <= box[1] for b in taken):
            taken.append(box)
            parts.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{_LETTERS:g}">{escape(text)}</text>')
    return parts


def _colour(label: str | None, coloured: Sequence[str], foreign: Sequence[str]) -> str:
    if label is None:
        return "node"
    if label in foreign:
        return "node foreign"
    return f"node c{coloured.index(label)}" if label in coloured else "node rest"


def _legend(
    labels: Sequence[str], coloured: Sequence[str], foreign: Sequence[str], top: float
) -> list[tuple[int, str]]:
    """The labels of this graph with their colours, in rows below it."""
    own = {*coloured, *foreign}
    counts = Counter(label if label in own else "other" for label in labels)
    order = dict.fromkeys((*foreign, *coloured, "other"))
    names = [label for label in order if counts[label]] if len(counts) > 1 or counts.keys() & set(foreign) else []
    parts, x, row = [], _MARGIN, 0
    for name in names:
        text = name if len(name) <= 24 else f"{name[:23]}…"
        width = 22 + 6.9 * len(text)
        if x > _MARGIN and x + width > _WIDTH - _MARGIN / 2:
            x, row = _MARGIN, row + 1
        y = top + _ROW * row + 4
        dot = f'<circle class="{_colour(name, coloured, foreign)}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'
        words = f'<text class="key" x="{x + 8:.1f}" y="{y:.1f}" font-size="11">{escape(text)}</text>'
        parts.append((row, dot + words))
        x += width
    return parts


def _circle(place: NDArray[np.float64], radius: float, kind: str, title: str) -> str:
    where = f'cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{radius:.1f}"'
    return f'<circle class="{kind}" {where}><title>{escape(title)}</title></circle>'


def _line(one: NDArray[np.float64], two: NDArray[np.float64], kind: str, width: float, more: str = "") -> str:
    ends = f'x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{two[0]:.1f}" y2="{two[1]:.1f}"'
    return f'<line class="{kind}" {ends} stroke-width="{width:.1f}"{more}/>'
