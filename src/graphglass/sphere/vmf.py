"""The von Mises-Fisher density: its exact log-normaliser and the kernel density score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ive, logsumexp

from graphglass.errors import ParameterError

# Below this the scaled Bessel function is near the smallest normal number and loses digits.
_TINY = 1e-280
_BLOCK = 8_000_000


def log_bessel(order: float, argument: float) -> float:
    """log I_order(argument), also where I itself under- or overflows.

    The scaled function of SciPy serves wherever it is representable; past that the order is large and Debye's uniform
    expansion with four correction terms is accurate to about order**-5.
    """
    scaled = float(ive(order, argument))
    if scaled > _TINY and math.isfinite(scaled):
        return math.log(scaled) + argument
    ratio = argument / order
    root = math.sqrt(1 + ratio * ratio)
    eta = root + math.log(ratio / (1 + root))
    p = 1 / root
    terms = (
        (3 * p - 5 * p**3) / 24,
        (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152,
        (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720,
        (4465125 * p**4 - 94121676 * p**6 + 349922430 * p**8 - 446185740 * p**10 + 185910725 * p**12) / 39813120,
    )
    series = 1 + sum(term / order ** (power + 1) for power, term in enumerate(terms))
    return order * eta - 0.5 * math.log(2 * math.pi * order) - 0.5 * math.log(root) + math.log(series)


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
