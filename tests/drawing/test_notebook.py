"""The HTML that a notebook shows for a graph set."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from graphglass import load_dataset, read_graphs
from graphglass.graphs.canonical import canonical_graph_set


def test_what_the_set_holds_and_its_first_graphs() -> None:
    html = load_dataset("MUTAG")._repr_html_()
    assert "<th>graphs</th><td>188 undirected</td>" in html
    assert "<th>nodes</th><td>3,371, 10 to 28 per graph</td>" in html
    assert "<th>classes</th><td>-1 (63), 1 (125)</td>" in html
    assert "<th>node labels</th><td>C, O, N, Cl, F, Br, I</td>" in html
    assert html.count("<svg") == 4
    ElementTree.fromstring(html)


def test_names_are_escaped_and_large_graphs_are_not_drawn() -> None:
    graphs = canonical_graph_set([2, 500], [0], [1], ids=["<b>&", "large"], directed=True, columns={"<i>": [1, 2]})
    html = graphs._repr_html_()
    assert "&lt;b&gt;&amp;" in html
    assert "<b>" not in html
    assert "<td>&lt;i&gt;</td>" in html
    assert html.count("<svg") == 1


def test_an_empty_set() -> None:
    graphs = read_graphs([{"nodes": 1}])
    assert "<th>graphs</th><td>0 undirected</td>" in graphs[np.zeros(0, int)]._repr_html_()
