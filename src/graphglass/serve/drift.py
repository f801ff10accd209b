"""Drift of a stream of scores: a conformal test martingale with an exact bound on false alarms."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError

# Bets on small p-values (scores that rise) and, mirrored, on large ones (scores that fall); and no bet.
_POWERS = (0.3, 0.6)
# How readily wealth moves between bets: slowly pays off for lasting changes, fast for late ones.
_JUMPS = (1e-4, 1e-3, 1e-2)
_SMALLEST = 1e-12


class DriftMartingale:
    """Bets against the claim that scores arrive in no particular order; wealth grows when the claim is false.

    Every score gets the conformal p-value of its rank among all scores before it, ties broken at random. If the scores
    are exchangeable, these p-values are independent and uniform, whatever the law of the scores, and the wealth is a
    martingale that starts at 1. By Ville's inequality it then ever reaches ``threshold`` with probability at most
    ``1 / threshold``. The bets are power functions of the p-value and of its mirror image, between which wealth jumps
    at several rates, so that changes late in a long stream are found too.

    After an alarm the test starts again with the scores that follow.

    Parameters
    ----------
    threshold : float, default=100
        Wealth at which an alarm is raised; false alarms have probability at most ``1 / threshold`` per start.
    past : iterable of float
        Scores that count as seen before the stream, such as those of the references. The bound then also presumes
        that these are exchangeable with the stream's.
    seed : int, default=0
        Of the random breaking of ties.

    Attributes
    ----------
    seen : int
        Scores since the last start.
    alarms : int
    """

    def __init__(self, threshold: float = 100.0, *, past: Iterable[float] = (), seed: int = 0) -> None:
        if not threshold > 1:
            raise ParameterError("DriftMartingale", "threshold", "above 1", threshold)
        self.threshold = threshold
        self.seen = self.alarms = 0
        self._log_wealths: NDArray[np.float64]  # (jump rates, bets)
        self._random = np.random.default_rng(seed)
        self._start(sorted(map(float, past)))

    @property
    def log_wealth(self) -> float:
        """Natural logarithm of the wealth, the evidence against exchangeability."""
        return float(np.logaddexp.reduce(self._log_wealths, axis=None))

    @property
    def wealth(self) -> float:
        return float(np.exp(min(self.log_wealth, 700.0)))

    def update(self, score: float) -> bool:
        """Take the next score; True if it raises an alarm, after which the test starts again."""
        self.bet(self._p_value(float(score)))
        if self.log_wealth < np.log(self.threshold):
            return False
        self.alarms += 1
        self._start([])
        return True

    def bet(self, p_value: float) -> None:
        """Let the wealth grow or shrink by one p-value that is uniform under the claim."""
        p = min(max(p_value, _SMALLEST), 1 - _SMALLEST)
        gains = [0.0]
        for power in _POWERS:
            gains += [np.log(power) + (power - 1) * np.log(p), np.log(power) + (power - 1) * np.log1p(-p)]
        totals = np.logaddexp.reduce(self._log_wealths, axis=1)[:, None]
        stay = self._log_wealths + np.log1p(-np.array(_JUMPS))[:, None]
        move = totals + np.log(np.array(_JUMPS) / len(gains))[:, None]
        self._log_wealths = np.logaddexp(stay, move) + np.array(gains)
        self.seen += 1

    def _p_value(self, score: float) -> float:
        below, upto = bisect_left(self._scores, score), bisect_right(self._scores, score)
        above, ties = len(self._scores) - upto, upto - below
        insort(self._scores, score)
        return float((above + self._random.uniform() * (ties + 1)) / len(self._scores))

    def _start(self, past: list[float]) -> None:
        bets = 1 + 2 * len(_POWERS)
        self._scores = past
        self._log_wealths = np.full((len(_JUMPS), bets), -np.log(len(_JUMPS) * bets))
        self.seen = 0
