"""Public maps: fitted on source rows alone, unit rows out, exact round trip."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import ArtifactError, ParameterError
from graphglass.privacy.public_map import PublicMap


def source(seed=0, n=400, width=12):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, width)) * np.geomspace(1.0, 0.05, width) + rng.standard_normal(width)


def test_whitening_makes_source_directions_equally_wide():
    rows = source()
    fitted = PublicMap.whitening(rows, rank=12, power=1.0)
    np.testing.assert_allclose(
        np.cov((rows - fitted.centre) @ fitted.projection, rowvar=False, bias=True), np.eye(12), atol=1e-8
    )


def test_power_zero_only_rotates():
    fitted = PublicMap.whitening(source(), rank=12, power=0.0)
    np.testing.assert_allclose(fitted.projection.T @ fitted.projection, np.eye(12), atol=1e-10)


def test_leading_directions_are_kept_and_tiny_ones_are_not_blown_up():
    rows = source()
    rows[:, -1] = 3.0
    assert np.abs(PublicMap.whitening(rows, rank=12, power=1.0, floor=0.01).projection).max() < 101 / 0.9
    two = PublicMap.whitening(source(), rank=2)
    assert two.rank == 2
    assert two.width == 12
    assert np.abs(two.projection[0, 0]) > np.abs(two.projection[6:]).max()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0, 1))
def test_rows_come_out_on_the_sphere_one_by_one(seed, rank, power):
    fitted = PublicMap.whitening(source(1), rank=rank, power=power)
    queries = source(seed, n=5)
    mapped = fitted(queries)
    np.testing.assert_allclose(np.linalg.norm(mapped, axis=1), 1.0)
    np.testing.assert_allclose(mapped[2:3], fitted(queries[2:3]), atol=1e-12)


def test_the_centre_and_bad_rows():
    fitted = PublicMap.whitening(source(), rank=3)
    assert not fitted(fitted.centre[None]).any()
    assert np.isnan(fitted(np.full((1, 12), np.nan))).all()


def test_round_trip():
    fitted = PublicMap.whitening(source(), rank=5)
    again = PublicMap.from_arrays(fitted.arrays())
    np.testing.assert_array_equal(again(source(3)), fitted(source(3)))


def test_refusals():
    for rows, rank in (
        (np.zeros((1, 4)), 2),
        (np.full((9, 4), np.nan), 2),
        (np.ones((9, 4)), 2),
        (source(), 13),
        (source(), 0),
    ):
        with pytest.raises(ParameterError):
            PublicMap.whitening(rows, rank=rank)
    with pytest.raises(ArtifactError):
        PublicMap(np.zeros(3), np.zeros((4, 2)))
    with pytest.raises(ArtifactError):
        PublicMap(np.zeros(2), np.full((2, 2), np.inf))
