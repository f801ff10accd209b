"""How much Gaussian noise a privacy promise needs, and what promise an amount of noise keeps.

A Gaussian release is described by one number, mu = sensitivity / standard deviation (Gaussian differential
privacy). Releases compose as the sum of mu squared, exactly; (epsilon, delta) is a reading of mu.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from graphglass.errors import ParameterError

EPSILON_RANGE = (1e-3, 64.0)
DELTA_RANGE = (1e-100, 0.5)
# Noise is enlarged by this factor: more than every rounding error of the root finding, less than anyone can
# notice.
SAFETY = 1.0 + 1e-9
# Noise on kernel values, which lie between 0 and 1, above which a summary is mostly noise. Eight references at epsilon
# 4 are just above it, and rank little better than chance (docs/privacy.md).
LOUD = 0.25
# The share of every delta set aside for integer instead of continuous noise.
SLACK_SHARE = Fraction(1, 2**20)
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


def check_epsilon_delta(owner: str, epsilon: float, delta: float) -> None:
    """Refuse promises outside the range in which the calibration is verified."""
    for name, value, (low, high) in (("epsilon", epsilon, EPSILON_RANGE), ("delta", delta, DELTA_RANGE)):
        if not (isinstance(value, int | float) and low <= value <= high):
            raise ParameterError(owner, name, f"a number from {low:g} to {high:g}", value)


def gaussian_delta(delta: float) -> float:
    """The part of a promised delta left for the Gaussian law once the slack's share is set aside."""
    return delta * (1.0 - float(SLACK_SHARE))


def slack_factor(epsilon: float) -> Fraction:
    """1 + e^epsilon, rounded up: what one unit of total variation costs in delta."""
    return 1 + Fraction(math.exp(epsilon) * (1.0 + 1e-12))


def rounding_distance(dimension: int, scale: int) -> Fraction:
    """Bound on the total variation between integer noise and a rounded continuous Gaussian: P / (16 scale^2)."""
    return Fraction(dimension, 16 * scale**2)


def log_delta(epsilon: float, mu: float) -> float:
    r"""Logarithm of the smallest delta a mu-GDP release satisfies at epsilon (left side of
    eq:dp_gaussian_calibration).

    With :math:`x_\mp = \epsilon/\mu \mp \mu/2` the left side is :math:`\Phi(-x_-) - e^\epsilon\Phi(-x_+)`.
    Since :math:`\varphi(x_-) = e^\epsilon\varphi(x_+)`, it equals :math:`\varphi(x_-)[R(x_-) - R(x_+)]` with
    Mills' ratio R, which loses no digits however small delta is.
    """
    from scipy.special import erfcx, log_ndtr, ndtr  # not before the first call: a slow import

    low, high = epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0
    if low < -5.0:
        # Delta is close to one here; the subtraction is harmless and Mills' ratio would overflow.
        return math.log(float(ndtr(-low)) - math.exp(epsilon + float(log_ndtr(-high))))
    ratio = math.sqrt(math.pi / 2.0) * (float(erfcx(low / math.sqrt(2.0))) - float(erfcx(high / math.sqrt(2.0))))
    return -0.5 * low * low - _LOG_SQRT_2PI + math.log(ratio) if ratio > 0.0 else -math.inf


def noise_multiplier(epsilon: float, delta: float) -> float:
    """Standard deviation per unit of L2 sensitivity of an (epsilon, delta) release
    (eq:dp_gaussian_calibration).

    The smallest admissible value by bisection on the logarithm of delta, then enlarged by one part in 10^9,
    and checked.
    """
    check_epsilon_delta("noise_multiplier", epsilon, delta)
    target = math.log(delta)
    multiplier = _least(lambda value: log_delta(epsilon, 1.0 / value) > target, 1e-6) * SAFETY
    assert log_delta(epsilon, 1.0 / multiplier) <= target
    return multiplier


def gaussian_sigma(epsilon: float, delta: float, references: int, graphs_per_subject: int = 1) -> float:
    """Noise per coordinate of a mean of ``references`` unit features: sensitivity 2 g / n times the multiplier."""
    if references < 1 or graphs_per_subject < 1:
        raise ParameterError(
            "gaussian_sigma", "references and graphs_per_subject", "positive", (references, graphs_per_subject)
        )
    return 2.0 * graphs_per_subject / references * noise_multiplier(epsilon, delta)


def references_needed(sigma: float, epsilon: float, delta: float, graphs_per_subject: int = 1) -> int:
    """The fewest references whose release carries noise of at most ``sigma``."""
    return math.ceil(gaussian_sigma(epsilon, delta, 1, graphs_per_subject) / sigma)


def epsilon_of(mu: float, delta: float) -> float:
    """The epsilon that a release (or a composition) of this mu satisfies at delta, rounded up."""
    if not (math.isfinite(mu) and mu > 0.0 and 0.0 < delta < 1.0):
        raise ParameterError("epsilon_of", "mu and delta", "mu positive and delta between 0 and 1", (mu, delta))
    target = math.log(delta)
    if log_delta(0.0, mu) <= target:
        return 0.0
    return _least(lambda epsilon: log_delta(epsilon, mu) > target, 0.0) * SAFETY


def _least(too_small: Callable[[float], bool], low: float) -> float:
    """The least number above `low` that is not too small, by bisection; a value on the safe side of the root."""
    high = 1.0
    while too_small(high):
        low, high = high, 2.0 * high
    while high - low > 1e-14 * high:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return high
