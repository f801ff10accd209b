import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from graphglass.channels.calibration import benjamini_hochberg, conformal_p_values
from graphglass.errors import ParameterError


def test_p_value_by_hand():
    reference = np.array([0.1, 0.2, 0.2, 0.5])
    assert conformal_p_values(np.array([0.0, 0.2, 0.3, 0.9]), reference).tolist() == [1.0, 0.8, 0.4, 0.2]


def test_p_values_of_exchangeable_scores_are_valid():
    rng = np.random.default_rng(0)
    p = np.concatenate([conformal_p_values(rng.normal(size=200), rng.normal(size=99)) for _ in range(50)])
    for alpha in (0.05, 0.1, 0.5):
        assert np.mean(p <= alpha) == pytest.approx(alpha, abs=0.02)


def test_benjamini_hochberg_by_hand():
    p = np.array([0.9, 0.01, 0.03, 0.02, 0.5])
    assert benjamini_hochberg(p, 0.05).tolist() == [False, True, True, True, False]
    assert not benjamini_hochberg(p, 0.01).any()
    assert benjamini_hochberg(np.array([]), 0.1).tolist() == []


def test_bad_level():
    with pytest.raises(ParameterError, match="'alpha' parameter"):
        benjamini_hochberg(np.array([0.5]), 1.5)


@given(st.lists(st.integers(1, 40), max_size=60), st.sampled_from([0.01, 0.05, 0.1, 0.5]))
@settings(max_examples=50, deadline=None)
def test_benjamini_hochberg_selects_what_scipy_selects(numerators, alpha):
    p = np.array(numerators) / 40
    adjusted = false_discovery_control(p) if len(p) else p
    assert benjamini_hochberg(p, alpha).tolist() == (adjusted <= alpha * (1 + 1e-12)).tolist()
