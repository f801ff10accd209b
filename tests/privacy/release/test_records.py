"""Neighbouring files: one record in place of another moves one row of the sum, whatever the record and the format."""

import json
from dataclasses import replace

import networkx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass import GLASS, load_dataset, read_graphs, write_json_lines, write_parquet
from graphglass.errors import FormatError, SchemaError
from graphglass.glass.joint_features import JointFeatures
from graphglass.graphs.labels import text_code
from graphglass.privacy.record_form import RecordForm
from graphglass.privacy.release.publish import GraphFeatures, exact_sum
from graphglass.privacy.release.records import identities, read_records, sketched
from graphglass.privacy.sketch_features import SketchFeatures

from .neighbouring_files import (
    FORMATS,
    KINDS,
    KINDS_OF,
    ODD_LINES,
    OTHERS,
    PLACE,
    N,
    json_lines,
    json_record,
    odd_records,
)

pytest.importorskip("rdkit")
pytest.importorskip("torch_geometric")
FEATURES = GraphFeatures(SketchFeatures(dimension=64), None)
UNIT = 2**30
CASES = [(name, kind) for name in FORMATS | OTHERS for kind in KINDS_OF.get(name, KINDS)]


def total(source, form=None, **options):
    records = read_records(source, form, whole=False, **options)
    assert records.count == N
    return exact_sum(FEATURES, records)


def length(vector):
    """The exact squared length."""
    return sum(int(value) ** 2 for value in vector)


def assert_neighbours(base, others, row):
    """The sum of the other records is the same in both files: what is left of the new sum is one row at most."""
    assert length(base - row) > 0
    assert length(others - (base - row)) <= UNIT**2
    assert length(others - base) <= (2 * UNIT) ** 2


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_one_record_moves_one_row(tmp_path, name, kind):
    write, graphs = (FORMATS | OTHERS)[name][0], KINDS[kind]

    def source(folder, *odd):
        (tmp_path / folder).mkdir(exist_ok=True)
        return write(tmp_path / folder, graphs, *odd)

    def options(folder):
        table = tmp_path / folder / "n.csv"
        return {"nodes": table} if table.exists() else {}

    base = total(source("base"), **options("base"))
    apart = read_records(source("base"), whole=False, **options("base"))
    own = [group[list(group.ids).index(str(PLACE + 1))] for group in apart.groups if str(PLACE + 1) in group.ids]
    row = exact_sum(FEATURES, replace(apart, count=1, groups=tuple(own)))
    assert apart.readable == N
    for i, odd in enumerate(odd_records(name)):
        assert_neighbours(base, total(source(f"odd{i}", odd), **options(f"odd{i}")), row)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["id", "nodes", "edges", "label", "directed", "attributes", "source", "target", "columns"]),
        inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A folder, the sum of its file, and the row of the record that is replaced."""
    folder, graphs = tmp_path_factory.mktemp("any"), KINDS["numbers"]
    row = exact_sum(FEATURES, read_records([json_record(graphs[PLACE])], whole=False))
    return folder, total(json_lines(folder, graphs)), row


@settings(max_examples=40, deadline=None)
@given(st.one_of(VALUES.map(lambda value: json.dumps(value).encode()), st.binary(min_size=1, max_size=40)))
def test_any_line_moves_one_row(numbers, line):
    if b"\n" not in line and line.strip():  # otherwise it is not one record
        folder, base, row = numbers
        assert_neighbours(base, total(json_lines(folder, KINDS["numbers"], line)), row)


@pytest.mark.parametrize("form", [
    RecordForm(node_label_type="none"), RecordForm(node_label_type="text", edge_label_type="text"),
    RecordForm(directed=True), RecordForm(node_label_type="number", edge_label_type="number", directed=False),
])  # fmt: skip
@pytest.mark.parametrize("kind", KINDS)
def test_a_declared_form_decides_record_by_record(tmp_path, form, kind):
    graphs = KINDS[kind]
    records = read_records(json_lines(tmp_path, graphs), form, whole=False)
    wanted = {"any": True, "none": kind == "bare", "text": kind == "texts", "number": kind == "numbers"}
    fits = wanted[form.node_label_type] and wanted[form.edge_label_type if kind == "bare" else form.node_label_type]
    mixed = form.edge_label_type != "any" and kind == "texts"  # one edge is listed back with the number 9
    assert records.count == N
    assert records.readable == (N if fits and not (mixed and form.directed) else 0)


@pytest.fixture(scope="module")
def molecules():
    return load_dataset("MUTAG")[:30]


def test_record_by_record_gives_the_graphs_of_the_ordinary_reader(molecules, tmp_path):
    """Where records have one form, both give the same rows: queries are read by the ordinary reader."""
    write_json_lines(molecules, tmp_path / "m.jsonl")
    write_parquet(molecules, tmp_path / "m.parquet")
    write_parquet(molecules, tmp_path / "e.parquet", nodes=tmp_path / "n.parquet")
    sources = {"jsonl": (tmp_path / "m.jsonl", {}), "set": (molecules, {}), "table": (tmp_path / "m.parquet", {}),
               "edges": (tmp_path / "e.parquet", {"nodes": tmp_path / "n.parquet"})}  # fmt: skip
    for name in ("tu", "edge csv", "graphml", "smiles csv", "sdf"):
        (tmp_path / name).mkdir()
        sources[name] = FORMATS[name][0](tmp_path / name, KINDS["numbers"]), {}
    for name, (source, options) in sources.items():
        records = read_records(source, whole=False, **options)
        assert records.readable == records.count, name
        (group,) = records.groups
        expected = FEATURES(read_graphs(source, **options))
        np.testing.assert_array_equal(FEATURES(group)[np.argsort(list(map(int, group.ids)))], expected, err_msg=name)


def test_what_cannot_be_cut_into_records_is_refused(tmp_path):
    graphs = KINDS["bare"]
    FORMATS["graphml"][0](tmp_path, graphs)
    for source, reason in (
        (tmp_path / "0.graphml", r"one \.graphml file per graph"),
        (FORMATS["networkx"][0](None, graphs)[0], "a list of graphs, found Graph"),
        (FORMATS["pyg"][0](None, graphs)[0], "a list of graphs, found Data"),
        ({"nodes": 2}, "a list of graphs, found dict"),
        (np.ones((3, 3)), "a list of graphs, found ndarray"),
        (tmp_path / "absent.jsonl", "does not exist"),
        (tmp_path / "x.csv", "neither a column of SMILES"),
        (tmp_path / "y.csv", "needs the column 'target' once"),
    ):
        (tmp_path / "x.csv").write_text("a,b\n1,2\n")
        (tmp_path / "y.csv").write_text("graph_id,source\n1,2\n")
        with pytest.raises((FormatError, SchemaError), match=reason):
            read_records(source)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(FormatError, match="does not read a DataFrame"):
        read_records(pandas.DataFrame({"smiles": ["C"]}))


def test_identities_read_edges_and_node_labels_alone(molecules):
    """A constant attribute, a direction or a number written as text gives the same graphs no second budget."""
    nodes = molecules.node_count
    texts = {code: str(code) for code in range(10)}
    hashed = {hash(text) & 0xFFFF: text for text in texts.values()}
    named = {text: code for code, text in hashed.items()}
    variants = [
        replace(molecules, attributes=np.ones((nodes, 1), np.float32), attribute_names=("one",)),
        molecules.as_directed(),
        replace(molecules, edge_labels=None),
        replace(molecules, edge_attributes=np.ones((len(molecules.neighbours), 1)), edge_attribute_names=("one",)),
        replace(
            molecules, node_labels=np.array([named[str(code)] for code in molecules.node_labels]), label_names=hashed
        ),
    ]
    for variant in variants:
        assert identities(variant) == identities(molecules)
    assert identities(replace(molecules, node_labels=molecules.node_labels + 1)) != identities(molecules)
    np.testing.assert_array_equal(FEATURES(sketched(variants[0])), FEATURES(molecules))


def test_the_ordinary_reader_breaks_the_bound(tmp_path):
    """These tests can fail: read as a set, one label changes the reading of every record."""
    graphs = KINDS["bare"]
    sums = [
        FEATURES(read_graphs(json_lines(tmp_path, graphs, *odd), strict=True)).sum(axis=0)
        for odd in ((), ODD_LINES[:1])
    ]
    assert np.linalg.norm(sums[0] - sums[1]) > 2.5


def test_one_record_moves_one_row_of_a_model(queries, normals, tmp_path):
    """The paper's release: a record that the model cannot read is the zero row, and no other row moves."""
    features = JointFeatures((("graph:64", 64), ("text:64", 64)), frequencies=4)
    rows_of = GraphFeatures(features, GLASS(encoder="numeric", epochs=1).fit(queries))
    write_json_lines(normals[:4], tmp_path / "base.jsonl")
    lines = (tmp_path / "base.jsonl").read_bytes().splitlines()
    rest = exact_sum(rows_of, read_records(normals[[0, 2, 3]]))
    assert length(exact_sum(rows_of, read_records(tmp_path / "base.jsonl")) - rest) > 0.9 * UNIT**2
    for odd in (*ODD_LINES[:6], ODD_LINES[7], b"no JSON"):
        (tmp_path / "odd.jsonl").write_bytes(b"\n".join([lines[0], odd, *lines[2:]]))
        assert length(exact_sum(rows_of, read_records(tmp_path / "odd.jsonl")) - rest) <= UNIT**2


def test_a_label_of_one_record_names_no_label_of_another():
    """A model reads the text of labels, and any number may be the code of a text."""
    records = [{"nodes": [{"id": 0, "label": label}]} for label in (text_code("rare"), "rare")]
    for group in read_records(records).groups:
        assert (group.ids == ("2",)) == bool(group.label_names)


@pytest.mark.parametrize(("kind", "odd"), [
    (pa.date32(), 2**30), (pa.duration("s"), 2**62), (pa.time64("us"), 2**62), (pa.timestamp("us", "UTC"), 2**61),
    (pa.string(), b"\xff\xfe"),
])  # fmt: skip
@pytest.mark.parametrize("layout", ["molecules", "edges", "graphs"])
def test_a_cell_that_python_cannot_hold_stops_nothing(tmp_path, kind, odd, layout):
    """A column that nobody asked for may hold dates and text that Arrow can keep and Python cannot."""
    values = [b"a", odd, b"c"] if kind == pa.string() else [0, odd, 1]
    stored = pa.array(
        values, pa.binary() if kind == pa.string() else pa.int64() if kind.bit_width == 64 else pa.int32()
    )
    own = {
        "molecules": {"smiles": ["CCO", "CC", "C"]},
        "edges": {"graph_id": ["a", "b", "c"], "source": ["1", "1", "1"], "target": ["2", "2", "3"]},
        "graphs": {"id": ["a", "b", "c"], "nodes": [2] * 3, "sources": [[0]] * 3, "targets": [[1]] * 3},
    }[layout]
    odd_column = pa.Array.from_buffers(kind, 3, stored.buffers())
    pq.write_table(pa.table(own | {"when": odd_column}), tmp_path / "t.parquet")
    records = read_records(tmp_path / "t.parquet")
    assert records.count == 3
    assert {number for group in records.groups for number in group.ids} >= {"1", "3"}


def test_no_attribute_is_left_out_for_its_values():
    graph = networkx.path_graph(40)
    networkx.set_node_attributes(graph, {node: 1.7e9 + 60 * node for node in graph}, "seen")
    for group in read_records([graph, graph]).groups:
        assert group.attribute_names == ("seen",)
