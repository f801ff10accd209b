import math

import mpmath
import numpy as np
import pytest
from scipy.special import logsumexp

from graphglass.errors import ParameterError
from graphglass.glass.code_channel import kde_score, log_normaliser
from graphglass.glass.slices import normalise


@pytest.mark.parametrize("dimension", [2, 3, 10, 64, 128, 256, 512, 1024])
@pytest.mark.parametrize("concentration", [1e-3, 0.5, 4.0, 64.0, 1e3, 1e4])
def test_log_normaliser_against_arbitrary_precision(dimension, concentration):
    with mpmath.workdps(60):
        order = mpmath.mpf(dimension) / 2 - 1
        kappa = mpmath.mpf(concentration)
        bessel = mpmath.besseli(order, kappa)
        turns = mpmath.mpf(dimension) / 2 * mpmath.log(2 * mpmath.pi)
        expected = order * mpmath.log(kappa) - turns - mpmath.log(bessel)
    assert log_normaliser(dimension, concentration) == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


def test_density_integrates_to_one_on_the_circle():
    angles = np.linspace(0, 2 * math.pi, 20_001)[:-1]
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    references = normalise(np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]))
    density = np.exp(-kde_score(circle, references, 7.0))
    assert density.mean() * 2 * math.pi == pytest.approx(1, abs=1e-9)


def test_scaled_score_tends_to_one_nearest_neighbour():
    """Proposition 1: the scaled negative log-density and the 1-NN distance differ by a constant, up to log(m)/kappa."""
    rng = np.random.default_rng(0)
    references, queries = normalise(rng.normal(size=(40, 64))), normalise(rng.normal(size=(30, 64)))
    nearest_distance = 1 - (queries @ references.T).max(axis=1)
    gaps = []
    for kappa in (10.0, 100.0, 1e3, 1e4):
        constant = (log_normaliser(64, kappa) - math.log(40)) / kappa + 1
        gap = np.abs(kde_score(queries, references, kappa) / kappa + constant - nearest_distance).max()
        assert gap <= math.log(40) / kappa + 1e-9
        gaps.append(gap)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-3


def test_leave_one_out_by_hand():
    rows = normalise(np.random.default_rng(1).normal(size=(6, 8)))
    score = kde_score(rows, rows, 5.0, exclude_self=True)
    others = np.delete(rows, 2, axis=0)
    expected = -(log_normaliser(8, 5.0) - math.log(5) + logsumexp(5.0 * others @ rows[2]))
    assert score[2] == pytest.approx(expected)
    assert kde_score(rows[:1], rows[:1], 5.0, exclude_self=True).tolist() == [0.0]


def test_bad_arguments():
    with pytest.raises(ParameterError, match="'dimension' parameter"):
        log_normaliser(1, 1.0)
    with pytest.raises(ParameterError, match="'concentration' parameter"):
        log_normaliser(8, 0.0)
