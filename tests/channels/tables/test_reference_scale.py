"""Normal scores with tails, whitening and row-by-row distances."""

from __future__ import annotations

import numpy as np
import pytest

from graphglass.channels.nearest_references import (
    left_out_means,
    local_units,
    nearest_means,
    neighbourhood,
    smallest,
)
from graphglass.channels.tables.reference_scale import TAIL, NormalScores, Whitening, squared_distances, unit_rows


@pytest.fixture
def table():
    return np.random.default_rng(0).gamma(2.0, size=(400, 3))


def test_scores_of_the_references_are_normal(table):
    scores = NormalScores(table)(table)
    assert np.allclose(scores.mean(axis=0), 0, atol=0.02)
    assert np.allclose(scores.std(axis=0), 1, atol=0.05)


def test_scores_keep_order_and_go_on_past_the_last_reference(table):
    scale = NormalScores(table)
    line = np.linspace(-3, 40, 500)[:, None].repeat(3, axis=1)
    steps = np.diff(scale(line), axis=0)
    assert (steps >= 0).all()
    highest = table.max(axis=0)
    assert (scale((highest + 1)[None]) > scale(highest[None])).all()
    far, farther = scale(np.full((1, 3), 1e6)), scale(np.full((1, 3), 1e9))
    assert np.array_equal(far, farther)
    assert np.allclose(far - scale(highest[None]), TAIL, atol=0.4)


def test_a_constant_column_still_tells_another_value(table):
    table[:, 0] = 4.0
    scale = NormalScores(table)
    same, other = scale(table[:1]), scale(table[:1] + np.array([[0.5, 0, 0]]))
    assert other[0, 0] > same[0, 0] + 1


def test_whitening_equalises_correlated_columns(table):
    table[:, 2] = table[:, 0] * 5 + 0.3 * table[:, 2]
    rows = Whitening(table)(table)
    variances = np.linalg.eigvalsh(np.cov(rows.T))
    before = np.linalg.eigvalsh(np.cov(table.T))
    assert variances.max() / variances.min() < before.max() / before.min() / 10
    assert np.allclose(rows.mean(axis=0), 0)


def test_distances_are_euclidean_and_equal_rows_are_at_zero(table):
    found = squared_distances(table[:20], table)
    assert np.allclose(found, ((table[:20, None] - table[None]) ** 2).sum(axis=2))
    assert (np.diag(found) == 0).all()


def test_unit_rows_leave_zero_alone():
    assert np.array_equal(unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]])


def test_smallest_orders_and_breaks_ties_by_column():
    means, order = smallest(np.array([[3.0, 1.0, 1.0, 0.5, 9.0]]), 3)
    assert order.tolist() == [[3, 1, 2]]
    assert means[0] == pytest.approx(2.5 / 3)


def test_units_divide_distances():
    means, chosen = nearest_means(lambda a, b: np.array([[1.0, 2.0]]), 1, 1, np.array([1.0, 4.0]))
    assert chosen.tolist() == [[1]]
    assert means[0] == 0.5


def test_local_units_are_one_at_the_median_and_bounded_below():
    units = local_units(np.array([0.0, 1.0, 4.0]), 0.5)
    assert units == pytest.approx([0.1**0.5, 1.0, 2.0])
    assert local_units(np.array([0.0, 0.0, 1.0]), 0.5).tolist() == [1, 1, 1]


def test_the_neighbourhood_grows_with_the_square_root():
    assert [neighbourhood(n, 10.0) for n in (1, 50, 400, 1600)] == [1, 1, 2, 4]


@pytest.mark.parametrize("count", [3, 64, 700])
def test_leave_one_out_means_equal_a_plain_loop_and_few_references_are_scaled_less(count):
    places = np.random.default_rng(count).gamma(2.0, size=count)
    apart = np.abs(places[:, None] - places)
    means, units = left_out_means(lambda a, b: apart[a:b], 2, 0.5, count)
    nearest = [np.sort(np.delete(apart[i], i))[:2].mean() for i in range(count)]
    power = 0.5 * count / (count + 64)
    expected = np.maximum(np.array(nearest) / np.median(nearest), 0.1) ** power
    np.testing.assert_allclose(units, expected)
    scaled = [np.sort(np.delete(apart[i] / expected, i))[:2].mean() for i in range(count)]
    np.testing.assert_allclose(means, scaled)
