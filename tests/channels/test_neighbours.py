import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from graphglass.channels import neighbours
from graphglass.channels.neighbours import mean_distance, nearest
from graphglass.glass.slices import normalise


def unit(count, dimension, seed):
    return normalise(np.random.default_rng(seed).normal(size=(count, dimension))).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(2, 40), st.integers(1, 7), st.integers(0, 10_000))
def test_matches_brute_force(n, m, k, seed):
    queries, references = unit(n, 6, seed), unit(m, 6, seed + 1)
    similarities, indices = nearest(queries, references, k)
    distance = cdist(queries.astype(float), references.astype(float), "sqeuclidean") / 2
    assert similarities.shape == (n, min(k, m))
    assert np.allclose(1 - similarities, np.sort(distance, axis=1)[:, :k], atol=1e-6)
    assert np.allclose(np.take_along_axis(distance, indices, axis=1), 1 - similarities, atol=1e-6)


def test_excluding_self_leaves_the_diagonal_out():
    rows = unit(12, 5, 3)
    indices = nearest(rows, rows, 3, exclude_self=True)[1]
    assert not (indices == np.arange(12)[:, None]).any()


def test_blocks_do_not_change_the_answer(monkeypatch):
    queries, references = unit(50, 8, 1), unit(40, 8, 2)
    whole = nearest(queries, references, 5)
    monkeypatch.setattr(neighbours, "_BLOCK", 100)
    for one, two in zip(whole, nearest(queries, references, 5), strict=True):
        assert np.array_equal(one, two)


def test_alone_equals_in_a_batch_bit_for_bit():
    queries, references = unit(64, 128, 1), unit(300, 128, 2)
    whole = nearest(queries, references, 5)[0]
    assert all(np.array_equal(nearest(queries[i : i + 1], references, 5)[0][0], whole[i]) for i in range(64))


def test_duplicates_tie_by_index_and_have_distance_zero():
    references = np.repeat(unit(1, 4, 0), 4, axis=0)
    similarities, indices = nearest(references[:1], references, 3)
    assert indices.tolist() == [[0, 1, 2]]
    assert np.allclose(mean_distance(similarities), 0, atol=1e-7)


def test_single_reference_and_none_left():
    rows = unit(1, 4, 0)
    assert nearest(rows, rows, 5)[0].shape == (1, 1)
    assert mean_distance(nearest(rows, rows, 5, exclude_self=True)[0]).tolist() == [0.0]


def test_angles_and_cosine_distances_are_two_means():
    similarities = np.array([[1.0, 0.0], [0.5, -1.0]])
    assert neighbours.mean_angle(similarities).tolist() == pytest.approx([np.pi / 4, (np.pi / 3 + np.pi) / 2])
    assert neighbours.mean_distance(similarities).tolist() == pytest.approx([0.5, 1.25])
    assert neighbours.mean_angle(np.zeros((2, 0))).tolist() == [0, 0]
