"""Damaged and hostile files: one clear error, bounded memory, and a single bad record is skipped."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphglass.errors import FormatError, GlassError, LimitError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_graphs, read_report
from graphglass.graphs.readers.json_lines import write_json_lines
from graphglass.graphs.readers.parquet import write_parquet

EDGES = "graph_id,source,target,amount\na,0,1,1.5\na,1,2,2\nb,x,y,3\n"
GRAPHML = (
    '<?xml version="1.0" encoding="UTF-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<key id="w" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="directed">'
    '<node id="a"/><node id="b"/><edge source="a" target="b"><data key="w">2.5</data></edge></graph></graphml>'
)


@pytest.mark.parametrize(("name", "content"), [("e.csv", EDGES), ("g.graphml", GRAPHML)])
def test_memory_follows_the_file_and_not_the_limits(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    read_graphs(path)
    tracemalloc.start()
    try:
        read_graphs(path)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", ["jsonl", "parquet"])
def test_declared_nodes_need_bytes(tmp_path: Path, layout: str) -> None:
    path = tmp_path / f"g.{layout}"
    if layout == "jsonl":
        path.write_text(
            "".join(f'{{"id": "{i}", "nodes": 2000000}}\n' for i in range(40)) + '{"id": "ok", "nodes": 3}\n'
        )
    else:
        empty = [[] for _ in range(41)]
        ids, nodes = [*map(str, range(40)), "ok"], [2_000_000] * 40 + [3]
        pq.write_table(pa.table({"id": ids, "nodes": nodes, "sources": empty, "targets": empty}), path)
    tracemalloc.start()
    try:
        result = read_report(path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert result.graphs.ids == ("ok",)
    assert len(result.rejects) == 40
    assert "max_bare_nodes" in result.rejects[0].reason
    assert read_report(path, limits=Limits(max_bare_nodes=2_000_003)).graphs.ids == ("0", "ok")


@pytest.mark.parametrize("name", ["g.jsonl.gz", "e.csv.gz", "g.graphml.gz", "m.smi.gz"])
def test_a_gzip_bomb_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    start = EDGES.encode() if ".csv" in name else b""
    with gzip.open(path, "wb") as stream:
        stream.write(start + (b" " * 4095 + b"\n") * (20 << 10))
    with pytest.raises(LimitError, match="decompression bomb"):
        read_graphs(path)


def test_rows_of_a_parquet_file_need_bytes(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    zeros = pa.array(np.zeros(4_000_000, np.int32))
    pq.write_table(pa.table({"graph_id": zeros, "source": zeros, "target": zeros}), path)
    assert path.stat().st_size < 1 << 16
    with pytest.raises(LimitError, match="decompression bomb"):
        read_graphs(path)


def test_lines_may_end_in_a_bare_carriage_return(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(EDGES.replace("\n", "\r").encode())
    assert read_graphs(path).ids == ("a", "b")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("e.csv", "graph_id,source,target\n"),
        ("e.csv", "graph_id,source,target\r"),
        ("m.csv", "smiles,name\r\n"),
        ("m.smi", "C methane\n"),
        ("m.sdf", "methane\n"),
        ("g.gml", "graph [\n"),
    ],
)
def test_text_of_another_encoding_is_refused_with_its_line(tmp_path: Path, name: str, start: str) -> None:
    """With replacement marks, André and Andrè would become one node."""
    path = tmp_path / name
    path.write_bytes(f"{start}a,André,Andrè\n".encode("latin-1"))
    with pytest.raises(FormatError, match=rf"{name} line 2 is not UTF-8 \(byte 0xe9\)\. .*iconv -f LATIN1 -t UTF-8"):
        read_graphs(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["e.csv", "m.smi", "m.sdf", "g.gml", "g.jsonl"])
def test_utf16_is_named(tmp_path: Path, name: str, encoding: str) -> None:
    path = tmp_path / name
    path.write_bytes("graph_id,source,target\na,0,1\n".encode(encoding))
    with pytest.raises(FormatError, match=rf"{name} is text in UTF-16; expected UTF-8.*iconv -f UTF-16 -t UTF-8"):
        read_graphs(path)


def test_a_column_of_another_encoding_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes(b"graph_id,source,target,memo\na,0,1,caf\xe9\n")
    with pytest.raises(FormatError, match="line 2 is not UTF-8"):
        read_graphs(tmp_path / "e.csv")
    (tmp_path / "good.csv").write_text("graph_id,source,target\na,0,1\n")
    (tmp_path / "n.csv").write_bytes("graph_id,node\na,0\na,1\nAndré,2\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"n\.csv line 4 is not UTF-8"):
        read_graphs(tmp_path / "good.csv", nodes=tmp_path / "n.csv")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf8_is_read_with_and_without_a_byte_order_mark(tmp_path: Path, mark: str) -> None:
    (tmp_path / "e.csv").write_text(f"{mark}graph_id,source,target\né,André,Andrè\n", encoding="utf-8")
    graphs = read_graphs(tmp_path / "e.csv")
    assert graphs.ids == ("é",)
    assert graphs.node_names.tolist() == ["André", "Andrè"]
    (tmp_path / "m.csv").write_text(f"{mark}smiles,name\nCC,é\nCO,è\n", encoding="utf-8")
    assert read_graphs(tmp_path / "m.csv").ids == ("é", "è")


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("graph_id,source,target,graph_id\na,0,1,b\n")
    with pytest.raises(SchemaError, match="columns of the same name: graph_id"):
        read_graphs(path)


def test_an_integer_of_many_digits_costs_one_record(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl"
    path.write_text('{"id": "a", "nodes": 2}\n{"id": ' + "9" * 5000 + ', "nodes": 2}\n{"id": "c", "nodes": 2}\n')
    result = read_report(path)
    assert result.graphs.ids == ("a", "c")
    assert result.rejects[0].position == 2
    assert "not a JSON record" in result.rejects[0].reason
    result = read_report([{"id": 10**5000, "nodes": 2}, {"id": "c", "nodes": 2}])
    assert result.graphs.ids == ("c",)


def _sdf() -> str:
    chemistry = pytest.importorskip("rdkit.Chem")
    blocks = [chemistry.MolToMolBlock(chemistry.MolFromSmiles(text)) for text in ("CC", "CCO", "c1ccccc1")]
    return "".join(f"{block}$$$$\n" for block in blocks)


def _tu(path: Path) -> None:
    parts = {"A": "1,2\n2,1\n3,4\n4,3\n", "graph_indicator": "1\n1\n2\n2\n", "node_attributes": "0.5\n1\n2\n3\n"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(f"T_{name}.txt", content)


GRAPHS = canonical_graph_set(
    [3, 2], [0, 1, 3], [1, 2, 4], directed=True, edge_attributes=[[1.0], [2], [3]], node_labels=range(5)
)
SAMPLES: dict[str, Callable[[Path], object]] = {
    "e.csv": lambda path: path.write_text(EDGES),
    "g.jsonl": lambda path: write_json_lines(GRAPHS, path),
    "g.jsonl.gz": lambda path: write_json_lines(GRAPHS, path),
    "g.parquet": lambda path: write_parquet(GRAPHS, path),
    "g.graphml": lambda path: path.write_text(GRAPHML),
    "T.zip": _tu,
    "m.sdf": lambda path: path.write_text(_sdf()),
    "m.smi": lambda path: path.write_text("CC a\nCCO b\n"),
}
INSERTED = [b"\r", b"\x00", b'"', b"\xff\xfe", b"9" * 5000, b"-1", b"NaN", b"1e400", b"<", b'encoding="utf-16"']


@pytest.mark.parametrize("name", SAMPLES)
def test_damage_is_a_clear_error_or_a_reject(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    SAMPLES[name](path)
    whole, draw = path.read_bytes(), random.Random(name)
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(draw.choice([1, 2, 5, 20])):
            place, kind = draw.randrange(len(content) + 1), draw.random()
            if kind < 0.5 and place < len(content):
                content[place] = draw.randrange(256)
            elif kind < 0.7:
                del content[place : place + draw.randrange(1, 9)]
            elif kind < 0.9:
                content[place:place] = draw.choice(INSERTED)
            else:
                del content[place:]
        path.write_bytes(content)
        with suppress(GlassError):  # any other exception fails the test
            read_report(path)


def test_unknown_encodings_are_named(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    for encoding in ("utf-7", "no-such-encoding", "utf-16"):
        path.write_text(GRAPHML.replace("UTF-8", encoding))
        with pytest.raises(GlassError, match=r"g\.graphml"):
            read_graphs(path)


def test_a_record_that_is_no_json_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl"
    path.write_bytes(b'{"id": "a", "nodes": 1}\n\xff\xfe\n' + json.dumps({"id": "b", "nodes": 2}).encode() + b"\n")
    assert read_report(path).graphs.ids == ("a", "b")
