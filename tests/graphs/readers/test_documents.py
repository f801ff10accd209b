"""GraphML, GEXF and GML documents: what NetworkX, Gephi and igraph write, and what is damaged or hostile."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import igraph
import networkx as nx
import pytest

from graphglass.errors import FormatError, MissingExtraError
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_graphs, read_report

HEAD = '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEYS = (
    '<key id="k0" for="node" attr.name="charge" attr.type="double"><default>1.5</default></key>'
    '<key id="k1" for="node" attr.name="label" attr.type="string"/>'
)


def write(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "g.graphml"
    path.write_text(HEAD + KEYS + body + "</graphml>")
    return path


def test_graphml_of_networkx(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    graph.add_node("x", label="C", charge=0.5)
    graph.add_node("y", label="O", charge=2.0)
    graph.add_node("alone", label="N", charge=0.0)
    graph.add_edge("x", "y", label="single")
    nx.write_graphml(graph, tmp_path / "one.graphml")
    graphs = read_graphs(tmp_path / "one.graphml")
    assert graphs.node_names is not None
    assert graphs.node_names.tolist() == ["x", "y", "alone"]
    assert graphs.attributes is not None
    assert graphs.attributes[:, 0].tolist() == [0.5, 2.0, 0.0]
    assert graphs.node_labels is not None
    assert [graphs.label_names[code] for code in graphs.node_labels.tolist()] == ["C", "O", "N"]
    assert graphs.edge_labels is not None
    assert graphs.label_names[int(graphs.edge_labels[0])] == "single"
    assert graphs.outgoing.tolist() == [True, False]
    assert not graphs.removed.any()


def test_defaults_and_several_graphs(tmp_path: Path) -> None:
    body = (
        '<graph id="g1" edgedefault="undirected"><node id="a"/><node id="b"><data key="k0">2</data></node>'
        '<edge source="a" target="b"/></graph><graph id="g2" edgedefault="undirected"><node id="a"/></graph>'
    )
    graphs = read_graphs(write(tmp_path, body))
    assert graphs.ids == ("g1", "g2")
    assert graphs.attributes is not None
    assert graphs.attributes[:, 0].tolist() == [1.5, 2.0, 1.5]


def test_a_folder_is_a_graph_per_file(tmp_path: Path) -> None:
    for size in (3, 4):
        nx.write_graphml(nx.path_graph(size), tmp_path / f"path{size}.graphml")
    graphs = read_graphs(tmp_path)
    assert graphs.ids == ("path3", "path4")
    assert graphs.edge_counts.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('<node id="a"/><edge source="a" target="zz"/>', "an edge names node 'zz'"),
        ('<node id="a"/><node id="a"/>', "node id 'a' occurs more than once"),
        ("", "no nodes"),
        ('<node id="a"><data key="k0">much</data></node>', "could not convert string to float: 'much'"),
        ('<node id="a"><data key="k0">NaN</data></node>', "NaN or infinite"),
        ('<node id="a"/><hyperedge/>', "hyperedge"),
        ('<node id="a"><graph id="in"><node id="b"/></graph></node>', "inside a node"),
        ('<node id="a"/><node id="b"/><edge source="a" target="b" directed="true"/>', "directed=true edge"),
        ('<node id="a"><data key="none">2</data></node>', "no key none"),
    ],
)
def test_a_bad_graph_is_left_out(tmp_path: Path, body: str, reason: str) -> None:
    good = '<graph id="good"><node id="a"/></graph>'
    result = read_report(write(tmp_path, f'<graph id="bad">{body}</graph>{good}'))
    assert result.graphs.ids == ("good",)
    assert reason in result.rejects[0].reason


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE g [<!ENTITY file SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE g SYSTEM "http://example.invalid/x.dtd">',
    ],
)
def test_document_types_and_entities_are_refused(tmp_path: Path, doctype: str) -> None:
    path = tmp_path / "evil.graphml"
    path.write_text(f'<?xml version="1.0"?>{doctype}<graphml><graph><node id="&b;"/></graph></graphml>')
    with pytest.raises(FormatError, match="declares a document type or entity"):
        read_graphs(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<graphml><graph>", "not well-formed XML"),
        ("words", "not well-formed XML"),
        ("<graphml/>", "holds no <graph>"),
        ("<a>" * 100, "deeper than 64"),
    ],
)
def test_files_that_are_no_graphml(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.graphml"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_graphs(path)


def test_limits(tmp_path: Path) -> None:
    path = write(tmp_path, '<graph id="g"><node id="a"/><node id="b"/></graph>')
    result = read_report(path, limits=Limits(max_nodes_per_graph=1))
    assert "2 nodes, the limit" in result.rejects[0].reason


def test_a_damaged_file_of_a_folder_is_left_out(tmp_path: Path) -> None:
    inside = '<node id="a"/><node id="b"/><edge source="a" target="b"/>'
    good = f'<graphml><graph edgedefault="undirected">{inside}</graph></graphml>'
    (tmp_path / "one.graphml").write_text(good)
    (tmp_path / "torn.graphml").write_text(good[:60])
    (tmp_path / "two.graphml").write_text(good)
    report = read_report(tmp_path)
    assert report.graphs.ids == ("one", "two")
    assert [reject.id for reject in report.rejects] == ["torn.graphml"]
    with pytest.raises(FormatError):
        read_graphs(tmp_path / "torn.graphml")


def test_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    for suffix in ("graphml", "gexf", "gml"):
        path = tmp_path / f"x.{suffix}"
        path.write_text("<graphml/>")
        with pytest.raises(MissingExtraError, match=r"graphglass\[interop\]"):
            read_graphs(path)


def test_gexf_of_networkx(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    graph.add_node("x", kind="C", charge=0.5)
    graph.add_node("y", kind="O", charge=2.0)
    graph.add_edge("x", "y", weight=2.5, kind="single")
    nx.write_gexf(graph, tmp_path / "one.gexf")
    graphs = read_graphs(tmp_path / "one.gexf", node_label="kind", edge_label="kind")
    assert graphs.ids == ("one",)
    assert graphs.node_names.tolist() == ["x", "y"]
    assert graphs.attribute_names == ("charge",)
    assert [graphs.label_names[code] for code in graphs.node_labels.tolist()] == ["C", "O"]
    assert graphs.label_names[int(graphs.edge_labels[0])] == "single"
    assert graphs.outgoing.tolist() == [True, False]
    weight = graphs.edge_attribute_names.index("weight")
    assert graphs.edge_list().attributes[:, weight].tolist() == [2.5]


@pytest.mark.parametrize("opening", ["<gexf>", '<gexf xmlns="http://www.gexf.net/1.1draft">', '<gexf xmlns="urn:new">'])
def test_gexf_of_any_version_with_defaults_and_captions(tmp_path: Path, opening: str) -> None:
    (tmp_path / "g.gexf").write_text(
        f'{opening}<graph defaultedgetype="directed"><attributes class="node">'
        '<attribute id="0" title="size" type="integer"><default>3</default>'
        '</attribute></attributes><nodes><node id="a" label="Ann"/><node id="b"><attvalues>'
        '<attvalue for="0" value="5"/></attvalues></node></nodes>'
        '<edges><edge id="7" source="a" target="b"/></edges></graph></gexf>'
    )
    result = read_report(tmp_path / "g.gexf")
    assert result.graphs.attributes.tolist() == [[3.0], [5.0]]
    assert result.graphs.directed
    assert result.graphs.node_labels is None  # what GEXF calls a label is the caption of one node
    assert len(result.notes) == 1
    assert "'caption' is text and was not used" in result.notes[0]


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ('<node id="a"><nodes><node id="b"/></nodes></node>', "a node inside a node"),
        ('<node id="a"/><node id="a"/>', "'a' occurs more than once"),
        ('<node id="a"><attvalues><attvalue for="9" value="5"/></attvalues></node>', "No attribute defined for=9"),
    ],
)
def test_bad_gexf_graphs(tmp_path: Path, nodes: str, reason: str) -> None:
    path = tmp_path / "x.gexf"
    path.write_text(f"<gexf><graph><nodes>{nodes}</nodes></graph></gexf>")
    assert reason in read_report(path).rejects[0].reason


def test_gml_of_networkx(tmp_path: Path) -> None:
    graph = nx.DiGraph(host="a & b", label="odd")
    graph.add_node("x", charge=0.5, kind="C")
    graph.add_node("y", charge=-2, kind="O")
    graph.add_edge("x", "y", weight=1.5e3, label="single")
    nx.write_gml(graph, tmp_path / "one.gml")
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
        "node property 'caption' is text and was not used; pass node_label='caption' to use it as a label",
    )


@pytest.mark.parametrize(
    ("suffix", "write"),
    [("gexf", nx.write_gexf), ("gml", lambda graph, path: igraph.Graph.from_networkx(graph).write_gml(str(path)))],
)
def test_folders_of_undirected_graphs(tmp_path: Path, suffix: str, write: Callable[[nx.Graph, Path], None]) -> None:
    for size in (3, 4):
        write(nx.cycle_graph(size), tmp_path / f"ring{size}.{suffix}")
    graphs = read_graphs(tmp_path)
    assert graphs.ids == ("ring3", "ring4")
    assert graphs.edge_counts.tolist() == [3, 4]
    assert not graphs.directed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contains no graph"),
        ("words", "found EOF"),
        ("graph [ node [ id 0 ]", "expected '\\]', found EOF"),
        ("graph [ ] ]", "expected EOF"),
        ('graph [ label "open', "contains no graph"),
        ("a [ " * 5000, "recursion"),
        ("graph [ node 5 ]", "not a GML graph"),
        ("graph [ node [ id 0 ] edge [ source 0 target 5 ] ]", "edge #0 has undefined target 5"),
        ("graph [ node [ id 0 ] edge [ source 0 ] ]", "edge #0 has no 'target' attribute"),
        ("graph [ node [ id 0 ] node [ id 0 ] ]", "node id 0 is duplicated"),
        ("graph [ node [ id 0 ] ] graph [ node [ id 0 ] ]", "more than one graph"),
    ],
)
def test_damaged_gml(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.gml").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_graphs(tmp_path / "x.gml")
