"""Which graphs of an endless stream to flag: online control of the false discovery rate by SAFFRON."""

from __future__ import annotations

import numpy as np

from graphglass.errors import ParameterError

_CANDIDATE = 0.5  # the paper's lambda: a p-value above it is no candidate for a discovery
_DECAY = 1.6
_TOTAL = 2.2857656656801293  # the sum of j ** -1.6 over j = 1, 2, ..., which makes the weights gamma_j sum to 1


class OnlineFDR:
    """SAFFRON (Ramdas, Zrnic, Wainwright and Jordan, ICML 2018), with its constants lambda = 1/2 and W0 = alpha/2.

    Every p-value is compared with a level that depends on the p-values before it. Levels fall with every p-value that
    is no candidate and rise with every discovery. If the p-values of normal graphs are independent of all others and
    uniform or larger, the expected share of normal graphs among those flagged is at most ``alpha`` at any time.

    Parameters
    ----------
    alpha : float, default=0.05
        Bound of the false discovery rate.

    Attributes
    ----------
    seen, discoveries : int
    level : float
        The level of the next p-value.
    spent : float
        Sum of the levels of all p-values above lambda, divided by 1 - lambda: an estimate of the false discoveries,
        which never exceeds ``alpha * max(discoveries, 1)``.
    """

    def __init__(self, alpha: float = 0.05) -> None:
        if not 0 < alpha < 1:
            raise ParameterError("OnlineFDR", "alpha", "between 0 and 1", alpha)
        self.alpha = alpha
        self.seen = self.discoveries = 0
        self.spent = 0.0
        self._passed = 0  # p-values that were no candidates
        self._starts = np.zeros(1)  # how many had passed at the start and at every discovery ...
        self._wealths = np.array([alpha / 2])  # ... and what each of these times has to spend from then on

    @property
    def level(self) -> float:
        weights = (self._passed - self._starts + 1) ** -_DECAY / _TOTAL
        return min(_CANDIDATE, (1 - _CANDIDATE) * float(self._wealths @ weights))

    def take(self, p_value: float) -> bool:
        """Whether the next p-value is a discovery."""
        level, found = self.level, False
        self.seen += 1
        if p_value <= level:
            found = True
            self._starts = np.append(self._starts, self._passed)
            self._wealths = np.append(self._wealths, self.alpha / (1 if self.discoveries else 2))
            self.discoveries += 1
        elif p_value > _CANDIDATE:
            self._passed += 1
            self.spent += level / (1 - _CANDIDATE)
        return found
