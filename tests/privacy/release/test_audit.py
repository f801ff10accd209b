"""The audit passes the real mechanism and catches noise that is short; neighbouring files pass one too."""

import numpy as np
import pytest

from graphglass.errors import ParameterError
from graphglass.privacy.release.audit import audit
from graphglass.privacy.release.mechanism import discrete_gaussian

from .neighbouring_files import FORMATS, attacked_releases, epsilon_proven


def short(factor, seed):
    """Rounded Gaussian noise, smaller than asked for."""
    rng = np.random.default_rng(seed)
    return lambda scale, size: np.rint(rng.normal(0.0, scale / factor, size)).astype(np.int64)


def test_the_real_sampler_passes():
    result = audit(draws=20_000)
    assert result.passed
    assert result.mu_claimed == pytest.approx(0.92493, abs=1e-5)
    assert result.mu_lower > 0.85 * result.mu_claimed


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("factor", [1.11, 2**0.5, 2.0])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_planted_bugs_are_caught(epsilon, factor, seed):
    """Noise that is 10 per cent short makes mu 11 per cent larger."""
    result = audit(epsilon=epsilon, sampler=short(factor, seed))
    assert result.draws == result.draws_needed
    assert not result.passed
    assert result.mu_lower <= factor * result.mu_claimed * 1.02


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_correct_noise_is_not_accused(epsilon, seed):
    assert audit(epsilon=epsilon, sampler=short(1.0, seed)).passed


def test_an_audit_without_power_says_what_it_would_take():
    result = audit(epsilon=0.1, sampler=short(1.0, 0))
    assert result.draws == 500_000 < result.draws_needed
    assert audit(epsilon=1.0, draws=2000, sampler=short(1.0, 0)).draws_needed > 100_000


def test_a_bug_planted_in_the_real_sampler_is_caught():
    result = audit(draws=10_000, sampler=lambda scale, size: discrete_gaussian(round(scale / 2**0.5), size))
    assert not result.passed


def test_too_few_draws_are_refused():
    with pytest.raises(ParameterError):
        audit(draws=10)


DRAWS = 30


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_neighbouring_files_keep_the_promise(name, tmp_path):
    """Read as sets, the two JSON Lines files would be told apart without an error, which proves epsilon 1.24."""
    assert epsilon_proven(*attacked_releases(name, tmp_path, DRAWS, 1.0), DRAWS) < 1.0
    assert epsilon_proven(0, 0, DRAWS) > 1.2  # what an attack without an error would prove
