"""The arithmetic of one release: exact integers in, discrete Gaussian noise on top."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError, PrivacyError
from graphglass.privacy.noise_scale import (
    SLACK_SHARE,
    gaussian_delta,
    noise_multiplier,
    rounding_distance,
    slack_factor,
)
from graphglass.privacy.release.fixed_point import GRID_BITS, to_grid

Sampler = Callable[[int, int], NDArray[np.int64]]  # (scale, size) -> noise


@dataclass(frozen=True)
class Mechanism:
    """The noise one promise needs, in integers.

    Attributes
    ----------
    epsilon, delta : float
        The promise, slack included.
    dimension : int
        Coordinates of the feature.
    graphs_per_subject : int
        Graphs replaced together.
    bits : int
        A feature of one is 2^bits grid units.
    """

    epsilon: float
    delta: float
    dimension: int
    graphs_per_subject: int = 1
    bits: int = GRID_BITS

    def __post_init__(self) -> None:
        if self.graphs_per_subject < 1 or self.dimension < 1 or not 8 <= self.bits <= GRID_BITS:
            raise ParameterError(
                "Mechanism",
                "graphs_per_subject, dimension and bits",
                f"positive, with 8 to {GRID_BITS} bits",
                (self.graphs_per_subject, self.dimension, self.bits),
            )
        if self.delta_slack > self.delta * float(SLACK_SHARE):
            raise PrivacyError(f"delta = {self.delta:g} is too small for integer noise on a 2^-{self.bits} grid.")

    @property
    def sensitivity(self) -> int:
        """L2 sensitivity of the integer sum: 2 g rows of norm one (prop:private_summary, times n)."""
        return 2 * self.graphs_per_subject * 2**self.bits

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

    def noisy_sum(self, grid: NDArray[np.int64], sampler: Sampler) -> NDArray[np.int64]:
        """The exact sum of grid rows plus noise (eq:dp_release, times n and the grid), (P,)."""
        noise = sampler(self.scale, self.dimension)
        if noise.shape != (self.dimension,) or noise.dtype != np.int64:
            raise PrivacyError("The noise sampler returned something else than one integer per coordinate.")
        return grid.sum(axis=0) + noise

    def grid(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        """Features as bounded integer rows."""
        return to_grid(features, self.bits)
