"""Seeded, repeatable noise for benchmarks on public data. Never a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import PrivacyError
from graphglass.privacy.noise_scale import gaussian_sigma
from graphglass.privacy.private_summary import shrunk


@dataclass(frozen=True, eq=False)
class SimulatedSummary:
    """Means with pseudorandom noise that anyone who knows the seed can remove; it cannot be written as a release."""

    means: NDArray[np.float64]  # (draws, P)
    sigma: float

    def scores(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """eq:dp_score of every query under every draw, (draws, n)."""
        return -(self.means @ features.T)

    def with_prior(self, prior: NDArray[np.float64], references: int) -> SimulatedSummary:
        """The draws shrunk toward a public mean (eq:dp_mix)."""
        return SimulatedSummary(shrunk(self.means, prior, references), self.sigma)

    def save(self, *_: Any, **__: Any) -> NoReturn:
        """Always refused."""
        raise PrivacyError("A simulated summary protects nobody: its noise follows from a seed. Use release().")

    to_bytes = save


def simulate(
    features: NDArray[np.float64], *, epsilon: float, seed: int, delta: float = 1e-5, draws: int = 10, sites: int = 1
) -> SimulatedSummary:
    """Benchmark-only draws of eq:dp_release over public reference features (n, P); an epsilon of ``inf`` adds no noise.

    With J equal disjoint sites at fixed total n, the noise grows by the square root of J.
    """
    mean = np.asarray(features, np.float64).mean(axis=0)
    if epsilon == float("inf"):
        return SimulatedSummary(np.repeat(mean[None, :], draws, axis=0), 0.0)
    sigma = gaussian_sigma(epsilon, delta, len(features)) * sites**0.5
    noise = np.random.default_rng(seed).standard_normal((draws, len(mean)))
    return SimulatedSummary(mean + sigma * noise, sigma)
