"""The caller's own columns: read from every format, kept by selection and joining, absent unless asked for."""

from __future__ import annotations

import json
from pathlib import Path

import igraph
import networkx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphglass.errors import FormatError, GraphError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_graphs
from graphglass.graphs.readers.parquet import write_parquet
from graphglass.graphs.user_columns import own_column

TABLE = "Name,SMILES,zip,label\naspirin,CC(=O)Oc1ccccc1C(=O)O,007,1\nbad,C1CC,7,0\nethanol,CCO,,0\n"


def columns(graphs: GraphSet) -> dict[str, list[object]]:
    return {name: values.tolist() for name, values in graphs.columns.items()}


@pytest.fixture
def molecules(tmp_path: Path) -> Path:
    path = tmp_path / "molecules.csv"
    path.write_text(TABLE)
    return path


def test_no_columns_unless_asked(molecules: Path) -> None:
    assert read_graphs(molecules).columns == {}


def test_molecule_table_keeps_the_spelling(molecules: Path) -> None:
    kept = columns(read_graphs(molecules, keep=["name", "zip"]))
    assert kept == {"Name": ["aspirin", "ethanol"], "zip": ["007", ""]}  # the bad row in between is skipped
    assert list(columns(read_graphs(molecules, keep="all"))) == ["Name", "SMILES", "zip", "label"]


def test_missing_column_names_those_found(molecules: Path) -> None:
    with pytest.raises(SchemaError, match=r"no column 'mass' to keep. Columns found: Name, SMILES, zip, label"):
        read_graphs(molecules, keep=["mass"])


def test_smi_and_strings(tmp_path: Path) -> None:
    path = tmp_path / "a.smi"
    path.write_text("CCO ethanol\nCC\n")
    assert columns(read_graphs(path, keep="all")) == {"smiles": ["CCO", "CC"], "name": ["ethanol", None]}
    assert columns(read_graphs(["CCO"], format="smi", keep="smiles")) == {"smiles": ["CCO"]}


def test_sdf_values(tmp_path: Path) -> None:
    from rdkit import Chem

    path = tmp_path / "a.sdf"
    with Chem.SDWriter(str(path)) as writer:
        for name, note in (("ethanol", "two\nlines"), ("ethane", "one")):
            molecule = Chem.MolFromSmiles({"ethanol": "CCO", "ethane": "CC"}[name])
            molecule.SetProp("_Name", name)
            molecule.SetProp("note", note)
            writer.write(molecule)
    kept = columns(read_graphs(path, keep="all"))
    assert kept == {"name": ["ethanol", "ethane"], "note": ["two\nlines", "one"]}


def test_json_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    records = [{"nodes": 2, "day": 3, "host": "a", "tags": [1]}, {"nodes": 1, "columns": {"day": 4}}]
    path.write_text("\n".join(map(json.dumps, records)))
    graphs = read_graphs(path, keep="all", label_column="day")
    assert columns(graphs) == {"day": [3, 4], "host": ["a", None]}
    assert graphs.columns["day"].dtype == np.int64
    assert graphs.labels is not None
    assert graphs.labels.tolist() == [3, 4]


def test_networkx_igraph_and_graphml(tmp_path: Path) -> None:
    graph = networkx.path_graph(3)
    graph.graph["host"] = "a"
    assert columns(read_graphs(graph, keep="all")) == {"host": ["a"]}
    networkx.write_graphml(graph, tmp_path / "a.graphml")
    assert columns(read_graphs(tmp_path / "a.graphml", keep="host")) == {"host": ["a"]}
    other = igraph.Graph.Ring(3)
    other["host"] = "b"
    assert columns(read_graphs(other, keep="host")) == {"host": ["b"]}


def test_pyg_keeps_fields_of_the_whole_graph() -> None:
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    made = [
        data.Data(x=torch.ones(3, 2), edge_index=edges, y=torch.tensor([i]), smiles=smiles, mass=torch.tensor([mass]))
        for i, (smiles, mass) in enumerate([("CCO", 46.0), ("CCN", 45.0)])
    ]
    graphs = read_graphs(made, keep="all")
    assert columns(graphs) == {"mass": [46.0, 45.0], "smiles": ["CCO", "CCN"], "y": [0, 1]}
    assert columns(read_graphs(data.Batch.from_data_list(made), keep=["smiles"])) == {"smiles": ["CCO", "CCN"]}
    labelled = read_graphs(made, label_column="mass")
    assert labelled.labels is not None
    assert labelled.labels.tolist() == [46.0, 45.0]
    with pytest.raises(SchemaError, match="no column 'name' to keep"):
        read_graphs(made, keep=["name"])


def test_tu_keeps_graph_attributes(tmp_path: Path) -> None:
    for part, text in {
        "A": "1, 2\n2, 1\n3, 4\n4, 3\n", "graph_indicator": "1\n1\n2\n2\n", "graph_attributes": "0.5, 1\n1.5, 2\n",
    }.items():  # fmt: skip
        (tmp_path / f"TOY_{part}.txt").write_text(text)
    assert columns(read_graphs(tmp_path, keep="graph_attribute_1")) == {"graph_attribute_1": [1.0, 2.0]}
    assert list(read_graphs(tmp_path, keep="all").columns) == ["graph_attribute_0", "graph_attribute_1"]
    assert read_graphs(tmp_path).columns == {}
    (tmp_path / "TOY_graph_attributes.txt").write_text("0.5\n")
    with pytest.raises(FormatError, match=r"has 1 lines, but the dataset has 2 graphs"):
        read_graphs(tmp_path, keep="all")


@pytest.fixture
def transfers(tmp_path: Path) -> Path:
    table = {
        "graph_id": ["b", "a", "a"], "source": [0, 0, 1], "target": [1, 1, 2], "amount": [1.0, 2.0, 3.0],
        "bank": ["x", "y", "y"], "memo": ["p", "q", "r"], "day": [5, 6, 6], "fraud": ["no", "yes", "yes"],
    }  # fmt: skip
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table(table), path)
    return path


def test_edge_table(transfers: Path) -> None:
    graphs = read_graphs(transfers, keep=["bank", "day"], label_column="fraud")
    assert columns(graphs) == {"bank": ["x", "y"], "day": [5, 6]}
    assert graphs.edge_attribute_names == ("amount", "day")  # a kept number is compared as without keeping it
    assert graphs.labels is not None
    assert graphs.labels.tolist() == ["no", "yes"]


def test_edge_table_keeps_all_text_that_describes_graphs(transfers: Path) -> None:
    graphs = read_graphs(transfers, keep="all")
    assert columns(graphs) == {"bank": ["x", "y"], "fraud": ["no", "yes"]}
    assert graphs.edge_attribute_names == ("amount", "day")
    with pytest.raises(SchemaError, match="'memo' has several values in graph 'a'"):
        read_graphs(transfers, keep=["memo"])


def test_selection_and_joining() -> None:
    one = canonical_graph_set([1, 1], [], [], ids=["a", "b"], columns={"name": ["p", "q"], "mass": [1, 2]})
    two = canonical_graph_set([1], [], [], ids=["c"], columns={"name": ["r"]})
    assert columns(one[[1]]) == {"name": ["q"], "mass": [2]}
    assert columns(one + two) == {"name": ["p", "q", "r"], "mass": [1, 2, None]}
    assert concatenate([one, two])[:2].columns["name"].tolist() == ["p", "q"]
    with pytest.raises(ValueError, match="read-only"):
        one.columns["mass"][0] = 3
    with pytest.raises(GraphError, match=r"columns\['x'\] must have 1 values"):
        canonical_graph_set([1], [], [], columns={"x": [1, 2]})


@pytest.mark.parametrize("flat", [False, True])
def test_parquet_holds_what_has_no_type_as_text(tmp_path: Path, flat: bool) -> None:
    rows = [{"id": str(i), "nodes": 1, "big": 10**i, "size": i / 10, "mix": value} for i, value in ((3, "x"), (25, 7))]
    graphs = read_graphs(rows, keep="all")
    nodes = tmp_path / "n.parquet" if flat else None
    write_parquet(graphs, tmp_path / "g.parquet", nodes=nodes)
    back = read_graphs(tmp_path / "g.parquet", nodes=nodes, keep="all").columns
    assert {name: values.tolist() for name, values in back.items()} == {
        "big": ["1000", str(10**25)], "size": [0.3, 2.5], "mix": ["x", "7"],
    }  # fmt: skip


def test_types() -> None:
    assert own_column([True, False]).dtype == bool
    assert own_column([1.5, 2.0]).dtype == np.float64
    assert own_column([1, np.nan]).tolist() == [1, None]
    assert own_column([2**63]).tolist() == [2**63]
    assert own_column([np.datetime64("2020-01-02")]).tolist() == ["2020-01-02"]
