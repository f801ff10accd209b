"""Fourier features: unit norm, the kernel they approximate, and stable public frequencies."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from graphglass.channels.fourier import standard_frequencies
from graphglass.errors import ParameterError
from graphglass.glass.joint_features import paired_features


def unit(rng, n, d):
    rows = rng.standard_normal((n, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 60), st.floats(0.1, 100))
def test_norm_is_one_for_every_input(seed, dimension, count, scale):
    rows = scale * np.random.default_rng(seed).standard_normal((3, dimension))
    features = paired_features(rows, standard_frequencies(seed, "c", dimension, count))
    assert features.shape == (3, 2 * count)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("kappa", [1.0, 4.0])
def test_inner_products_approximate_the_spherical_kernel(kappa):
    rows = unit(np.random.default_rng(0), 20, 16)
    features = paired_features(rows, np.sqrt(kappa) * standard_frequencies(7, "c", 16, 8192))
    np.testing.assert_allclose(features @ features.T, np.exp(kappa * (rows @ rows.T - 1)), atol=0.05)


def test_frequencies_are_standard_normal():
    rows = standard_frequencies(3, "c", 64, 256)
    assert stats.kstest(rows.ravel(), "norm").pvalue > 1e-4
    assert stats.kstest((rows**2).sum(axis=1), stats.chi2(64).cdf).pvalue > 1e-4


def test_frequencies_are_a_public_function_of_their_name():
    first = standard_frequencies(1, "graph:64", 8, 4)
    standard_frequencies.cache_clear()
    np.testing.assert_array_equal(first, standard_frequencies(1, "graph:64", 8, 4))
    for other in ((2, "graph:64"), (1, "text:64")):
        assert (first != standard_frequencies(*other, 8, 4)).all()
    assert not first.flags.writeable
    # Sites rely on this value: a change makes their summaries incomparable.
    digest = hashlib.sha256(first.astype("<f8").tobytes()).hexdigest()
    assert digest == "3f683942a84ff06eef38631336d864479de3894d151c93d9d2b30b0241b855c3"


def test_rows_that_are_not_finite_stay_so_without_a_warning():
    features = paired_features([[np.nan, 0.0], [np.inf, 1.0], [1.0, 0.0]], standard_frequencies(0, "c", 2, 3))
    assert not np.isfinite(features[:2]).any(axis=1).all() or np.isnan(features[:2]).any(axis=1).all()
    assert np.isfinite(features[2]).all()


def test_impossible_sizes_are_refused():
    with pytest.raises(ParameterError):
        standard_frequencies(0, "c", 0, 4)
