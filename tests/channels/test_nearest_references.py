"""Means over nearest references, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from graphglass.channels.nearest_references import left_out_means, local_scales, nearest_means, neighbourhood


def test_units_divide_distances():
    means = nearest_means(lambda a, b: np.array([[1.0, 2.0]]), 1, 1, np.array([1.0, 4.0]))
    assert means[0] == 0.5


def test_the_mean_is_over_the_k_smallest():
    block = np.array([[3.0, 1.0, 1.0, 0.5, 9.0]])
    assert nearest_means(lambda a, b: block, 1, 3, np.ones(5))[0] == pytest.approx(2.5 / 3)
    assert nearest_means(lambda a, b: block, 1, 9, np.ones(5))[0] == pytest.approx(14.5 / 5)


def test_local_units_are_one_at_the_median_and_bounded_below():
    units = local_scales(np.array([0.0, 1.0, 4.0]), 0.5)
    assert units == pytest.approx([0.1**0.5, 1.0, 2.0])
    assert local_scales(np.array([0.0, 0.0, 1.0]), 0.5).tolist() == [1, 1, 1]


def test_the_neighbourhood_grows_with_the_square_root():
    assert [neighbourhood(n, 10.0) for n in (1, 50, 400, 1600)] == [1, 1, 2, 4]


@pytest.mark.parametrize("count", [3, 64, 700, 1500])
def test_leave_one_out_means_equal_a_plain_loop_and_few_references_are_scaled_less(count):
    places = np.random.default_rng(count).gamma(2.0, size=count)
    apart = np.abs(places[:, None] - places)
    means, units = left_out_means(lambda a, b: np.abs(a[:, None] - b), places, 2, 0.5)
    nearest = [np.sort(np.delete(apart[i], i))[:2].mean() for i in range(count)]
    power = 0.5 * count / (count + 64)
    expected = np.maximum(np.array(nearest) / np.median(nearest), 0.1) ** power
    np.testing.assert_allclose(units, expected)
    scaled = [np.sort(np.delete(apart[i] / expected, i))[:2].mean() for i in range(count)]
    np.testing.assert_allclose(means, scaled)
