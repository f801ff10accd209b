"""From a score to a p-value and a decision, using the leave-one-out scores of the references."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError


def conformal_p_values(scores: NDArray[np.float64], reference_scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """p = (1 + #{reference score >= s}) / (n + 1): the chance that a normal graph scores this high or higher."""
    ordered = np.sort(reference_scores)
    at_least = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return (1 + at_least) / (len(ordered) + 1)


def left_out_p_values(scores: NDArray[np.float64], reference_scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The p-values of references: each leave-one-out score among the n of all references, its own included."""
    ordered = np.sort(reference_scores)
    return np.maximum(len(ordered) - np.searchsorted(ordered, scores, side="left"), 1) / len(ordered)


def benjamini_hochberg(p_values: NDArray[np.float64], alpha: float) -> NDArray[np.bool_]:
    """Select graphs so that on average at most a share ``alpha`` of the selected are normal."""
    if not 0 < alpha < 1:
        raise ParameterError("benjamini_hochberg", "alpha", "between 0 and 1", alpha)
    order = np.argsort(p_values)
    adjusted = p_values[order] * (len(order) / np.arange(1, len(order) + 1))
    adjusted = np.minimum.accumulate(adjusted[::-1])[::-1]
    # Adjusted p-values are products and quotients of the plain ones; equality at alpha must survive their rounding.
    selected = np.zeros(len(order), bool)
    selected[order] = adjusted <= alpha * (1 + 1e-12)
    return selected
