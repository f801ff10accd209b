"""Noise calibration: the paper's figures, two independent accountants, and never the unsafe side."""

import math

import mpmath
import pytest
from dp_accounting import dp_event, get_sigma_gaussian
from dp_accounting.pld import PLDAccountant

from graphglass.errors import ParameterError
from graphglass.privacy.noise_scale import (
    SAFETY,
    epsilon_of,
    gaussian_sigma,
    log_delta,
    noise_multiplier,
    references_needed,
)

EPSILONS = (1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 64.0)
DELTAS = (1e-100, 1e-30, 1e-15, 1e-10, 1e-5, 1e-3, 0.1, 0.5)


def exact_delta(epsilon, multiplier):
    """The left side of the calibration equation with 150 digits."""
    with mpmath.workdps(150):
        mu, epsilon = 1 / mpmath.mpf(multiplier), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def test_noise_of_the_paper():
    assert round(gaussian_sigma(4.0, 1e-5, 128), 5) == 0.01689
    assert round(gaussian_sigma(4.0, 1e-5, 8), 4) == 0.2703


@pytest.mark.parametrize(("epsilon", "multiplier"), [(0.5, 7.0318), (1, 3.7306), (2, 1.9938), (4, 1.0812), (8, 0.6002)])
def test_multipliers_at_the_usual_delta(epsilon, multiplier):
    assert noise_multiplier(epsilon, 1e-5) == pytest.approx(multiplier, abs=5e-5)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_never_too_little_noise_and_never_noticeably_too_much(epsilon, delta):
    multiplier = noise_multiplier(epsilon, delta)
    assert exact_delta(epsilon, multiplier) <= delta
    assert exact_delta(epsilon, multiplier / (1 + 1e-8)) > delta


@pytest.mark.parametrize("delta", [1e-12, 1e-5, 1e-2])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0, 8.0])
def test_agrees_with_dp_accounting(epsilon, delta):
    assert noise_multiplier(epsilon, delta) == pytest.approx(get_sigma_gaussian(epsilon, delta), rel=3e-9)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.0, 0.1), (4.0, 0.9), (1.0, 12.0), (64.0, 0.6), (0.01, 0.002)])
def test_log_delta_keeps_its_digits(epsilon, mu):
    with mpmath.workdps(150):
        exact = mpmath.log(exact_delta(epsilon, 1 / mpmath.mpf(mu)))
    assert log_delta(epsilon, mu) == pytest.approx(float(exact), rel=1e-9)


def test_three_releases_compose_exactly():
    mu = math.sqrt(3) / noise_multiplier(4.0, 1e-5) * SAFETY
    accountant = PLDAccountant()
    accountant.compose(dp_event.GaussianDpEvent(noise_multiplier(4.0, 1e-5)), 3)
    assert epsilon_of(mu, 1e-5) == pytest.approx(7.63081303, abs=1e-7)
    assert epsilon_of(mu, 1e-5) == pytest.approx(accountant.get_epsilon(1e-5), abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_epsilon_inverts_the_multiplier_upwards(epsilon):
    back = epsilon_of(1.0 / noise_multiplier(epsilon, 1e-6), 1e-6)
    assert back == pytest.approx(epsilon, rel=1e-7)
    assert exact_delta(back, noise_multiplier(epsilon, 1e-6)) <= 1e-6
    assert epsilon_of(1e-9, 0.1) == 0.0


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, 1e-5), (-1, 1e-5), (math.nan, 1e-5), (65, 1e-5), (1, 0), (1, 0.6), ("1", 0.1)]
)
def test_promises_outside_the_verified_range_are_refused(epsilon, delta):
    with pytest.raises(ParameterError):
        noise_multiplier(epsilon, delta)


def test_sigma_scales_with_subject_and_size():
    assert gaussian_sigma(1.0, 1e-5, 50, 3) == pytest.approx(3 * gaussian_sigma(1.0, 1e-5, 50))
    assert gaussian_sigma(1.0, 1e-5, 100) == pytest.approx(gaussian_sigma(1.0, 1e-5, 50) / 2)
    with pytest.raises(ParameterError):
        gaussian_sigma(1.0, 1e-5, 0)


@pytest.mark.parametrize(("epsilon", "subject"), [(1.0, 1), (4.0, 1), (4.0, 3)])
def test_the_references_needed_are_the_fewest(epsilon, subject):
    n = references_needed(0.25, epsilon, 1e-5, subject)
    assert gaussian_sigma(epsilon, 1e-5, n, subject) <= 0.25 < gaussian_sigma(epsilon, 1e-5, n - 1, subject)
