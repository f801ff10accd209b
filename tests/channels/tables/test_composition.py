"""Composition columns, against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.channels.tables.composition import CompositionMap
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.labels import columns_of, frequent


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_counts_equal_counting_by_hand(seed):
    random = np.random.default_rng(seed)
    nodes = int(random.integers(2, 15))
    pairs = [(i, j) for i in range(nodes) for j in range(i) if random.random() < 0.3]
    labels, kinds = random.integers(0, 3, nodes), random.integers(5, 7, len(pairs))
    sources, targets = (list(side) for side in zip(*pairs, strict=True)) if pairs else ([], [])
    graph = measure_graphs(
        canonical_graph_set([nodes], sources, targets, node_labels=labels, edge_labels=kinds if pairs else None)
    )
    composition = CompositionMap()
    composition.fit(graph)
    row = composition.table(graph)[0]
    degrees = Counter(end for pair in pairs for end in pair)
    by_degree = Counter(min(degrees[node], 10) for node in range(nodes))
    assert row[0] == np.log(nodes)
    assert row[1] == np.log1p(len(pairs))
    assert row[2:13].tolist() == [by_degree[degree] for degree in range(11)]
    assert sorted(row[13:], reverse=True)[0] == max(
        [
            *Counter(labels).values(),
            *Counter(kinds).values(),
            *Counter(tuple(sorted((labels[i], labels[j]))) for i, j in pairs).values(),
        ]
    )
    assert row[13:].sum() == nodes + len(pairs) + (len(pairs) if pairs else 0)


def test_an_unknown_label_has_a_column_of_its_own():
    known = frequent(np.array([4, 4, 9, 9, 9, 7]), 2)
    assert known.tolist() == [4, 9]
    assert columns_of(np.array([4, 7, 9, 100]), known).tolist() == [0, 2, 1, 2]


def test_a_label_that_no_reference_has_moves_the_row(make_graphs):
    references = make_graphs(20, seed=1, labels=3)
    composition = CompositionMap()
    composition.fit(measure_graphs(references))
    restored = CompositionMap()
    restored.restore(composition.state())
    queries = measure_graphs(make_graphs(5, seed=2, labels=6))
    assert np.array_equal(restored.table(queries), composition.table(queries))
    assert len(composition.min_scales(composition.table(queries).shape[1])) == composition.table(queries).shape[1]
