"""Choosing the format, reporting rejects, and saying what is supported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from graphglass.errors import FormatError, GraphError, ParameterError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.read import read_graphs, read_report


def test_a_graph_set_passes_through() -> None:
    graphs = canonical_graph_set([2], [0], [1])
    assert read_graphs(graphs) is graphs


def test_a_folder_of_files_is_refused_with_their_names(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).write_text("smiles\nCC\n")
    with pytest.raises(FormatError, match=r"Name one file, or join them into one\. Files found: a\.csv, b\.csv\."):
        read_graphs(tmp_path)


@pytest.mark.parametrize("source", ["thing.xyz", "thing"])
def test_an_unknown_format_lists_what_is_supported(tmp_path: Path, source: str) -> None:
    path = tmp_path / source
    path.write_text("x")
    with pytest.raises(FormatError, match=r"Supported: TU folder or zip \(.zip\); .*NetworkX graphs"):
        read_graphs(path)


@pytest.mark.parametrize(("source", "message"), [(3, "from int"), ([3], "collection of int"), (["x1"], "format='smi'")])
def test_unknown_objects_list_what_is_supported(source: object, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_graphs(source)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
def test_a_list_of_smiles_needs_no_format(kind: Any) -> None:
    assert read_graphs(kind(["CCO", "CC"])).sizes.tolist() == [3, 2]


def test_an_unknown_argument_is_named() -> None:
    with pytest.raises(TypeError, match=r"read_graphs\(\) has no argument 'lable_column'"):
        read_graphs("C", lable_column="y")


def test_a_missing_file_and_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"none.smi does not exist"):
        read_graphs(tmp_path / "none.smi")
    with pytest.raises(ParameterError, match="one of tu, smi"):
        read_graphs(tmp_path, format="pickle")
    with pytest.raises(ParameterError, match="a finite number"):
        read_graphs([], fill=float("nan"))


def test_a_named_format_overrides_the_suffix(tmp_path: Path) -> None:
    path = tmp_path / "graphs.txt"
    path.write_text('{"id": "a", "nodes": 1}\n')
    assert read_graphs(path, format="json-lines").ids == ("a",)
    with pytest.raises(FormatError, match="reads objects in memory"):
        read_graphs(path, format="pyg")
    with pytest.raises(FormatError, match="reads files"):
        read_graphs([{"nodes": 1}], format="sdf")


def test_nothing_in_is_an_error_and_an_empty_report(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="it holds none"):
        read_graphs([])
    assert len(read_report([]).graphs) == 0
    path = tmp_path / "empty.jsonl"
    path.write_text("\n")
    with pytest.raises(GraphError, match="No graph could be read from"):
        read_graphs(path)


def test_the_summary_is_logged_with_lines_and_reasons(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "g.jsonl"
    path.write_text('{"id": "a", "nodes": 1}\n' + '{"nodes": 0}\n' * 7)
    read_graphs(path)
    assert "read 1 graph, left out 7" in caplog.text
    assert "line 2, 'line-2': the graph has no nodes" in caplog.text
    assert "and 2 more" in caplog.text


def test_a_damaged_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl.gz"
    path.write_bytes(b"\x1f\x8b\x08words")
    with pytest.raises(FormatError, match="damaged or truncated gzip"):
        read_graphs(path)


def test_a_list_of_graph_sets_is_joined() -> None:
    one, two = (read_graphs([{"id": name, "nodes": 2, "edges": [[0, 1]]}]) for name in "ab")
    assert read_graphs([one, two]).ids == ("a", "b")
    with pytest.raises(GraphError, match="'a' occurs more than once"):
        read_graphs([one, one])
