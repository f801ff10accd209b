"""The noise scale, its exact cost and its discretisation; and integer rows, whatever floats come in."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphglass.errors import PrivacyError
from graphglass.glass.joint_features import JointFeatures
from graphglass.privacy.noise_scale import noise_multiplier
from graphglass.privacy.release.ledger import SLACK_SHARE
from graphglass.privacy.release.mechanism import GRID_BITS, Mechanism, to_grid


def test_scale_is_an_integer_on_the_safe_side():
    mechanism = Mechanism(4.0, 1e-5, 1024)
    assert isinstance(mechanism.scale, int)
    assert mechanism.scale >= noise_multiplier(4.0, 1e-5) * 2**31
    assert mechanism.scale / (128 * 2**30) == pytest.approx(0.016893, abs=1e-6)
    assert mechanism.mu_squared <= 1 / Fraction(noise_multiplier(4.0, 1e-5)) ** 2


def test_a_subject_with_several_graphs_needs_proportionally_more_noise():
    one, three = Mechanism(2.0, 1e-5, 8), Mechanism(2.0, 1e-5, 8, graphs_per_subject=3)
    assert three.scale == pytest.approx(3 * one.scale, abs=3)
    assert float(three.mu_squared) == pytest.approx(float(one.mu_squared), rel=1e-8)


def distance_to_rounded_gaussian(scale):
    """Total variation between the discrete Gaussian and a continuous one rounded to integers, summed term by term."""
    k = np.arange(-40 * scale - 40, 40 * scale + 41)
    discrete = np.exp(-(k**2) / (2.0 * scale**2))
    discrete /= discrete.sum()
    upper = np.array([math.erf((x + 0.5) / (scale * math.sqrt(2))) for x in k])
    lower = np.array([math.erf((x - 0.5) / (scale * math.sqrt(2))) for x in k])
    return 0.5 * np.abs(discrete - (upper - lower) / 2).sum()


@pytest.mark.parametrize("scale", [1, 2, 3, 5, 10, 30])
def test_the_proven_bound_on_the_discretisation_holds(scale):
    measured = distance_to_rounded_gaussian(scale)
    assert measured <= 1 / (16 * scale**2)
    assert measured >= 0.016 / scale**2  # the bound is of the right order


def test_slack_is_booked_and_fits_its_share():
    mechanism = Mechanism(4.0, 1e-5, 1024)
    assert mechanism.total_variation == Fraction(1024, 16 * mechanism.scale**2)
    assert mechanism.delta_slack == pytest.approx((1 + math.exp(4)) * 64 / mechanism.scale**2)
    assert 0 < mechanism.delta_slack <= 1e-5 * float(SLACK_SHARE)


def test_a_delta_the_grid_cannot_keep_is_refused():
    with pytest.raises(PrivacyError, match=r"epsilon = 4 is too large .* at delta = 1e-12"):
        Mechanism(4.0, 1e-12, 1024)


def test_noise_is_added_to_the_exact_sum():
    mechanism = Mechanism(1.0, 1e-5, 3)
    total = np.array([11, 22, 33])
    asked = []

    def sampler(scale, size):
        asked.append((scale, size))
        return np.array([100, 200, 300], np.int64)

    assert mechanism.noisy(total, sampler).tolist() == [111, 222, 333]
    assert asked == [(mechanism.scale, 3)]
    with pytest.raises(PrivacyError, match="sampler"):
        mechanism.noisy(total, lambda scale, size: np.zeros(1, np.int64))


LIMIT = 1 << (2 * GRID_BITS)
ANY_FLOAT = st.one_of(
    st.floats(width=64),
    st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 5e-324, -5e-324, 1.0, -1.0, np.nextafter(1.0, 2.0), 1e300]),
    st.floats(-1.0, 1.0),
)


def norms(grid):
    return [sum(int(q) ** 2 for q in row) for row in grid]


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=ANY_FLOAT))
def test_rows_never_exceed_the_norm(rows):
    grid = to_grid(rows)
    assert grid.shape == rows.shape
    assert grid.dtype == np.int64
    assert max(norms(grid)) <= LIMIT
    for row, kept in zip(rows, grid, strict=True):
        if not np.isfinite(row).all():
            assert not kept.any()


@settings(max_examples=30, deadline=None)
@given(hnp.arrays(np.float64, (2, 7), elements=ANY_FLOAT), hnp.arrays(np.float64, (7,), elements=ANY_FLOAT))
def test_replacing_one_row_moves_the_sum_by_at_most_two(rows, other):
    changed = rows.copy()
    changed[0] = other
    difference = to_grid(rows).sum(axis=0) - to_grid(changed).sum(axis=0)
    assert norms(difference[None])[0] <= 4 * LIMIT


def test_truncates_toward_zero():
    step = 2.0**-GRID_BITS
    row = np.array([[0.25 + 0.9 * step, -0.25 - 0.9 * step, 0.9 * step, -0.0, 5e-324]])
    assert to_grid(row).tolist() == [[2**28, -(2**28), 0, 0, 0]]


def test_a_row_just_over_the_bound_is_zeroed_and_others_stay():
    over = np.full(4, 0.5)
    over[0] += 2.0**-GRID_BITS
    grid = to_grid(np.array([over, [0.5, 0.5, 0.5, 0.5], [1.0, 1.0, 1.0, 1.0]]))
    assert not grid[0].any()
    assert norms(grid)[1] == LIMIT
    assert not grid[2].any()


def test_many_large_coordinates_do_not_wrap_around():
    assert not to_grid(np.ones((1, 16))).any()
    assert not to_grid(np.ones((1, 4096))).any()


@pytest.mark.parametrize("frequencies", [1, 64, 128])
def test_legitimate_features_are_never_zeroed(frequencies):
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((500, 16))
    features = JointFeatures((("a", 16),), frequencies=frequencies)(
        {"a": rows / np.linalg.norm(rows, axis=1, keepdims=True)}
    )
    grid = to_grid(features)
    assert (grid != 0).any(axis=1).all()
    np.testing.assert_allclose(grid / 2.0**GRID_BITS, features, atol=2.0**-GRID_BITS)
