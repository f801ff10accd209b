"""Pictures of a detector's answers, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphglass.channels.calibration import conformal_p_values
from graphglass.errors import MissingExtraError

if TYPE_CHECKING:
    from graphglass.detector.explanation import Explanation
    from graphglass.detector.glass import GLASS

# Colour-blind safe (Okabe and Ito).
NORMAL, QUERY, FLAGGED, KNOWN = "#999999", "#0072B2", "#D55E00", "#000000"


def plot_scores(detector: GLASS, graphs: Any, *, alpha: float = 0.05, ax: Any = None) -> Any:
    """Histogram of the references' leave-one-out scores and of the scores of some graphs; returns the axes."""
    axes = _axes(ax)
    normal, scores = detector.decision_scores_, detector.decision_function(graphs)
    bins = np.histogram_bin_edges(np.concatenate([normal, scores]), 30)
    for values, colour, name in ((normal, NORMAL, "normal references"), (scores, QUERY, "graphs")):
        shares = np.full(len(values), 1 / len(values))
        axes.hist(values, bins, weights=shares, color=colour, alpha=0.6, label=name)
    flagged = scores[conformal_p_values(scores, normal) <= alpha]
    if len(flagged):
        axes.axvline(flagged.min(), color=FLAGGED, linestyle="--", label=f"flagged from here (p ≤ {alpha:g})")
    axes.set(xlabel="score (higher is more abnormal)", ylabel="share")
    _legend(axes)
    return axes


def plot_map(detector: GLASS, graphs: Any, *, alpha: float = 0.05, ax: Any = None) -> Any:
    """References, graphs and known anomalies on a plane whose distances follow the score; returns the axes."""
    axes = _axes(ax)
    references, places = detector.map_positions(graphs)
    flagged = detector.p_values(graphs) <= alpha
    axes.scatter(*references.T, s=12, color=NORMAL, label="normal references")
    axes.scatter(*places[~flagged].T, s=22, color=QUERY, label="graphs")
    axes.scatter(*places[flagged].T, s=30, color=FLAGGED, label=f"flagged (p ≤ {alpha:g})")
    if detector.anomalies_ is not None:
        known = detector.map_positions(detector.anomalies_.graphs)[1]
        axes.scatter(*known.T, s=45, color=KNOWN, marker="^", label="known anomalies")
    axes.set_aspect("equal", "datalim")
    axes.set(xticks=[], yticks=[])
    _legend(axes)
    return axes


def plot_explanation(explanation: Explanation, *, ax: Any = None) -> Any:
    """Bars of the families' shares of the score, with the strongest reason as the title; returns the axes."""
    axes = _axes(ax)
    shares = {name: share for name, share in explanation.shares.items() if share >= 0.5}
    axes.barh(list(shares)[::-1], list(shares.values())[::-1], color=QUERY)
    axes.set(xlabel="percent of what raises the score")
    title = f"{explanation.id}: score {explanation.score:.3f}, p-value {explanation.p_value:.4f}"
    reason = explanation.reasons[0] if explanation.reasons else "No measured property is outside its usual range."
    axes.set_title(f"{title}\n{reason}", loc="left", fontsize=9, wrap=True)
    return axes


def _legend(axes: Any) -> None:
    """Below the picture, where it hides no point."""
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, fontsize=9)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError("A plot", "plots") from error
    return pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")[1]
