"""Quantiles of random Rayleigh quotients, from the spectrum alone.

For a Gaussian probe u the quotient u'Lu / u'u has the law of sum lambda_i g_i^2 / sum g_i^2, whatever the eigenvectors
are. Drawing the g_i in the eigenbasis therefore gives the same law as probing nodes and does not depend on their order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PROBES = 16
LEVELS = (0.1, 0.5, 0.9)


def rayleigh_quantiles(spectrum: NDArray[np.float64]) -> NDArray[np.float64]:
    """The 10, 50 and 90% quantiles of 16 Rayleigh quotients (eq:rayleigh, eq:spectral_sketch)."""
    squares = np.random.default_rng(0).standard_normal((len(spectrum), PROBES)) ** 2
    return np.quantile(spectrum @ squares / squares.sum(axis=0), LEVELS)
