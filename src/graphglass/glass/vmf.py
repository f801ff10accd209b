"""The von Mises-Fisher density: its exact log-normaliser and the kernel density score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import hyp0f1, ive, logsumexp

from graphglass.errors import ParameterError

_BLOCK = 8_000_000


def log_bessel(order: float, argument: float) -> float:
    """log I_order(argument), also where I itself under- or overflows.

    Small orders take SciPy's scaled function. It underflows where the order is large, and there
    I_v(x) = (x/2)^v / Gamma(v + 1) 0F1(v + 1; x^2/4) with a hypergeometric factor of moderate size.
    """
    scaled = float(ive(order, argument))
    if scaled > 1e-280:
        return math.log(scaled) + argument
    series = float(hyp0f1(order + 1, argument**2 / 4))
    return order * math.log(argument / 2) - math.lgamma(order + 1) + math.log(series)


def log_normaliser(dimension: int, concentration: float) -> float:
    """log C_D(kappa) of the vMF density on the sphere in ``dimension`` coordinates."""
    if dimension < 2:
        raise ParameterError("log_normaliser", "dimension", "at least 2", dimension)
    if not concentration > 0:
        raise ParameterError("log_normaliser", "concentration", "positive", concentration)
    order = dimension / 2 - 1
    power = order * math.log(concentration)
    return power - (dimension / 2) * math.log(2 * math.pi) - log_bessel(order, concentration)


def kde_score(
    queries: NDArray[Any], references: NDArray[Any], concentration: float, *, exclude_self: bool = False
) -> NDArray[np.float64]:
    """Negative log vMF kernel density of each query (eq:vmfkde); higher is rarer.

    Divided by the concentration it tends to the angular 1-NN distance as the concentration grows.
    """
    n, m = len(queries), len(references)
    used = m - 1 if exclude_self else m
    if used < 1:
        return np.zeros(n)
    constant = log_normaliser(references.shape[1], concentration) - math.log(used)
    wide_q, wide_r = queries.astype(np.float64), references.astype(np.float64)
    score = np.empty(n)
    step = max(1, _BLOCK // m)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        exponent = concentration * (wide_q[rows] @ wide_r.T)
        if exclude_self:
            exponent[np.arange(len(rows)), rows] = -np.inf
        score[rows] = -constant - logsumexp(exponent, axis=1)
    return score
