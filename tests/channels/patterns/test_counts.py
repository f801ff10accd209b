"""Bags of patterns and their weighted Jaccard similarity, against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.channels.patterns.counts import add_distances, count_keys, overlap_each

bags = st.lists(st.lists(st.integers(-5, 5), min_size=1, max_size=12), min_size=1, max_size=6)


def counted(sets):
    offsets = np.concatenate([[0], np.cumsum([len(bag) for bag in sets])]).astype(np.int64)
    return count_keys(offsets, np.concatenate([np.array(bag, np.int64) for bag in sets]))


def overlap(queries, references):
    distances = np.zeros((len(queries), len(references)))
    add_distances(queries, references.postings, 1.0, distances)
    return 1 - distances


@settings(max_examples=50, deadline=None)
@given(bags, bags)
def test_overlap_is_shared_over_united_counts(queries, references):
    found = overlap(counted(queries), counted(references))
    places = np.tile(np.arange(len(references)), (len(queries), 1))
    assert np.allclose(found, overlap_each(counted(queries), counted(references), places))
    for i, one in enumerate(map(Counter, queries)):
        for j, other in enumerate(map(Counter, references)):
            expected = (one & other).total() / (one | other).total()
            assert np.isclose(found[i, j], expected, atol=1e-6)


def test_patterns_of_few_and_of_many_graphs_count_alike():
    references = counted([[1, 1, 2, 10 + i] for i in range(40)])
    assert 0 < len(references.postings.rows) < len(references.postings.keys)
    found = overlap(counted([[1, 2, 2, 17]]), references)
    assert np.allclose(found[0], [3 / 5 if i == 7 else 2 / 6 for i in range(40)])


def test_a_part_of_the_queries_gives_the_same_rows():
    queries, references = counted([[1, 1, 2], [3], [2, 2, 9]]), counted([[1, 2], [2, 2, 2]])
    whole = overlap(queries, references)
    assert np.array_equal(overlap(queries[1:3], references), whole[1:])
    assert whole[1].max() == 0


def test_a_multiple_of_a_bag_is_not_the_bag():
    found = overlap(counted([[1, 2, 1, 2]]), counted([[1, 2]]))
    assert np.isclose(found[0, 0], 0.5)
