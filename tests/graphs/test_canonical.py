"""The canonical form: what is removed is counted, what is wrong is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import GraphError
from graphglass.graphs.canonical import canonical_graph_set


def test_counts_of_loops_repeats_and_one_way_edges() -> None:
    graphs = canonical_graph_set([3, 2], [0, 0, 0, 1, 2, 3, 4], [1, 1, 0, 0, 1, 4, 4])
    # first graph: 0-1 both ways (once repeated), loop at 0, 2->1 one way; second: 3->4 one way, loop at 4
    assert graphs.removed.tolist() == [[1, 1, 1], [1, 0, 1]]
    assert graphs.edge_counts.tolist() == [2, 1]
    assert graphs.neighbours.tolist() == [1, 0, 2, 1, 1, 0]


@given(st.integers(1, 8), st.data())
@settings(max_examples=50, deadline=None)
def test_edges_are_the_distinct_pairs(nodes: int, data: st.DataObject) -> None:
    pair = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    listed = data.draw(st.lists(pair, max_size=30))
    sources, targets = [p[0] for p in listed], [p[1] for p in listed]
    graphs = canonical_graph_set([nodes], np.asarray(sources, int), np.asarray(targets, int))
    proper = [p for p in listed if p[0] != p[1]]
    assert graphs.edge_count == len({frozenset(p) for p in proper})
    loops, repeats, one_way = graphs.removed[0].tolist()
    assert loops == len(listed) - len(proper)
    assert repeats == len(proper) - len(set(proper))
    assert one_way == sum((b, a) not in set(proper) for a, b in set(proper))


def test_the_first_listing_gives_the_edge_label() -> None:
    graphs = canonical_graph_set([3], [1, 0, 2, 1], [0, 1, 1, 1], edge_labels=[7, 8, 9, 5])
    assert graphs.neighbours.tolist() == [1, 0, 2, 1]
    assert graphs.edge_labels is not None
    assert graphs.edge_labels.tolist() == [7, 7, 9, 9]


@given(st.integers(2, 6), st.data())
@settings(max_examples=40, deadline=None)
def test_every_edge_end_carries_the_label_its_pair_was_first_listed_with(nodes: int, data: st.DataObject) -> None:
    pair = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    listed = data.draw(st.lists(pair, max_size=20))
    ends = np.asarray(listed, dtype=np.int64).reshape(-1, 2)
    graphs = canonical_graph_set([nodes], ends[:, 0], ends[:, 1], edge_labels=np.arange(len(listed)))
    first = {}
    for label, one in enumerate(listed):
        first.setdefault(frozenset(one), label)
    rows = graphs.end_nodes.tolist()
    assert graphs.edge_labels is not None
    wanted = [first[frozenset(end)] for end in zip(rows, graphs.neighbours.tolist(), strict=True)]
    assert graphs.edge_labels.tolist() == wanted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([2, 2], [1], [2]), "joins graph '0' to graph '1'"),
        (([2], [0], [2]), r"nodes are 0\.\.1"),
        (([2], [-1], [0]), r"joins nodes -1 and 0"),
        (([2, 0], [0], [1]), "Graph '1' has no nodes"),
        (([2], [0, 1], [1]), "one source and one target"),
        (([2], [0.5], [1]), "whole numbers"),
    ],
)
def test_bad_edges_are_named(arguments: tuple[list[int], list[float], list[float]], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        canonical_graph_set(*arguments)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_attributes_must_be_finite(bad: float) -> None:
    with pytest.raises(GraphError, match="Node 1 of graph 'b' has a NaN or infinite"):
        canonical_graph_set([1, 2], [], [], ids=["a", "b"], attributes=[[0.0], [1.0], [bad]])


def test_ids_are_unique_and_columns_fit() -> None:
    with pytest.raises(GraphError, match="'a' occurs more than once"):
        canonical_graph_set([1, 1], [], [], ids=["a", "a"])
    with pytest.raises(GraphError, match="one row per node"):
        canonical_graph_set([2], [], [], attributes=[[1.0]])
    with pytest.raises(GraphError, match="Edge labels must match the 1 edges"):
        canonical_graph_set([2], [0], [1], edge_labels=[1, 2])
