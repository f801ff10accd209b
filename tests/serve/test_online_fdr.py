"""SAFFRON against its own bound, against its definition, and on conformal p-values."""

import numpy as np
import pytest

from graphglass.channels.calibration import conformal_p_values
from graphglass.errors import ParameterError
from graphglass.serve.online_fdr import OnlineFDR


def _by_definition(p_values, alpha):
    """The levels as Algorithm 1 of the paper writes them, with sums over all discoveries at every step."""
    gamma = np.arange(1, len(p_values) + 1) ** -1.6 / np.sum(np.arange(1, 2_000_001) ** -1.6)
    found, levels = [], []
    for t in range(len(p_values)):
        level = 0.0
        for number, start in enumerate([-1, *found]):
            candidates = sum(p <= 0.5 for p in p_values[start + 1 : t])
            wealth = alpha / 2 if number < 2 else alpha
            level += wealth * gamma[t - start - 1 - candidates]
        levels.append(min(0.5, 0.5 * level))
        if p_values[t] <= levels[-1]:
            found.append(t)
    return levels, found


def _stream(rng, size, anomalies):
    """P-values and which of them belong to anomalies."""
    odd = rng.random(size) < anomalies
    return np.where(odd, rng.beta(0.05, 8, size), rng.random(size)), odd


def test_levels_are_those_of_the_definition():
    p_values, _ = _stream(np.random.default_rng(3), 120, 0.2)
    expected, found = _by_definition(p_values, 0.2)
    control = OnlineFDR(0.2)
    levels, flagged = [], []
    for p_value in p_values:
        levels.append(control.level)
        flagged.append(control.take(p_value))
    assert len(found) > 5
    assert np.flatnonzero(flagged).tolist() == found
    np.testing.assert_allclose(levels, expected, rtol=2e-4)  # the sum of the definition ends


@pytest.mark.parametrize("anomalies", [0.0, 0.02, 0.3])
def test_the_false_discovery_rate_stays_below_its_bound(anomalies):
    """over 150 streams; and the estimate that the proof bounds stays below it at every step."""
    rng, alpha, shares, power = np.random.default_rng(0), 0.1, [], []
    for _ in range(150):
        p_values, odd = _stream(rng, 250, anomalies)
        control = OnlineFDR(alpha)
        flagged = np.zeros(len(p_values), dtype=bool)
        for place, p_value in enumerate(p_values):
            flagged[place] = control.take(p_value)
            assert control.spent <= alpha * max(control.discoveries, 1) + 1e-12
        shares.append(np.sum(flagged & ~odd) / max(flagged.sum(), 1))
        power.append(np.sum(flagged & odd) / max(odd.sum(), 1))
    error = np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) <= alpha + 2 * error
    if anomalies > 0.1:
        assert np.mean(power) > 0.5


def test_conformal_p_values_of_one_reference_set():
    """They share their references, which the theorem does not cover; here the bound holds nevertheless."""
    rng, shares = np.random.default_rng(1), []
    for _ in range(200):
        references = rng.normal(size=2000)
        odd = rng.random(200) < 0.2
        p_values = conformal_p_values(rng.normal(size=200) + 6 * odd, references)
        control = OnlineFDR(0.1)
        flagged = np.array([control.take(p_value) for p_value in p_values])
        shares.append(np.sum(flagged & ~odd) / max(flagged.sum(), 1))
    assert np.mean(shares) <= 0.1 + 2 * np.std(shares) / np.sqrt(len(shares))


@pytest.mark.parametrize("alpha", [0, 1, float("nan")])
def test_a_bound_outside_zero_and_one_is_refused(alpha):
    with pytest.raises(ParameterError, match="alpha"):
        OnlineFDR(alpha)
