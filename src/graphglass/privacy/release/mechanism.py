"""The arithmetic of one release: exact integers, and discrete Gaussian noise from the system's entropy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import MissingExtraError, ParameterError, PrivacyError
from graphglass.privacy.noise_scale import (
    SLACK_SHARE,
    gaussian_delta,
    noise_multiplier,
    rounding_distance,
    slack_factor,
)

Sampler = Callable[[int, int], NDArray[np.int64]]  # (scale, size) -> noise
GRID_BITS = 30  # a feature of one is 2^30 grid units
# Larger scales would not survive the conversion to the sampler's floating-point argument unchanged.
MAX_SCALE = 2**53


def to_grid(features: NDArray[Any]) -> NDArray[np.int64]:
    """Features (n, P) in grid units, truncated toward zero, every row with an exact norm of at most 2^30.

    A row that is not finite or longer than one becomes the zero row, without an error: the number of rows
    stays public and the sensitivity stays 2, and nobody learns from an error message that a record was odd.
    """
    values = np.asarray(features, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        # The float sum is only a guard: below 1.5 the exact integer sum of squares cannot overflow.
        sane = np.isfinite(values).all(axis=1) & ((values * values).sum(axis=1) < 1.5)
    scaled = np.trunc(np.where(sane[:, None], values, 0.0) * 2.0**GRID_BITS)  # exact: a power of two
    grid = scaled.astype(np.int64)
    within = (grid * grid).sum(axis=1) <= 1 << (2 * GRID_BITS)
    return np.asarray(grid * within[:, None])


@dataclass(frozen=True)
class Mechanism:
    """The noise that one promise, slack included, needs on features of some dimension, in integers."""

    epsilon: float
    delta: float
    dimension: int
    graphs_per_subject: int = 1

    def __post_init__(self) -> None:
        if self.delta_slack > self.delta * float(SLACK_SHARE):
            raise PrivacyError(
                f"epsilon = {self.epsilon:g} is too large for integer noise on a 2^-{GRID_BITS} grid at "
                f"delta = {self.delta:g}. Choose a smaller epsilon or a larger delta."
            )

    @property
    def sensitivity(self) -> int:
        """L2 sensitivity of the integer sum: 2 g rows of norm one (prop:private_summary, times n)."""
        return int(2 * self.graphs_per_subject * 2**GRID_BITS)

    @property
    def scale(self) -> int:
        """Parameter of the discrete Gaussian, rounded up to an integer."""
        return math.ceil(Fraction(noise_multiplier(self.epsilon, gaussian_delta(self.delta))) * self.sensitivity)

    @property
    def mu_squared(self) -> Fraction:
        return Fraction(self.sensitivity, self.scale) ** 2

    @property
    def total_variation(self) -> Fraction:
        """Bound on the distance between this noise and a rounded continuous Gaussian."""
        return rounding_distance(self.dimension, self.scale)

    @property
    def delta_slack(self) -> float:
        """What the discrete noise costs in delta, (1 + e^epsilon) times the total variation."""
        return float(slack_factor(self.epsilon) * self.total_variation)

    def noisy(self, total: NDArray[np.int64], sampler: Sampler) -> NDArray[np.int64]:
        """An exact sum of grid rows plus noise (eq:dp_release, times n and the grid), (P,)."""
        noise = sampler(self.scale, self.dimension)
        if noise.shape != (self.dimension,) or noise.dtype != np.int64:
            raise PrivacyError("The noise sampler returned something else than one integer per coordinate.")
        return total + noise


def discrete_gaussian(scale: int, size: int) -> NDArray[np.int64]:
    """Independent draws from the integers with P(k) proportional to exp(-k^2 / (2 scale^2)), (size,).

    OpenDP's exact sampler; no seed exists and none can be passed. For scales above a few units, ``scale`` is also the
    standard deviation.
    """
    if not (isinstance(scale, int) and 1 <= scale <= MAX_SCALE):
        raise ParameterError("discrete_gaussian", "scale", f"an integer from 1 to {MAX_SCALE}", scale)
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise MissingExtraError("A private release", "privacy") from error
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    measurement = dp.m.make_gaussian(*space, scale=float(scale))
    return np.asarray(measurement([0] * size), np.int64)
