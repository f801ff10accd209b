"""DataFrames and Parquet tables: edges with a node table, molecules, graphs; and what is no such table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

from graphglass.errors import FormatError, SchemaError
from graphglass.graphs.read import read_graphs, read_report

EDGES = {"graph_id": [7, 7, 8], "source": [0, 1, 0], "target": [1, 2, 1]}
FRAMES = pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
MOLECULES = {
    "name": ["ethanol", "bad", "ethane"],
    "SMILES": ["CCO", "C1CC", "CC"],
    "active": [1, 0, 0],
    "p": [0.5, 1, 2],
}


@FRAMES
def test_molecules(frame: Any) -> None:
    result = read_report(frame(MOLECULES), keep=["p"], label_column="active")
    graphs = result.graphs
    assert graphs.ids == ("ethanol", "ethane")
    assert graphs.columns["p"].tolist() == [0.5, 2.0]
    assert graphs.labels is not None
    assert graphs.labels.tolist() == [1, 0]
    assert graphs.content_hashes() == read_graphs(["CCO", "CC"], format="smi").content_hashes()
    assert (result.rejects[0].position, result.rejects[0].id) == (1, "bad")


@FRAMES
def test_missing_smiles_and_other_column_names(frame: Any) -> None:
    result = read_report(frame({"structure": ["CC", None]}), smiles_column="structure")
    assert result.graphs.ids == ("0",)
    assert [(reject.id, reject.reason) for reject in result.rejects] == [("1", "there is no SMILES")]


def test_the_index_of_a_frame_gives_the_ids() -> None:
    frame = pandas.DataFrame({"smiles": ["CC", "CO"], "name": ["ethane", "methanol"]})
    assert read_graphs(frame).ids == ("ethane", "methanol")
    assert read_graphs(frame.set_index(pandas.Index(["x", "y"]))).ids == ("x", "y")
    assert read_graphs(frame.drop(0)).ids == ("methanol",)  # a part of a table has the names of the whole
    assert read_graphs(frame.drop(columns="name").drop(0)).ids == ("1",)
    assert read_graphs(frame.set_index(pandas.Index([7, 8], name="batch"))).ids == ("7", "8")
    assert read_graphs(frame.drop(0), id_column="name").ids == ("methanol",)
    assert read_graphs(frame.assign(name=["ethane", None])).ids == ("ethane", "line-1")


@FRAMES
def test_edges_with_a_node_table(frame: Any, tmp_path: Path) -> None:
    nodes = frame({"graph_id": [7, 7, 7, 8, 8], "node": [0, 1, 2, 0, 1], "label": list("CCOCN"), "x": range(5)})
    graphs = read_graphs(frame(EDGES), nodes=nodes)
    assert graphs.ids == ("7", "8")
    assert graphs.attributes is not None
    assert graphs.attributes[:, 0].tolist() == [0, 1, 2, 3, 4]
    pandas.DataFrame(EDGES).to_parquet(tmp_path / "e.parquet")
    assert read_graphs(tmp_path / "e.parquet", nodes=nodes).content_hashes() == graphs.content_hashes()


def test_parquet_of_molecules(tmp_path: Path) -> None:
    pandas.DataFrame(MOLECULES).to_parquet(tmp_path / "m.parquet")
    result = read_report(tmp_path / "m.parquet")
    assert result.graphs.ids == ("ethanol", "ethane")
    assert (result.rejects[0].position, result.unit) == (2, "row")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_the_header_shows_the_separator(tmp_path: Path, separator: str, suffix: str) -> None:
    tables = {
        "e": 'graph_id,source,target,"a,b;c"\ng,0,1,2\n', "n": "graph_id,node,x\ng,0,1.5\ng,1,2.5\n",
        "m": "smiles,name\nCC,ethane\n",
    }  # fmt: skip
    for name, text in tables.items():
        unlike = text.replace("a,b;c", "quoted").replace(",", separator).replace("quoted", "a,b;c")
        (tmp_path / f"{name}.{suffix}").write_text(unlike)
    graphs = read_graphs(tmp_path / f"e.{suffix}", nodes=tmp_path / f"n.{suffix}")
    assert (graphs.edge_attribute_names, graphs.attribute_names) == (("a,b;c",), ("x",))
    assert read_graphs(tmp_path / f"m.{suffix}").ids == ("ethane",)


def test_a_separator_of_the_suffix_comes_first(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("graph_id,source,target,a;b\ng,0,1,2\n")
    assert read_graphs(tmp_path / "e.csv").edge_attribute_names == ("a;b",)


@pytest.mark.parametrize(("blank", "end"), [("\n\n", "\n"), ("\ufeff\r\n \r\n", "\r\n"), ("\r\r", "\r")])
def test_blank_lines_before_the_header_are_skipped(tmp_path: Path, blank: str, end: str) -> None:
    for name, rows in {"e.csv": ("graph_id,source,target", "a,0,1"), "m.csv": ("smiles,id", "CC,a")}.items():
        (tmp_path / name).write_bytes((blank + end.join(rows) + end).encode())
        assert read_graphs(tmp_path / name).ids == ("a",)


@pytest.mark.parametrize("bad", [",0,1", "b,0,1,2"])
def test_line_numbers_count_blank_lines_before_the_header(tmp_path: Path, bad: str) -> None:
    (tmp_path / "e.csv").write_text(f"\n \ngraph_id,source,target\na,0,1\n{bad}\nc,0,0\n,1,1\n")
    result = read_report(tmp_path / "e.csv")
    assert (result.unit, [reject.position for reject in result.rejects]) == ("line", [5, 7])


def test_times_become_seconds() -> None:
    times = pandas.to_datetime(["1970-01-01T00:00:01.5", "1970-01-02T00:00:00.0"])
    frame = pandas.DataFrame({"graph_id": ["g", "g"], "source": [0, 1], "target": [1, 2], "time": times})
    numbers = read_graphs(frame, edge_attributes=["time"]).edge_attributes
    assert numbers is not None
    assert np.unique(numbers).tolist() == [1.5, 86400.0]


def test_files_and_frames_agree_on_what_a_row_is(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = pandas.DataFrame({"graph_id": ["a", "a"], "source": [0, 1], "target": [1, 2], "smiles": ["CCO", "CC"]})
    molecules = frame.drop(columns=["target"])
    for table, ids in ((frame, ("a",)), (molecules, ("line-2", "line-3"))):
        table.to_csv(path, index=False)
        assert read_graphs(path).ids == ids
        assert read_graphs(table).content_hashes() == read_graphs(path).content_hashes()


def test_several_smiles_columns_are_named() -> None:
    with pytest.raises(SchemaError, match=r"several SMILES columns \(iso_smiles, canonical_smiles\)"):
        read_graphs(pandas.DataFrame({"iso_smiles": ["C"], "canonical_smiles": ["C"]}))


def test_a_column_that_mixes_text_and_numbers_is_read_as_text() -> None:
    frame = pandas.DataFrame({"smiles": ["CC", "CO", 3, None], "ic50": [5.2, ">10", None, 7]})
    result = read_report(frame, keep="all")
    assert [reject.reason for reject in result.rejects] == ["'3' is not a SMILES string", "there is no SMILES"]
    assert result.graphs.columns["ic50"].tolist() == ["5.2", ">10"]
    edges = pandas.DataFrame({"graph_id": ["a", 1], "source": [0, "x"], "target": [1, 0]})
    assert read_graphs(edges).ids == ("a", "1")


def test_what_is_no_table_of_graphs() -> None:
    with pytest.raises(SchemaError, match="The DataFrame has neither a SMILES column nor"):
        read_graphs(pandas.DataFrame({"x": [1]}))
    with pytest.raises(SchemaError, match=r"The DataFrame has columns of the same name: smiles\. Rename"):
        read_graphs(pandas.DataFrame([["CC", "CO"]], columns=["smiles", "smiles"]))
    with pytest.raises(SchemaError, match=r"a column of a type that cannot be read: .* Leave it out"):
        read_graphs(pandas.DataFrame({"smiles": ["CC"], "z": [1 + 2j]}))
    with pytest.raises(FormatError, match=r"a list of 2\. Join them"):
        read_graphs([pandas.DataFrame(MOLECULES)] * 2)
