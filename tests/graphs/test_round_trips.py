"""What is written comes back equal: JSON Lines, both Parquet layouts, NetworkX."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_graphs
from graphglass.graphs.readers.json_lines import json_records, write_json_lines
from graphglass.graphs.readers.networkx import to_networkx
from graphglass.graphs.readers.parquet import write_parquet

SETS = st.from_type(GraphSet)
TRIP = settings(max_examples=40, deadline=None)


def assert_equal(back: GraphSet, graphs: GraphSet, *, names: bool = True) -> None:
    assert back.ids == graphs.ids
    np.testing.assert_array_equal(back.node_offsets, graphs.node_offsets)
    np.testing.assert_array_equal(back.neighbour_offsets, graphs.neighbour_offsets)
    np.testing.assert_array_equal(back.neighbours, graphs.neighbours)
    np.testing.assert_array_equal(back.node_labels, graphs.node_labels)
    if graphs.edge_count:  # no edges, no edge labels to tell of
        np.testing.assert_array_equal(back.edge_labels, graphs.edge_labels)
        np.testing.assert_array_equal(back.edge_attributes, graphs.edge_attributes)
        np.testing.assert_array_equal(back.outgoing, graphs.outgoing)
        assert back.edge_attribute_names == graphs.edge_attribute_names
    np.testing.assert_array_equal(back.attributes, graphs.attributes)
    assert back.attribute_names == graphs.attribute_names
    np.testing.assert_array_equal(back.labels, graphs.labels)
    np.testing.assert_array_equal(back.node_names, graphs.node_names)
    assert {name: values.tolist() for name, values in back.columns.items()} == {
        name: values.tolist() for name, values in graphs.columns.items()
    }
    used = set(np.concatenate([codes for codes in (graphs.node_labels, graphs.edge_labels) if codes is not None]
                              or [np.zeros(0, int)]).tolist())  # fmt: skip
    if names:
        wanted = {code: name for code, name in graphs.label_names.items() if code in used}
        assert {code: name for code, name in back.label_names.items() if code in used} == wanted
    assert not back.removed.any()


@given(SETS, st.sampled_from(["a.jsonl", "a.ndjson", "a.jsonl.gz"]))
@TRIP
def test_json_lines(graphs: GraphSet, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_json_lines(graphs, path)
        assert_equal(read_graphs(path, strict=True, keep="all"), graphs)


@given(SETS)
@TRIP
def test_records_in_memory(graphs: GraphSet) -> None:
    assert_equal(read_graphs(list(json_records(graphs)), strict=True, keep="all"), graphs)


@given(SETS)
@TRIP
def test_parquet_graph_table(graphs: GraphSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        write_parquet(graphs, path)
        assert_equal(read_graphs(path, strict=True, keep="all"), graphs)


@given(SETS)
@TRIP
def test_parquet_edge_and_node_tables(graphs: GraphSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        edges, nodes = Path(folder) / "edges.parquet", Path(folder) / "nodes.pq"
        write_parquet(graphs, edges, nodes=nodes)
        back = read_graphs(edges, nodes=nodes, strict=True, keep="all")
    # each edge is listed once in the table, so all of an undirected set count as one-way
    np.testing.assert_array_equal(back.removed[:, 2], 0 if graphs.directed else graphs.edge_counts)
    assert_equal(_forget_removed(back), graphs, names=False)


@given(SETS)
@TRIP
def test_networkx(graphs: GraphSet) -> None:
    # NetworkX has one place for the class and for a column called "label"
    graphs = replace(graphs, columns={name: v for name, v in graphs.columns.items() if name != "label"})
    assert_equal(read_graphs(to_networkx(graphs), strict=True, keep="all"), graphs)


def _forget_removed(graphs: GraphSet) -> GraphSet:
    return replace(graphs, removed=np.zeros_like(graphs.removed))
