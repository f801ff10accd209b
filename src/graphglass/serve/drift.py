"""Drift of a stream of scores: a conformal test martingale with an exact bound on false alarms."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError

# Bets on small p-values (scores that rise) and, mirrored, on large ones (scores that fall); and no bet.
_POWERS = (0.3, 0.6)
# Jump rates: low rates detect persistent changes, high rates late ones.
_JUMPS = (1e-4, 1e-3, 1e-2)
_SMALLEST = 1e-12


@dataclass(frozen=True)
class Alarm:
    """Scores since the last start: how many there were, and before how many of them the change probably began."""

    seen: int
    began: int


class DriftMartingale:
    """Bets against the claim that scores arrive in no particular order; wealth grows when the claim is false.

    Every score gets the conformal p-value of its rank among all scores before it, ties broken at random. If the scores
    are exchangeable, these p-values are independent and uniform, whatever the law of the scores, and the wealth is a
    martingale that starts at 1. By Ville's inequality it then ever reaches ``threshold`` with probability at most
    ``1 / threshold``. The bets are power functions of the p-value and of its mirror image, between which wealth jumps
    at several rates, so changes late in a long stream are found too.

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
    began : int
        Where a change since the last start probably began: scores before the wealth was at its lowest.
    alarms : int
    """

    def __init__(self, threshold: float = 100.0, *, past: Iterable[float] = (), seed: int = 0) -> None:
        if not threshold > 1:
            raise ParameterError("DriftMartingale", "threshold", "above 1", threshold)
        self.threshold = threshold
        self.seen = self.began = self.alarms = 0
        self._log_wealths: NDArray[np.float64]  # (jump rates, bets)
        self._lowest: float
        self._random = np.random.default_rng(seed)
        self._start(sorted(map(float, past)))

    @property
    def log_wealth(self) -> float:
        """Natural logarithm of the wealth, the evidence against exchangeability."""
        return float(np.logaddexp.reduce(self._log_wealths, axis=None))

    @property
    def wealth(self) -> float:
        return float(np.exp(min(self.log_wealth, 700.0)))

    def take(self, score: float) -> Alarm | None:
        """Take the next score; what is known about the change if it raises an alarm, and the test starts again."""
        self.bet(self._p_value(float(score)))
        if self.log_wealth < np.log(self.threshold):
            return None
        alarm = Alarm(self.seen, self.began)
        self.alarms += 1
        self._start([])
        return alarm

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
        if self.log_wealth < self._lowest:
            self._lowest, self.began = self.log_wealth, self.seen

    def _p_value(self, score: float) -> float:
        below, upto = bisect_left(self._scores, score), bisect_right(self._scores, score)
        above, ties = len(self._scores) - upto, upto - below
        insort(self._scores, score)
        return float((above + self._random.uniform() * (ties + 1)) / len(self._scores))

    def _start(self, past: list[float]) -> None:
        bets = 1 + 2 * len(_POWERS)
        self._scores = past
        self._log_wealths = np.full((len(_JUMPS), bets), -np.log(len(_JUMPS) * bets))
        self.seen = self.began = 0
        self._lowest = 0.0


def drift_curve(scores: Sequence[float]) -> tuple[list[float], list[tuple[int, int]]]:
    """The evidence after every score as a power of ten, and (place of an alarm, place where the change began)."""
    martingale = DriftMartingale()
    evidence, alarms, start = [], [], 0
    for place, score in enumerate(scores):
        alarm = martingale.take(score)
        evidence.append((np.log(martingale.threshold) if alarm else martingale.log_wealth) / np.log(10.0))
        if alarm:
            alarms.append((place, start + alarm.began))
            start = place + 1
    return evidence, alarms


def changed_families(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """Which families of channels changed, in words: those with most of the change of the mean score, largest first."""
    total = sum(after.values()) - sum(before.values())
    rose = total > 0
    changes = {name: (value - before.get(name, 0.0)) * (1 if rose else -1) for name, value in after.items()}
    along = sum(change for change in changes.values() if change > 0)
    largest = sorted((name for name in changes if changes[name] >= 0.1 * along > 0), key=lambda name: -changes[name])
    shares = ", ".join(f"{name} {100 * changes[name] / along:.0f}%" for name in largest[:3])
    return f"scores {'rose' if rose else 'fell'} by {abs(total):.3g} on average; of the change: {shares}"
