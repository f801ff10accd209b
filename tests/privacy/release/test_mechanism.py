"""The noise scale, the exact cost, and the written bound on the discretisation."""

import math
from fractions import Fraction

import numpy as np
import pytest

from graphglass.errors import ParameterError, PrivacyError
from graphglass.privacy.noise_scale import noise_multiplier
from graphglass.privacy.release.ledger import SLACK_SHARE
from graphglass.privacy.release.mechanism import Mechanism


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
    with pytest.raises(PrivacyError, match="too small"):
        Mechanism(4.0, 1e-12, 1024)
    with pytest.raises(PrivacyError, match="too small"):
        Mechanism(4.0, 1e-5, 1024, bits=12)


@pytest.mark.parametrize("settings", [{"graphs_per_subject": 0}, {"dimension": 0}, {"bits": 31}])
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        Mechanism(**{"epsilon": 1.0, "delta": 1e-5, "dimension": 4, **settings})


def test_noisy_sum_adds_the_noise_to_the_exact_sum():
    mechanism = Mechanism(1.0, 1e-5, 3)
    rows = np.array([[1, 2, 3], [10, 20, 30]], np.int64)
    asked = []

    def sampler(scale, size):
        asked.append((scale, size))
        return np.array([100, 200, 300], np.int64)

    assert mechanism.noisy_sum(rows, sampler).tolist() == [111, 222, 333]
    assert asked == [(mechanism.scale, 3)]
    with pytest.raises(PrivacyError, match="sampler"):
        mechanism.noisy_sum(rows, lambda scale, size: np.zeros(1, np.int64))
