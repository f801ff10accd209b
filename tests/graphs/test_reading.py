"""How a set was read: columns that only identify or date a row, what a model remembers, and rejected records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphglass import GraphGlass
from graphglass.errors import ArtifactError, GraphError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.read import read_graphs, read_report
from graphglass.graphs.readers.flat import column_kind
from graphglass.graphs.reading import ReadingOptions

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("t", 1.7e9 + RANDOM.integers(0, 10**7, 30), "time stamps"),
        ("t", 1.7e12 + RANDOM.integers(0, 10**9, 30), "time stamps"),
        ("day", np.array([20240131, 20240229, 20231201]), "dates"),
        ("n", np.arange(40), "running numbers"),
        ("n", RANDOM.permutation(40) + 7, "running numbers"),
        ("elapsed", np.cumsum(RANDOM.random(60)), "running numbers"),
        ("customer_id", RANDOM.integers(1, 90, 400), "identifiers"),
        ("customerId", RANDOM.integers(1, 90, 400), "identifiers"),
        ("reference", RANDOM.choice(np.arange(10_000, 99_999), 40, replace=False), "identifiers"),
        ("amount", RANDOM.lognormal(3, 2, 400), None),
        ("amount", np.round(RANDOM.lognormal(8, 2, 400)), None),
        ("kind_id", RANDOM.integers(0, 4, 400), None),
        ("year", RANDOM.integers(1990, 2024, 400), None),
        ("x", np.array([1.0, 2.0, 3.0]), None),
        ("paid", np.full(30, 1.7e9), None),
        ("charge", RANDOM.normal(size=400), None),
    ],
)
def test_kinds_of_columns(name: str, values: Any, kind: str | None) -> None:
    assert column_kind(name, np.asarray(values, np.float64)) == kind


def payments(days: int = 30, start: int = 0) -> pandas.DataFrame:
    random = np.random.default_rng(start)
    rows = days * 8
    return pandas.DataFrame(
        {
            "graph_id": np.repeat([f"day-{start + i}" for i in range(days)], 8),
            "source": random.integers(0, 6, rows),
            "target": random.integers(0, 6, rows),
            "amount": random.lognormal(3, 1, rows),
            "tx": np.arange(rows) + start * 8,
            "when": pandas.to_datetime("2026-01-01") + pandas.to_timedelta(np.arange(rows) + start * 8, "h"),
            "epoch": 1_767_225_600 + 3600 * (np.arange(rows) + start * 8),
        }
    )


def test_what_identifies_a_row_is_left_out_and_named(tmp_path: Path) -> None:
    payments().to_csv(tmp_path / "p.csv", index=False)
    for source in (payments(), tmp_path / "p.csv"):
        result = read_report(source, directed=True)
        assert result.graphs.edge_attribute_names == ("amount", "count")
        (note,) = result.notes
        assert note == (
            "not compared, since new graphs always differ there: edge column 'when' (dates), edge column 'tx' (running "
            "numbers), edge column 'epoch' (time stamps); use='NAME' uses one"
        )
        assert set(result.graphs.reading.ignore) == {"tx", "when", "epoch"}
        used = read_report(source, directed=True, use=["TX", "epoch"], ignore="when")
        assert used.graphs.edge_attribute_names == ("amount", "tx", "epoch", "count")
        assert used.notes == ()
        every = read_graphs(source, directed=True, use="all")
        assert every.edge_attribute_names == ("amount", "tx", "when", "epoch", "count")
    chosen = read_graphs(payments(), edge_attributes=["epoch"], directed=True)
    assert chosen.edge_attribute_names == ("epoch", "count")


def test_properties_are_judged_and_stated_attributes_are_not() -> None:
    graph = nx.path_graph(40)
    nx.set_node_attributes(graph, {node: 1.7e9 + 60 * node for node in graph}, "seen")
    assert read_graphs(graph).attributes is None
    record = {"nodes": [{"id": node, "attributes": {"seen": 1.7e9 + 60 * node}} for node in range(40)]}
    assert read_graphs([record]).attribute_names == ("seen",)


def test_queries_are_read_as_the_references_were() -> None:
    references = read_graphs(payments(), directed=True, merge={"amount": "max"})
    stored = json.loads(json.dumps(references.reading.to_json()))
    assert stored == {"ignore": ["epoch", "tx", "when"], "directed": True, "merge": {"amount": "max"}}
    reading = ReadingOptions.from_json(stored)
    assert reading == references.reading
    queries = read_report(payments(2, 30).sample(frac=1, random_state=0), reading=reading)
    assert queries.notes == ()
    assert queries.graphs.directed
    assert set(queries.graphs.edge_attribute_names) <= {"amount", "count"}
    assert queries.graphs.reading == reading
    fewer = read_graphs(payments(2, 30).drop(columns=["when", "tx"]), reading=reading)
    assert fewer.content_hashes() == read_graphs(payments(2, 30), reading=reading).content_hashes()
    other = payments(2, 30).rename(columns={"graph_id": "case"})
    assert len(read_graphs(other, reading=reading, graph_column="case")) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"directed": False}, "read with directed=True, but the queries are to be read with directed=False"),
        ({"edge_label": "kind"}, "edge_label='label', but .* edge_label='kind'"),
        ({"ignore": "amount"}, r"ignore=\['epoch', 'tx', 'when'\], but .* ignore='amount'"),
        ({"use": ["Tx"]}, "read without the column 'Tx', but use='Tx' asks for it"),
        ({"fill": 0.0}, "fill=1.0, but .* fill=0.0"),
        ({"merge": {"amount": "max"}}, "merge=None, but .* merge={'amount': 'max'}"),
        ({"edge_attributes": ["amount"]}, r"edge_attributes=None, but .* edge_attributes=\('amount',\)"),
    ],
)
def test_a_contradiction_names_both_values(settings: dict[str, Any], message: str) -> None:
    reading = read_graphs(payments(), directed=True, fill=1.0).reading
    with pytest.raises(SchemaError, match=message):
        read_graphs(payments(2, 30), reading=reading, **settings)
    read_graphs(payments(2, 30), reading=reading, directed=True, fill=1.0, ignore=["TX"])


def test_an_input_that_states_its_direction_keeps_it() -> None:
    reading = ReadingOptions(directed=True)
    assert not read_graphs(nx.path_graph(3), reading=reading).directed
    assert read_graphs(nx.DiGraph([(0, 1)]), reading=reading).directed


HOSTILE: list[Any] = [
    None, [], "x", {"unknown": 1}, {"directed": 1}, {"directed": "yes"}, {"fill": float("nan")}, {"fill": True},
    {"ignore": "x"}, {"ignore": [1]}, {"ignore": ["x"] * 5000}, {"merge": ["a"]}, {"merge": {"a": "exec"}},
    {"standardise": "../x"}, {"graph_column": None}, {"graph_column": ["a"]}, {"use": "all"}, {"stereo": 0},
    {"limits": {}}, {"log": 1}, {"attributes": [["a"]]},
]  # fmt: skip


@pytest.mark.parametrize("document", HOSTILE, ids=str)
def test_a_model_file_cannot_hold_other_options(document: Any) -> None:
    with pytest.raises(ArtifactError):
        ReadingOptions.from_json(document)


def test_rejected_records_stay_known(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    path = tmp_path / "m.csv"
    path.write_text("name,smiles,dose\na,CC,1\nb,xyz,2\nc,,3\nd,CO,4\n")
    graphs = read_graphs(path, keep="dose")
    assert graphs.ids == ("a", "d")
    assert [(one.position, one.id, one.columns["dose"]) for one in graphs.rejected] == [(3, "b", "2"), (4, "c", "3")]
    assert [one.reason for one in graphs.rejected] == ["'xyz' is not a SMILES string", "there is no SMILES"]
    assert graphs[:1].rejected == ()
    more = tmp_path / "n.csv"
    more.write_text("name,smiles,dose\ne,C,1\nf,?,2\n")
    both = graphs + read_graphs(more, keep="dose")
    assert [one.id for one in both.rejected] == ["b", "c", "f"]
    with pytest.raises(GraphError, match="'xyz' is not a SMILES string"):
        read_graphs(path, strict=True)


def test_graphs_are_selected_by_id() -> None:
    graphs = canonical_graph_set([1, 2, 3], [1], [2], ids=["TNT", "sarin", "7"])
    assert graphs["sarin"].sizes.tolist() == [2]
    assert graphs[["7", "TNT"]].ids == ("7", "TNT")
    with pytest.raises(GraphError, match=r"There is no graph 'sarim'\. Did you mean 'sarin'\?"):
        graphs["sarim"]
    with pytest.raises(GraphError, match=r"There is no graph 'x'\. The ids begin with TNT, sarin, 7"):
        graphs["x"]


def test_ids_that_are_not_finite_are_no_nodes(tmp_path: Path) -> None:
    sources = pa.array([0.0, float("nan"), 1.0, 2.0, 0.0, 0.0])
    targets = pa.array([1.0, 1.0, float("inf"), 0.0, None, 1.0])
    table = pa.table({"graph_id": list("abcdee"), "source": sources, "target": targets})
    pq.write_table(table, tmp_path / "e.parquet")
    for source in (tmp_path / "e.parquet", table):
        result = read_report(source)
        assert result.graphs.ids == ("a", "d")
        assert {reject.reason for reject in result.rejects} == {"an edge has no source or no target that is finite"}
    graph = nx.Graph([(0.0, float("inf"))])
    assert "a node is called inf; an id must be finite" in read_report(graph).rejects[0].reason


def test_the_label_of_json_nodes_and_edges_has_the_name_that_is_given():
    record = {
        "id": "a",
        "nodes": [{"id": "x", "kind": "shop"}, {"id": "y", "kind": "person"}],
        "edges": [{"source": "x", "target": "y", "via": "card"}],
    }
    graphs = read_graphs([record], node_label="kind", edge_label="via")
    assert {graphs.label_names[code] for code in graphs.node_labels.tolist()} == {"shop", "person"}
    assert {graphs.label_names[code] for code in graphs.edge_labels.tolist()} == {"card"}
    assert not read_report([record], node_label="kind", edge_label="via").notes


@pytest.mark.parametrize("name", ["node_label", "edge_label"])
def test_a_label_that_nothing_has_is_refused(name):
    record = {"id": "a", "nodes": [{"id": 0, "label": "C"}, {"id": 1, "label": "C"}], "edges": [[0, 1]]}
    table = pandas.DataFrame({"graph_id": ["a"], "source": [0], "target": [1]})
    for source in ([record], table):
        with pytest.raises(SchemaError, match=r"No .* has a 'kind', which is to be its label"):
            read_graphs(source, **{name: "kind"})


def test_names_of_nodes_become_labels_on_request():
    table = pandas.DataFrame([(g, "open", "read") for g in range(3)], columns=["graph_id", "source", "target"])
    result = read_report(table)
    assert result.graphs.node_labels is None
    assert any("node_label='node'" in note for note in result.notes)
    graphs = read_graphs(table, node_label="node")
    assert graphs.label_names[int(graphs.node_labels[0])] == "open"


def test_a_mistyped_id_gets_the_nearest_ones():
    graphs = read_graphs([{"id": name, "nodes": 2} for name in ("aspirin", "ibuprofen")])
    with pytest.raises(GraphError, match=r"no graph 'asprin'\. Did you mean 'aspirin'"):
        graphs["asprin"]
    detector = GraphGlass().fit(graphs)
    with pytest.raises(GraphError, match=r"no reference 'asprin'\. Did you mean 'aspirin'"):
        detector.reference("asprin")
    with pytest.raises(GraphError, match=r"no reference 'asprin'\. Did you mean 'aspirin'"):
        detector.remove_references("asprin")
