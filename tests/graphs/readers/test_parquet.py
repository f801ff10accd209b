"""The graph table: a row per graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphglass.errors import FormatError, GraphError, LimitError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.datasets import load_dataset
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_graphs, read_report
from graphglass.graphs.readers.parquet import write_parquet

GOOD: dict[str, list[Any]] = {"id": ["a", "b"], "nodes": [2, 3], "sources": [[0], [0, 1]], "targets": [[1], [1, 2]]}


def write(path: Path, **changes: list[Any]) -> Path:
    pq.write_table(pa.table({**GOOD, **changes}), path)
    return path


@pytest.mark.parametrize("nodes", [None, "nodes.parquet"])
def test_a_failed_write_keeps_the_old_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: str | None
) -> None:
    graphs, path = load_dataset("MUTAG"), tmp_path / "m.parquet"
    second = None if nodes is None else tmp_path / nodes
    write_parquet(graphs[:3], path, nodes=second)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    real, last = pq.write_table, "node" if nodes else "sources"

    def full(table: pa.Table, where: Any) -> None:
        real(table, where)
        if last in table.column_names:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(OSError, match="No space left"):
        write_parquet(graphs, path, nodes=second)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_the_bundled_molecules_come_back(tmp_path: Path) -> None:
    graphs = load_dataset("MUTAG")
    write_parquet(graphs, tmp_path / "m.parquet")
    back = read_graphs(tmp_path / "m.parquet")
    assert back.content_hashes() == graphs.content_hashes()
    assert (tmp_path / "m.parquet").stat().st_size < 100_000


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"nodes": [2, 0]}, "no nodes"),
        ({"nodes": [2, None]}, "no nodes"),
        ({"nodes": [2, 10**12]}, "max_nodes_per_graph"),
        ({"targets": [[1], [1]]}, "targets has 1 values, expected 2"),
        ({"targets": [[1], [1, 3]]}, r"an edge names node 3, but the nodes are 0..2"),
        ({"targets": [[1], [1, None]]}, "an edge names node -1"),
        ({"node_labels": [[1, 1], [1]]}, "node_labels has 1 values, expected 3"),
        ({"node_names": [["x", "y"], None]}, "node_names has 0 values, expected 3"),
    ],
)
def test_a_row_at_fault_is_left_out(tmp_path: Path, changes: dict[str, list[Any]], reason: str) -> None:
    path = write(tmp_path / "g.parquet", **changes)
    result = read_report(path)
    assert result.graphs.ids == ("a",)
    assert (result.rejects[0].position, result.unit) == (2, "row")
    assert reason in result.rejects[0].reason
    with pytest.raises(GraphError):
        read_graphs(path, strict=True)


def test_wrong_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "x.parquet")
    with pytest.raises(SchemaError, match=r"neither a SMILES column nor .* edge table .*Columns found: x"):
        read_graphs(tmp_path / "x.parquet")
    with pytest.raises(SchemaError, match="'sources' of a graph table holds lists"):
        read_graphs(write(tmp_path / "y.parquet", sources=[1, 2]))
    with pytest.raises(SchemaError, match="'sources' of a graph table holds lists of int64"):
        read_graphs(write(tmp_path / "z.parquet", sources=[["u"], ["v", "w"]]))


def test_metadata_that_is_not_ours(tmp_path: Path) -> None:
    table = pa.table(GOOD).replace_schema_metadata({b"graphglass": b"words"})
    pq.write_table(table, tmp_path / "g.parquet")
    with pytest.raises(FormatError, match="metadata"):
        read_graphs(tmp_path / "g.parquet")


def test_size_is_checked_before_reading(tmp_path: Path) -> None:
    rows = 100_000
    table = pa.table({"graph_id": [0] * rows, "source": [0] * rows, "target": [1] * rows})
    pq.write_table(table, tmp_path / "e.pq")
    assert (tmp_path / "e.pq").stat().st_size < 5000  # packs well
    with pytest.raises(LimitError, match="max_edges is 99,999"):
        read_graphs(tmp_path / "e.pq", limits=Limits(max_edges=99_999))
    assert read_graphs(tmp_path / "e.pq").edge_count == 1


def test_equal_ids_are_numbered(tmp_path: Path) -> None:
    graphs = canonical_graph_set([2, 3], [0, 2], [1, 3], ids=["a", "b"])
    write_parquet(graphs, tmp_path / "g.parquet")
    table = pq.read_table(tmp_path / "g.parquet")
    pq.write_table(table.set_column(0, "id", pa.array(["a", "a"])), tmp_path / "g.parquet")
    assert read_graphs(tmp_path / "g.parquet").ids == ("a", "a (2)")
