"""GML documents: what NetworkX and igraph write, and what is damaged."""

from __future__ import annotations

from pathlib import Path

import igraph
import networkx
import pytest

from graphglass.errors import FormatError
from graphglass.graphs.read import read_graphs, read_report


def test_what_networkx_writes(tmp_path: Path) -> None:
    graph = networkx.DiGraph(host="a & b", label="odd")
    graph.add_node("x", charge=0.5, kind="C")
    graph.add_node("y", charge=-2, kind="O")
    graph.add_edge("x", "y", weight=1.5e3, label="single")
    networkx.write_gml(graph, tmp_path / "one.gml")
    result = read_report(tmp_path / "one.gml", keep=["host"], node_label="kind")
    graphs = result.graphs
    assert graphs.ids == ("one",)
    assert graphs.columns["host"].tolist() == ["a & b"]
    assert graphs.labels is not None
    assert graphs.labels.tolist() == ["odd"]
    assert graphs.attributes is not None
    assert graphs.attributes.tolist() == [[0.5], [-2.0]]
    assert [graphs.label_names[code] for code in graphs.node_labels.tolist()] == ["C", "O"]
    assert graphs.outgoing.tolist() == [True, False]
    assert graphs.edge_list().attributes.tolist() == [[1500.0]]
    assert graphs.label_names[int(graphs.edge_labels[0])] == "single"
    assert result.notes == (
        "node property 'caption' is text and was not used; pass --node-label caption to use it as a label",
    )


def test_what_igraph_writes_and_a_folder(tmp_path: Path) -> None:
    for size in (3, 4):
        igraph.Graph.Ring(size).write_gml(str(tmp_path / f"ring{size}.gml"))
    graphs = read_graphs(tmp_path)
    assert graphs.ids == ("ring3", "ring4")
    assert graphs.edge_counts.tolist() == [3, 4]
    assert not graphs.directed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no GML graph"),
        ("words", "ends inside of a bracket or after a key"),
        ("graph [ node [ id 0 ]", "ends inside of a bracket"),
        ("graph ]", "line 1 is not GML"),
        ("graph [ ] ]", "closes nothing"),
        ("# one\n\n[ ]", "line 1 is not GML"),
        ('graph [ label "open', "line 1 is not GML"),
        ("a [ " * 100, "deeper than 64"),
    ],
)
def test_damaged_documents(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.gml").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_graphs(tmp_path / "x.gml")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("node [ id 0 ] edge [ source 0 target 5 ]", "edge 0 names node 5"),
        ("node [ id 0 ] edge [ source 0 ]", "edge 0 names node None"),
        ("node [ id 0 ] node [ id 0 ]", "node id '0' occurs more than once"),
        ("", "no nodes"),
    ],
)
def test_a_bad_graph_is_left_out(tmp_path: Path, body: str, reason: str) -> None:
    (tmp_path / "x.gml").write_text(f"graph [ {body} ]\ngraph [ name good node [ id 0 ] ]")
    result = read_report(tmp_path / "x.gml")
    assert result.graphs.ids == ("good",)
    assert reason in result.rejects[0].reason
