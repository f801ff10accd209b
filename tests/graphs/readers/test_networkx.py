"""NetworkX graphs of every class."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import igraph
import networkx as nx
import numpy as np
import pandas
import pyarrow as pa
import pytest

from graphglass.errors import GraphError
from graphglass.graphs.read import read_graphs, read_report


def test_string_ids_disconnected_directed_loops_and_multi_edges() -> None:
    graph = nx.MultiDiGraph(name="g", label="odd")
    graph.add_edges_from([("a", "b"), ("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")])
    graph.add_node(("tuple", 1))
    graphs = read_graphs(graph)
    assert graphs.ids == ("g",)
    assert graphs.node_names is not None
    assert graphs.node_names.tolist() == ["a", "b", "c", "('tuple', 1)"]
    assert graphs.edge_count == 2
    assert graphs.removed.tolist() == [[1, 1, 0]]
    assert graphs.outgoing.tolist() == [True, True, True, False]
    assert graphs.edge_attributes[:, 0].tolist() == [2, 1, 1, 1]  # count
    assert graphs.labels is not None
    assert graphs.labels.tolist() == ["odd"]


def test_the_graph_handed_in_is_left_as_it_was() -> None:
    graph = nx.Graph([(0, 0), (0, 1)])
    before = list(graph.edges)
    read_graphs([graph])
    assert list(graph.edges) == before


def test_chosen_properties() -> None:
    graph = nx.Graph()
    graph.add_node(0, element="C", charge=1, x=[1.0, 2.0], note="text")
    graph.add_node(1, element="O", charge=2, x=np.array([3.0, 4.0]), note="text")
    graph.add_edge(0, 1, kind=2)
    every = read_graphs(graph, node_label="element", edge_label="kind")
    assert every.attribute_names == ("charge", "x_0", "x_1")
    assert every.edge_labels is not None
    assert every.edge_labels.tolist() == [2, 2]
    assert sorted(every.label_names.values()) == ["C", "O"]
    one = read_graphs(graph, attributes=["charge"])
    assert one.attribute_names == ("charge",)
    assert one.node_labels is None


MOMENTS = [
    datetime(2020, 1, 2, 3, 4, 5, 123456),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2020, 1, 2, 3, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    date(2020, 1, 2),
    pandas.Timestamp("2020-01-02T03:04:05.123456789"),
]


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
@pytest.mark.parametrize("package", ["networkx", "igraph"])
def test_times_are_the_seconds_of_edge_tables(package: str, moment: date) -> None:
    table = pa.table({"graph_id": ["g"], "source": ["a"], "target": ["b"], "when": pa.array([moment])})
    graph = nx.Graph()
    graph.add_edge("a", "b", when=moment)
    source = graph if package == "networkx" else igraph.Graph.from_networkx(graph)
    result = read_report(source, use="when")
    assert result.graphs.edge_attribute_names == ("when",)
    assert result.graphs.edge_attributes.tolist() == read_graphs(table, use="when").edge_attributes.tolist()
    for dated in (source, table):
        unasked = read_report(dated)
        assert unasked.graphs.edge_attributes is None
        assert "edge column 'when' (dates)" in unasked.notes[-1]


def test_decimals_are_numbers_and_other_types_are_reported() -> None:
    graph = nx.Graph()
    graph.add_edge(0, 1, amount=Decimal("1.5"), open=np.bool_(True), parts={"a": 1}, span=timedelta(1), none=None)
    result = read_report(graph)
    assert result.graphs.edge_attribute_names == ("amount", "open")
    assert result.graphs.edge_attributes.tolist() == [[1.5, 1.0]] * 2
    assert result.notes == (
        "edge property 'parts' is of type dict and was not used",
        "edge property 'span' is of type timedelta and was not used",
    )
    graph.add_edge(1, 2, amount={"a": 1})
    with pytest.raises(GraphError, match=r"attribute 'amount' must be a number, found \{'a': 1\}"):
        read_graphs(graph)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 10**400, Decimal("sNaN"), pandas.NaT])
def test_bad_values_leave_the_graph_out(bad: float) -> None:
    good, broken = nx.path_graph(2), nx.path_graph(2)
    nx.set_node_attributes(good, 1.0, "q")
    nx.set_node_attributes(broken, bad, "q")
    result = read_report([good, broken])
    assert result.graphs.ids == ("graph-0",)
    assert (result.rejects[0].position, result.unit) == (1, "item")
    assert "'q' is NaN or infinite" in result.rejects[0].reason


def test_missing_attributes_are_named_or_filled() -> None:
    graph = nx.path_graph(3)
    graph.nodes[0]["q"] = 1.0
    with pytest.raises(GraphError, match=r"node 1 has no attribute 'q'; give it a value or read with fill=0\.0"):
        read_graphs(graph)
    filled = read_graphs(graph, fill=0.0)
    assert filled.attributes is not None
    assert filled.attributes[:, 0].tolist() == [1, 0, 0]


def test_an_empty_graph_and_things_that_are_no_graphs() -> None:
    result = read_report([nx.path_graph(2), nx.Graph(), None, "x", nx.path_graph(3)])
    assert result.graphs.ids == ("graph-0", "graph-4")
    assert [(reject.position, reject.reason) for reject in result.rejects] == [
        (1, "the graph has no nodes"),
        (2, "found NoneType in a list of networkx"),
        (3, "found str in a list of networkx"),
    ]


def test_wanted_attributes_must_be_numbers() -> None:
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, "words", "q")
    with pytest.raises(GraphError, match="attribute 'q' must be a number, found 'words'"):
        read_graphs(graph, attributes=["q"])


@pytest.mark.parametrize(("offset", "step", "lost"), [(0.1, 1, False), (0.1, 0, False), (1.7e9, 1, True)])
def test_node_attributes_that_rounding_makes_equal_are_told(offset: float, step: float, lost: bool) -> None:
    graph = nx.path_graph(5)
    nx.set_node_attributes(graph, {node: offset + step * node for node in graph}, "time")
    other = nx.path_graph(2)
    nx.set_node_attributes(other, {0: 1e39}, "time")  # too large, and missing at node 1
    notes = read_report([graph, other]).notes
    assert any("node attribute 'time' is stored with seven digits" in note for note in notes) is lost


def test_types_become_labels_and_keep_their_columns() -> None:
    bank = nx.DiGraph()
    bank.add_node("ann", type="person", age=41)
    bank.add_node("bob", type="person", age=33)
    bank.add_node("shop", type="merchant", revenue=9.5)
    bank.add_edge("ann", "shop", type="pays", amount=3.0)
    bank.add_edge("ann", "bob", type="knows")
    people = nx.DiGraph()
    people.add_node("eve", type="person", age=20)
    friends = nx.DiGraph()
    friends.add_nodes_from(["joe", "kim"], type="person", age=50)
    friends.add_edge("joe", "kim", type="knows")
    assert len(read_graphs([bank, people, friends])) == 3
    graphs = read_graphs([bank, people])
    assert [graphs.label_names[code] for code in graphs.node_labels.tolist()] == [
        "person",
        "person",
        "merchant",
        "person",
    ]
    assert graphs.attribute_names == ("age", "revenue")
    assert graphs.attributes.tolist() == [[41, 0], [33, 0], [0, 9.5], [20, 0]]
    edges = graphs.edge_list()
    assert {graphs.label_names[code] for code in edges.labels.tolist()} == {"pays", "knows"}
    assert sorted(edges.attributes[:, 0].tolist()) == [0, 3]
    bank.nodes["bob"].pop("age")
    assert "node 'bob' has no attribute 'age'" in read_report([bank, people]).rejects[0].reason
    bank.nodes["shop"].pop("type")
    assert "node property 'type' is text and was not used" in read_report([bank, people]).notes[0]
