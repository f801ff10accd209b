"""GraphML documents, NetworkX's among them, and hostile XML."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from graphglass.errors import FormatError
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


def test_what_networkx_writes(tmp_path: Path) -> None:
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
        ('<node id="a"/><edge source="a" target="zz"/>', "edge 0 names node 'zz'"),
        ('<node id="a"/><node id="a"/>', "node id 'a' occurs more than once"),
        ("", "no nodes"),
        ('<node id="a"><data key="k0">much</data></node>', "'charge' is declared double, found 'much'"),
        ('<node id="a"><data key="k0">NaN</data></node>', "NaN or infinite"),
        ('<node id="a"/><hyperedge/>', "hyperedge"),
        ('<node id="a"><graph id="in"/></node>', "inside a node"),
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
        ("<graphml/>", "holds no GraphML <graph>"),
        ("<a>" * 100, "deeper than 64"),
    ],
)
def test_documents_that_are_no_graphml(tmp_path: Path, text: str, message: str) -> None:
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
