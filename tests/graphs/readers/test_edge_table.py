"""Edge and node tables, as CSV, TSV and Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphglass.errors import FormatError, GraphError, LimitError, SchemaError
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_graphs, read_report

EDGES = "graph_id,source,target,label\nb,0,1,x\nb,1,2,y\na,5,7,x\nb,2,1,z\n"
NODES = (
    "graph_id,node,label,charge,graph_label\na,5,C,0.5,1\na,7,O,1.5,1\na,9,,2.5,1\nb,0,C,0,0\nb,1,C,0,0\nb,2,C,0,0\n"
)


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.csv"
    path.write_text(EDGES)
    return path


@pytest.fixture
def nodes(tmp_path: Path) -> Path:
    path = tmp_path / "nodes.csv"
    path.write_text(NODES)
    return path


def test_the_class_column_has_any_case_and_must_exist(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("graph_id,source,target,Fraud\na,0,1,yes\na,1,2,yes\nb,0,1,no\n")
    assert read_graphs(path, label_column="fraud").label_names == read_graphs(path, label_column="Fraud").label_names
    with pytest.raises(SchemaError, match=r"no column 'froud'\. Columns found: graph_id, source, target, Fraud"):
        read_graphs(path, label_column="froud")
    with pytest.raises(SchemaError, match=r"no column 'branch' to keep\. Columns found: graph_id, source"):
        read_graphs(path, keep="branch")


def test_a_kept_number_is_compared_as_without_keeping_it(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("graph_id,source,target,amount,branch\na,0,1,2.5,7\na,1,2,3,7\nb,0,1,4,9\n")
    kept, plain = read_graphs(path, keep="branch"), read_graphs(path)
    assert list(kept.columns["branch"]) == [7, 9]
    assert kept.edge_attribute_names == plain.edge_attribute_names == ("amount", "branch")
    assert kept.content_hashes() == plain.content_hashes()


def test_ignored_columns_are_not_compared_but_can_be_kept(tmp_path: Path) -> None:
    edges, nodes = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    edges.write_text("graph_id,source,target,amount,Time,label\na,0,1,2.5,7,x\na,1,2,3,7,x\nb,0,1,4,,y\n")
    nodes.write_text("graph_id,node,row,age\na,0,1,5\na,1,2,5\na,2,3,5\nb,0,4,6\nb,1,5,6\n")
    graphs = read_graphs(edges, nodes=nodes, ignore=["time", "row", "label"], keep="time")
    assert graphs.ids == ("a", "b")  # also the one without a time
    assert graphs.edge_attribute_names == ("amount",)
    assert graphs.attribute_names == ("age",)
    assert graphs.edge_labels is None
    assert list(graphs.columns["Time"]) == [7, None]
    assert read_graphs(edges, ignore="time").edge_attribute_names == ("amount",)
    nodes.write_text(nodes.read_text().replace("row", "TIME"))
    both = read_graphs(edges, nodes=nodes, ignore="time")
    assert (both.edge_attribute_names, both.attribute_names) == (("amount",), ("age",))


def test_only_columns_that_are_there_and_not_needed_can_be_ignored(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("customer,source,target,time\na,0,1,7\n")
    for name in ("tiem", "customer", "graph_id", "source"):
        with pytest.raises(SchemaError, match=rf"no column '{name}' to ignore\. Columns that can be: time\."):
            read_graphs(path, graph_column="customer", ignore=[name])
    with pytest.raises(SchemaError, match=r"no column 'time' to ignore\. Columns that can be: none"):
        read_graphs([{"id": "a", "nodes": 2, "edges": [[0, 1]]}], ignore="time")
    records = [{"nodes": 2, "edges": [{"source": 0, "target": 1, "attributes": {"Time": 1.0, "sum": 2.0}}]}]
    assert read_graphs(records, ignore="time").edge_attribute_names == ("sum",)


def test_edges_alone(edges: Path) -> None:
    graphs = read_graphs(edges)
    assert graphs.ids == ("b", "a")
    assert graphs.sizes.tolist() == [3, 2]
    assert graphs.edge_counts.tolist() == [2, 1]
    assert graphs.node_names is not None
    assert graphs.node_names.tolist() == ["0", "1", "2", "5", "7"]
    assert graphs.edge_labels is not None
    assert [graphs.label_names[code] for code in graphs.edge_labels.tolist()] == ["x", "x", "y", "y", "x", "x"]
    assert graphs.removed[:, 2].tolist() == [1, 1]


def test_a_node_table_adds_isolated_nodes_labels_attributes_and_classes(edges: Path, nodes: Path) -> None:
    graphs = read_graphs(edges, nodes=nodes)
    assert graphs.ids == ("a", "b")
    assert graphs.sizes.tolist() == [3, 3]
    assert graphs.attribute_names == ("charge",)
    assert graphs.attributes is not None
    assert graphs.attributes[:, 0].tolist() == [0.5, 1.5, 2.5, 0, 0, 0]
    assert graphs.node_labels is not None
    assert [graphs.label_names[code] for code in graphs.node_labels.tolist()] == ["C", "O", "", "C", "C", "C"]
    assert graphs.labels is not None
    assert graphs.labels.tolist() == [1, 0]
    assert np.diff(graphs.neighbour_offsets).tolist() == [1, 1, 0, 1, 2, 1]


def test_ids_keep_their_spelling(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text("graph_id\tsource\ttarget\n007\ta\t01\n7\ta\tb\n")
    graphs = read_graphs(path)
    assert graphs.ids == ("007", "7")
    assert graphs.node_names is not None
    assert graphs.node_names.tolist() == ["a", "01", "a", "b"]


def test_parquet_and_csv_read_alike(tmp_path: Path, edges: Path, nodes: Path) -> None:
    from pyarrow import csv

    pq.write_table(csv.read_csv(edges), tmp_path / "e.parquet")
    pq.write_table(csv.read_csv(nodes), tmp_path / "n.parquet")
    one, two = read_graphs(edges, nodes=nodes), read_graphs(tmp_path / "e.parquet", nodes=tmp_path / "n.parquet")
    mixed = read_graphs(edges, nodes=tmp_path / "n.parquet")
    assert one.content_hashes() == two.content_hashes() == mixed.content_hashes()
    assert one.ids == two.ids


def test_integer_node_ids_in_order_need_no_names(tmp_path: Path) -> None:
    pq.write_table(pa.table({"graph_id": [1, 1], "source": [1, 0], "target": [2, 1]}), tmp_path / "e.parquet")
    graphs = read_graphs(tmp_path / "e.parquet")
    assert graphs.node_names is None
    assert graphs.ids == ("1",)


CASES: list[tuple[str, str | None, list[str], int, str]] = [
    ("b,0,1,x\na,5,,x\n", None, ["b"], 3, "no source or no target"),
    ("b,0,1,x\n,5,7,x\n", None, ["b"], 3, "no graph_id"),
    ("b,0,1,x\na,5,8,x\n", NODES, ["b"], 3, "a node that the node table does not list"),
    ("b,0,1,x\n", NODES.replace("2.5", "nan"), ["b"], 2, "node '9' has no attribute 'charge'"),
    ("b,0,1,x\n", NODES.replace("2.5", "inf"), ["b"], 2, "attribute 'charge' of node '9' is infinite"),
    ("b,0,1,x\n", NODES.replace("2.5", ""), ["b"], 2, "node '9' has no attribute 'charge'"),
    ("b,0,1,x\n", NODES.replace("a,9", "a,7"), ["b"], 4, "node 7 occurs twice"),
    ("b,0,1,x\n", NODES.replace("a,9", "a,"), ["b"], 4, "a row of the node table has no finite node"),
]


@pytest.mark.parametrize(("rows", "node_rows", "kept", "position", "reason"), CASES)
def test_a_graph_at_fault_is_left_out(
    tmp_path: Path, rows: str, node_rows: str | None, kept: list[str], position: int, reason: str
) -> None:
    path, other = tmp_path / "e.csv", tmp_path / "n.csv"
    path.write_text("graph_id,source,target,label\n" + rows)
    options: dict[str, Any] = {}
    if node_rows is not None:
        other.write_text(node_rows)
        options["nodes"] = other
    result = read_report(path, **options)
    assert list(result.graphs.ids) == kept
    assert result.graphs.sizes.sum() == (3 if node_rows else 2)
    assert result.rejects[0].position == position
    assert reason in result.rejects[0].reason
    with pytest.raises(GraphError, match=reason):
        read_graphs(path, strict=True, **options)


def test_missing_attributes_can_be_filled(tmp_path: Path, edges: Path) -> None:
    other = tmp_path / "n.csv"
    other.write_text(NODES.replace("2.5", ""))
    graphs = read_graphs(edges, nodes=other, fill=9.0)
    assert graphs.attributes is not None
    assert graphs.attributes[2, 0] == 9.0


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("graph_id,one,two", r"missing: source, target. Columns found: graph_id, one, two"),
        ("graph,source,target", r"neither a SMILES column nor the columns graph_id, source, target"),
        ("", r"e.csv is empty"),
    ],
)
def test_wrong_columns_are_named(tmp_path: Path, header: str, message: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(f"{header}\n1,2,3\n" if header else "")
    with pytest.raises(SchemaError, match=message):
        read_graphs(path)


def test_a_node_table_with_wrong_columns_or_no_file(edges: Path, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="a node table, needs the columns graph_id, node; missing: node"):
        read_graphs(edges, nodes=edges)
    with pytest.raises(FormatError, match="does not exist"):
        read_graphs(edges, nodes=tmp_path / "none.csv")


def test_rows_after_a_ragged_one_keep_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("graph_id,source,target\n1,a,b\n2,a,b,9\n2,b,c\n,a,b\n3,a,\n4,x,y\n")
    found = [(reject.position, reject.id) for reject in read_report(path).rejects]
    assert found == [(3, "2"), (5, "?"), (6, "3")]


def test_ragged_rows_and_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("graph_id,source,target\na,1,2\nb,1,2\na,1\n")
    result = read_report(path)
    assert result.graphs.ids == ("b",)  # an edge of the other graph is lost, so the graph is left out
    assert [(r.position, r.id, r.reason) for r in result.rejects] == [(4, "a", "2 columns, the header has 3")]
    broken = tmp_path / "e.parquet"
    broken.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(FormatError, match="not a readable Parquet file"):
        read_graphs(broken)


def test_limits(edges: Path) -> None:
    with pytest.raises(LimitError, match="max_edges is 3"):
        read_graphs(edges, limits=Limits(max_edges=3))
    result = read_report(edges, limits=Limits(max_nodes_per_graph=2))
    assert result.graphs.ids == ("a",)
    assert "3 nodes, the limit" in result.rejects[0].reason


def test_a_label_means_the_same_whatever_else_its_column_holds(tmp_path: Path) -> None:
    """One word among numbers must not turn the numbers of that file into words."""
    codes = {}
    for name, labels in {"numbers": "10,20,20.0", "mixed": "10,20,UNK"}.items():
        rows = "".join(f"g,{i},{i + 1},{label}\n" for i, label in enumerate(labels.split(",")))
        (tmp_path / f"{name}.csv").write_text("graph_id,source,target,label\n" + rows)
        graphs = read_graphs(tmp_path / f"{name}.csv")
        assert graphs.edge_labels is not None
        codes[name] = set(graphs.edge_labels.tolist())
    assert codes["numbers"] == {10, 20}
    assert codes["numbers"] < codes["mixed"]


def test_na_is_an_id_and_a_label_like_others(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("graph_id,source,target,label\nNA,a,null,NA\nnull,NA,b,x\n")
    graphs = read_graphs(path)
    assert graphs.ids == ("NA", "null")
    assert set(graphs.label_names.values()) == {"NA", "x"}


@pytest.mark.parametrize("cell", ["oops", '"1,234.50"'])
def test_the_cell_that_makes_a_column_text_is_named(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(f"graph_id,source,target,amount,memo\na,0,1,N/A,x\na,1,2,-1.5e3,y\nb,0,1,{cell},z\n")
    note = read_report(path).notes[0]
    found = cell.strip('"')
    assert note == (
        f"edge property 'amount' is text (row 4 has '{found}', other rows have numbers; correct it) and was not used; "
        "pass edge_label='amount' to use it as a label"
    )
    assert "edge property 'memo' is text and was not used; pass edge_label='memo'" in read_report(path).notes[-1]
    nodes = tmp_path / "n.csv"
    nodes.write_text("graph_id,node,charge\nb,0,1\na,0,?\nb,1,!\na,1,2\na,2,3\n")
    assert "'charge' is text (row 3 has '?'" in read_report(path, nodes=nodes).notes[1]


def test_text_columns_share_a_line_that_queries_of_a_model_do_not_repeat(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("graph_id,source,target,memo,channel\na,p,q,x,y\nb,p,q,y,z\n")
    found = read_report(path, directed=True)
    assert found.notes == (
        "the names of nodes recur and are not compared; node_label='node' takes them as labels",
        "edge properties 'memo', 'channel' are text and were not used; pass edge_label='NAME' to use one as a label",
    )
    assert read_report(path, reading=found.graphs.reading).notes == ()


@pytest.mark.parametrize("header", ["Graph_ID,Source,TARGET", "graph_id,from,to", "GRAPH_ID,src,dst"])
def test_usual_headers_are_found_in_any_case(tmp_path: Path, header: str) -> None:
    path, plain = tmp_path / "e.csv", tmp_path / "plain.csv"
    rows = "007,01,2,5.5\n007,2,3,1\nb,3,4,2\n"
    path.write_text(f"{header},amount\n{rows}")
    plain.write_text(f"graph_id,source,target,amount\n{rows}")
    graphs, expected = read_graphs(path), read_graphs(plain)
    assert graphs.ids == expected.ids == ("007", "b")
    assert graphs.content_hashes() == expected.content_hashes()
    table = pa.table(dict.fromkeys(header.split(","), expected.ids))
    assert read_graphs(table).ids == expected.ids


@pytest.mark.parametrize(("cell", "number"), [("20", 20), ("-2,5", -2.5), ("1.234,5", 1234.5), ("NA", 0), ("", 0)])
def test_decimal_commas_are_read_between_semicolons(tmp_path: Path, cell: str, number: float) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(f"graph_id;source;target;amount\na;1;2;1,50\na;2;3;{cell}\n")
    numbers = read_graphs(path, fill=0.0).edge_list().attributes
    assert numbers is not None
    assert numbers[:, 0].tolist() == [1.5, number]
    path.write_text(f'graph_id,source,target,amount\na,1,2,"1,50"\na,2,3,"{cell}"\n')
    assert any("'amount' is text (numbers with a comma; " in note for note in read_report(path).notes)


@pytest.mark.parametrize("cells", [("1", "2"), ("x", "y"), ("a,b", "c")])
def test_text_without_such_numbers_has_no_remark(cells: tuple[str, str]) -> None:
    table = pa.table({"graph_id": ["a", "a"], "source": [1, 2], "target": [2, 3], "amount": list(cells)})
    assert any("'amount' is text and was not used" in note for note in read_report(table).notes)


@pytest.mark.parametrize("cell", ["", "NA", "N/A", "null"])
def test_a_number_that_is_not_available_is_missing(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(f"graph_id,source,target,amount\na,0,1,2.5\nb,0,1,{cell}\n")
    result = read_report(path)
    assert result.graphs.edge_attribute_names == ("amount",)
    assert "has no attribute 'amount'" in result.rejects[0].reason
    assert len(read_graphs(path, fill=0.0)) == 2


def test_an_open_quote_is_suspected_and_its_text_is_shortened(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text('graph_id,source,target\na,0,1\n"b,0,1\n' + "c,0,1\n" * 50)
    line = read_report(path).summary().splitlines()[1]
    assert line.startswith("  line 3, 'b,0,1")
    assert line.endswith("1 column, the header has 3; the row covers several lines, so a quote may not be closed")
    assert len(line) < 200
    with pytest.raises(GraphError, match="a quote may not be closed") as raised:
        read_graphs(path, strict=True)
    assert len(str(raised.value)) < 300
