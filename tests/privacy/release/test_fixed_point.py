"""Integer rows: norm and sensitivity hold exactly, whatever floats come in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphglass.privacy.joint_features import JointFeatures
from graphglass.privacy.release.fixed_point import GRID_BITS, to_grid

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
