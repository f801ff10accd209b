"""The sampler draws the discrete Gaussian, and a test that would notice if it did not."""

import inspect
import sys

import numpy as np
import pytest
from scipy import stats

from graphglass.errors import MissingExtraError, ParameterError
from graphglass.privacy.release.mechanism import discrete_gaussian

DRAWS = 20_000


def goodness_of_fit(draws, scale):
    """p-value of a chi-squared test of integers against the discrete Gaussian law."""
    k = np.arange(-6 * scale, 6 * scale + 1)
    law = np.exp(-(k**2) / (2.0 * scale**2))
    law /= law.sum()
    edges = np.arange(-2 * scale, 2 * scale + 1)
    cells = np.searchsorted(edges, np.clip(draws, edges[0] - 1, edges[-1]), side="right")
    expected = np.bincount(np.searchsorted(edges, np.clip(k, edges[0] - 1, edges[-1]), side="right"), law)
    observed = np.bincount(cells, minlength=len(expected))
    return stats.chisquare(observed, expected * len(draws)).pvalue


def test_sampler_fits_the_law_and_ten_per_cent_does_not():
    assert goodness_of_fit(discrete_gaussian(10, DRAWS), 10) > 1e-9
    assert goodness_of_fit(discrete_gaussian(9, DRAWS), 10) < 1e-9
    assert goodness_of_fit(discrete_gaussian(11, DRAWS), 10) < 1e-9


def test_large_scale_is_gaussian_and_independent():
    scale = 2_321_777_500
    draws = discrete_gaussian(scale, DRAWS) / scale
    assert stats.kstest(draws, "norm").pvalue > 1e-9
    assert stats.kstest(draws * 0.9, "norm").pvalue < 1e-9
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 6 / np.sqrt(DRAWS)


def test_no_seed_and_no_repetition():
    assert list(inspect.signature(discrete_gaussian).parameters) == ["scale", "size"]
    np.random.seed(0)  # noqa: NPY002
    first = discrete_gaussian(2**30, 64)
    np.random.seed(0)  # noqa: NPY002
    assert (first != discrete_gaussian(2**30, 64)).any()


@pytest.mark.parametrize("scale", [0, -1, 1.5, 2**53 + 1])
def test_impossible_scales_are_refused(scale):
    with pytest.raises(ParameterError):
        discrete_gaussian(scale, 1)


def test_missing_sampler_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtraError, match=r"graphglass\[privacy\]"):
        discrete_gaussian(10, 1)
