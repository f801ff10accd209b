"""Bags of patterns and their weighted Jaccard similarity, against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
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


@pytest.mark.parametrize("apart", [1, 2**13, 2**50], ids="{:#x}".format)
@pytest.mark.parametrize("size", [3, 100, 3000])
def test_keys_of_any_form_and_number_overlap_alike(apart, size):
    """Keys that differ in high bits alone, and more of them than a table has room for."""
    rng = np.random.default_rng(size)
    bags = [(rng.integers(-size, size, size) * apart).tolist() for _ in range(3)]
    rows, places = counted(bags), np.tile(np.arange(3), (3, 1))
    expected = [[(Counter(a) & Counter(b)).total() / (Counter(a) | Counter(b)).total() for b in bags] for a in bags]
    assert np.allclose(overlap_each(rows, rows, places), expected)


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
