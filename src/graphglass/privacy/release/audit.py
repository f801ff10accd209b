"""The best attack on the mechanism, to see whether it keeps its promise on this machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import beta

from graphglass.errors import ParameterError
from graphglass.privacy.noise_scale import check_epsilon_delta, noise_multiplier
from graphglass.privacy.release.mechanism import GRID_BITS, Mechanism, Sampler, discrete_gaussian, to_grid

_THRESHOLDS = 5
_SHORTAGE = 0.1  # an audit should find noise that is this much too small
_POWER = 0.99
_MOST_DRAWS = 500_000


@dataclass(frozen=True)
class Audit:
    """Result of an audit.

    Attributes
    ----------
    mu_claimed : float
        What the mechanism promises.
    mu_lower : float
        What the attack proves at the given confidence; larger than claimed means the promise is broken.
    draws : int
        Releases per neighbour.
    draws_needed : int
        Releases per neighbour that find noise 10 per cent short in 99 of 100 audits.
    confidence : float
        Chance that an audit of correct noise passes.
    """

    mu_claimed: float
    mu_lower: float
    draws: int
    draws_needed: int
    confidence: float

    @property
    def passed(self) -> bool:
        return self.mu_lower <= self.mu_claimed


def audit(
    *,
    epsilon: float = 4.0,
    delta: float = 1e-5,
    draws: int | None = None,
    confidence: float = 0.999,
    sampler: Sampler = discrete_gaussian,
) -> Audit:
    """Tell the two worst neighbours apart from many releases, and bound mu from below by the errors made.

    The neighbours are eight references of which one points along the first axis, or against it. A mu-GDP
    release allows no test with false alarms a and misses b to beat ``ndtri(1 - a) - ndtri(b) <= mu``; exact
    binomial bounds on a and b, shared over the thresholds tried, give a lower bound on mu. Epsilon bounds
    from the same draws would miss noise that is short by 40 per cent.

    Parameters
    ----------
    epsilon, delta : float
        The promise under test.
    draws : int, optional
        Releases per neighbour; by default as many as find noise 10 per cent short, up to 500,000.
    confidence : float
        Chance that an audit of correct noise passes.
    sampler : callable
        The noise under test.
    """
    check_epsilon_delta("audit", epsilon, delta)
    if (draws is not None and draws < 1000) or not 0.5 < confidence < 1.0:
        raise ParameterError(
            "audit", "draws and confidence", "at least 1000, and between 0.5 and 1", (draws, confidence)
        )
    needed = _draws_needed(1.0 / noise_multiplier(epsilon, delta), confidence)
    draws = min(needed, _MOST_DRAWS) if draws is None else draws
    mechanism = Mechanism(epsilon, delta, dimension=draws)
    present = _statistic(mechanism, 1.0, draws, sampler)
    absent = _statistic(mechanism, -1.0, draws, sampler)
    mu = float(mechanism.mu_squared) ** 0.5
    # The test centred between the neighbours is the best one; the others guard against skewed noise.
    spread = 2.0**GRID_BITS
    miss_share = (1.0 - confidence) / (2 * _THRESHOLDS)
    bounds = []
    for threshold in spread * np.linspace(-1.0, 1.0, _THRESHOLDS):
        alarms = _upper(int((absent > threshold).sum()), draws, miss_share)
        misses = _upper(int((present <= threshold).sum()), draws, miss_share)
        bounds.append(float(ndtri(1.0 - alarms) - ndtri(misses)))
    return Audit(mu, max(bounds), draws, needed, confidence)


def _draws_needed(mu: float, confidence: float) -> int:
    """Both errors are near one half, where a share of n draws has standard error sqrt(pi / 2n) on the normal scale."""
    bounds = 2.0 * float(ndtri(1.0 - (1.0 - confidence) / (2 * _THRESHOLDS)))
    luck = 2.0**0.5 * float(ndtri(_POWER))
    releases: int = math.ceil(math.pi / 2.0 * ((bounds + luck) / (_SHORTAGE * mu)) ** 2)
    return releases


def _statistic(mechanism: Mechanism, sign: float, draws: int, sampler: Sampler) -> NDArray[np.int64]:
    """The released first coordinate of many releases of one collection, (draws,)."""
    row = np.zeros((8, 2))
    row[0, 0] = sign
    # Every coordinate carries independent noise of one scale, so the coordinates of one long draw are as many releases.
    return mechanism.noisy(np.full(draws, to_grid(row).sum(axis=0)[0]), sampler)


def _upper(count: int, total: int, share: float) -> float:
    """Clopper-Pearson upper bound on a probability."""
    return 1.0 if count == total else float(beta.ppf(1.0 - share, count + 1, total - count))
