"""Laws of selecting and joining graph sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import GraphError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet

SETS = st.from_type(GraphSet)
LAW = settings(max_examples=40, deadline=None)
COLUMNS = ("node_offsets", "neighbour_offsets", "neighbours", "labels", "node_labels", "attributes", "edge_labels",
           "node_names", "removed")  # fmt: skip


def assert_same(one: GraphSet, two: GraphSet) -> None:
    assert one.ids == two.ids
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


@given(SETS, st.data())
@LAW
def test_selecting_every_part_and_joining_gives_the_whole(graphs: GraphSet, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(graphs)))
    assert_same(concatenate([graphs[:cut], graphs[cut:]]), graphs)
    assert_same(concatenate(list(graphs)), graphs)
    assert_same(graphs[:cut] + graphs[cut:], graphs)


@given(SETS, st.data())
@LAW
def test_all_ways_of_selecting_agree(graphs: GraphSet, data: st.DataObject) -> None:
    mask = np.asarray(data.draw(st.lists(st.booleans(), min_size=len(graphs), max_size=len(graphs))))
    chosen = np.flatnonzero(mask)
    assert_same(graphs[mask], graphs[chosen])
    assert_same(graphs[chosen - len(graphs)], graphs[chosen])
    assert_same(graphs[::-1][::-1], graphs)
    assert [one.ids[0] for one in graphs[chosen]] == [graphs.ids[i] for i in chosen]


@given(SETS, st.data())
@LAW
def test_selecting_twice_is_selecting_once(graphs: GraphSet, data: st.DataObject) -> None:
    first = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=6))
    second = data.draw(st.lists(st.integers(0, len(first) - 1), max_size=6))
    assert_same(graphs[first][second], graphs[[first[i] for i in second]])


@given(SETS)
@LAW
def test_a_graph_is_symmetric_simple_and_hashes_alone(graphs: GraphSet) -> None:
    rows = graphs.end_nodes
    columns = graphs.global_neighbours
    pairs = set(zip(rows.tolist(), columns.tolist(), strict=True))
    assert len(pairs) == len(rows) == 2 * graphs.edge_count
    assert {(two, one) for one, two in pairs} == pairs
    assert not (rows == columns).any()
    assert (graphs.node_graph[rows] == graphs.node_graph[columns]).all()
    assert tuple(one.content_hashes()[0] for one in graphs) == graphs.content_hashes()
    sources, targets, codes, numbers = graphs.edge_list()
    listed = list(zip(sources.tolist(), targets.tolist(), strict=True))
    assert {(min(p), max(p)) for p in pairs} == {(min(p), max(p)) for p in listed}
    assert len(set(listed)) == len(listed)
    assert (numbers is None) == (graphs.edge_attributes is None)
    assert (codes is None) == (graphs.edge_labels is None)


@given(SETS)
@LAW
def test_columns_cannot_be_written(graphs: GraphSet) -> None:
    for name in COLUMNS:
        value = getattr(graphs, name)
        assert value is None or not value.flags.writeable


def test_freezing_leaves_the_callers_array_alone() -> None:
    mine = np.ones((2, 1), np.float32)
    graphs = canonical_graph_set([2], [0], [1], attributes=mine)
    mine[0] = 5.0
    assert mine.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        graphs.attributes[0] = 1.0  # type: ignore[index]


def test_joining_needs_one_schema() -> None:
    plain = canonical_graph_set([2], [0], [1], ids=["a"])
    labelled = canonical_graph_set([2], [0], [1], ids=["b"], node_labels=[1, 2])
    with pytest.raises(SchemaError, match="same node labels"):
        concatenate([plain, labelled])


def test_joining_needs_ids_of_their_own() -> None:
    one = canonical_graph_set([2, 1], [0], [1], ids=["a", "b"])
    two = canonical_graph_set([3], [0], [2], ids=["b"])
    for sets in ([one, two], [one[[0, 0]], two]):
        with pytest.raises(GraphError, match=r"ids must be unique in the joined set; '[ab]' occurs more than once"):
            concatenate(sets)
    with pytest.raises(GraphError, match="'b' occurs more than once"):
        one + two


@pytest.mark.parametrize("key", [5, -6, [7], np.array([True]), np.array([0.5])])
def test_selecting_what_is_not_there_is_an_index_error(key: object) -> None:
    graphs = canonical_graph_set([1] * 5, [], [])
    with pytest.raises(IndexError):
        graphs[key]  # type: ignore[call-overload]


def test_columns_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(GraphError, match=r"GraphSet.ids must have 1 rows"):
        GraphSet(np.array([0, 1]), np.array([0, 0]), np.zeros(0, np.int32), ids=("a", "b"))
