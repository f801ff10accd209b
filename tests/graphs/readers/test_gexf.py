"""GEXF documents, as Gephi and NetworkX write them."""

from __future__ import annotations

from pathlib import Path

import networkx
import pytest

from graphglass.errors import FormatError
from graphglass.graphs.read import read_graphs, read_report


def test_what_networkx_writes(tmp_path: Path) -> None:
    graph = networkx.DiGraph()
    graph.add_node("x", kind="C", charge=0.5)
    graph.add_node("y", kind="O", charge=2.0)
    graph.add_edge("x", "y", weight=2.5, kind="single")
    networkx.write_gexf(graph, tmp_path / "one.gexf")
    graphs = read_graphs(tmp_path / "one.gexf", node_label="kind", edge_label="kind")
    assert graphs.ids == ("one",)
    assert graphs.node_names.tolist() == ["x", "y"]
    assert graphs.attribute_names == ("charge",)
    assert [graphs.label_names[code] for code in graphs.node_labels.tolist()] == ["C", "O"]
    assert graphs.label_names[int(graphs.edge_labels[0])] == "single"
    assert graphs.outgoing.tolist() == [True, False]
    weight = graphs.edge_attribute_names.index("weight")
    assert graphs.edge_list().attributes[:, weight].tolist() == [2.5]


def test_defaults_captions_and_single_directed_edges(tmp_path: Path) -> None:
    (tmp_path / "g.gexf").write_text(
        '<gexf><graph><attributes class="node"><attribute id="0" title="size" type="integer"><default>3</default>'
        '</attribute></attributes><nodes><node id="a" label="Ann"/><node id="b"><attvalues>'
        '<attvalue for="0" value="5"/></attvalues></node></nodes>'
        '<edges><edge source="a" target="b" type="directed"/></edges></graph></gexf>'
    )
    result = read_report(tmp_path / "g.gexf")
    assert result.graphs.attributes.tolist() == [[3.0], [5.0]]
    assert result.graphs.directed
    assert result.graphs.node_labels is None  # what GEXF calls a label is the caption of one node
    assert "'caption' is text and was not used" in result.notes[0]


def test_undirected_by_default_and_folders(tmp_path: Path) -> None:
    for size in (3, 4):
        networkx.write_gexf(networkx.cycle_graph(size), tmp_path / f"ring{size}.gexf")
    graphs = read_graphs(tmp_path)
    assert graphs.ids == ("ring3", "ring4")
    assert graphs.edge_counts.tolist() == [3, 4]
    assert not graphs.directed


def test_bad_documents(tmp_path: Path) -> None:
    path = tmp_path / "x.gexf"
    path.write_text("<gexf/>")
    with pytest.raises(FormatError, match="holds no GEXF <graph>"):
        read_graphs(path)
    node = '<node id="a"><nodes><node id="b"/></nodes></node>'
    path.write_text(f"<gexf><graph><nodes>{node}</nodes></graph></gexf>")
    assert "a node inside a node" in read_report(path).rejects[0].reason
