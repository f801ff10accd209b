"""Channel weights estimated from the normal references alone, and the fixed rule they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.neighbours import mean_distance, nearest

_SMALLEST_PENALTY = 1e-12
GRAPH_SHARES = {"mol": 0.85, "protein": 0.50}  # others 0.40


def fixed_weights(slices: Sequence[int]) -> dict[str, float]:
    """w_s proportional to log D_s, graph and text halves equal: the ablation's rule."""
    logs = np.log(np.asarray(slices, dtype=np.float64))
    shares = logs / logs.sum()
    pairs = zip(slices, shares, strict=True)
    return {f"{view}:{size}": share / 2 for size, share in pairs for view in ("graph", "text")}


def domain_weights(slices: Sequence[int], domain: str) -> dict[str, float]:
    """The fixed rule with a graph share that the authors set by hand for molecules, proteins and everything else."""
    share = GRAPH_SHARES.get(domain, 0.40)
    halves = {"graph": 2 * share, "text": 2 * (1 - share)}
    return {name: halves[name.partition(":")[0]] * weight for name, weight in fixed_weights(slices).items()}


def reliability_weights(codes: Mapping[str, NDArray[np.float32]], slices: Sequence[int], k: int) -> dict[str, float]:
    """Slice and modality weights from compactness and cross-view agreement (eq:rel_score, eq:reliability_weights).

    Parameters
    ----------
    codes : mapping
        ``graph:D`` and ``text:D`` unit rows of the references, for every D in ``slices``.

    Returns
    -------
    mapping channel -> weight
        ``w_s * alpha_s`` for graph channels and ``w_s * (1 - alpha_s)`` for text channels; they sum to one.
    """
    logs = np.log(np.asarray(slices, dtype=np.float64))
    reliability = np.empty((len(slices), 2))
    for row, size in enumerate(slices):
        views = (codes[f"graph:{size}"], codes[f"text:{size}"])
        residual = 1 - np.einsum("nd,nd->n", *views, dtype=np.float64)  # eq:align_resid
        for column in (0, 1):
            penalty = _penalty(views[column], views[1 - column], residual, k)
            reliability[row, column] = logs[row] / max(penalty, _SMALLEST_PENALTY)
    reliability = np.clip(reliability, *np.percentile(reliability, (10, 90)))
    shares = reliability.sum(axis=1) * logs
    shares /= shares.sum()
    weights = shares[:, None] * reliability / reliability.sum(axis=1, keepdims=True)
    return {
        f"{view}:{size}": float(weights[row, column])
        for row, size in enumerate(slices)
        for column, view in enumerate(("graph", "text"))
    }


def _penalty(own: NDArray[np.float32], other: NDArray[np.float32], residual: NDArray[np.float64], k: int) -> float:
    """pi_{m,s}: leave-one-out compactness, cross-view neighbourhood consistency and alignment residual."""
    similarities, neighbours = nearest(own, own, k, exclude_self=True)
    compactness = mean_distance(similarities)  # eq:loo_score
    if neighbours.shape[1]:
        agreement = np.einsum("nd,nkd->nk", other, other[neighbours], dtype=np.float64).mean(axis=1)
    else:
        agreement = np.ones(len(own))
    inconsistency = 1 - agreement  # eq:cross_view_agree
    low, high = np.percentile(compactness, (25, 75))
    return float(
        compactness.mean()
        + 0.5 * (compactness.std() + 0.5 * (high - low))
        + (inconsistency.mean() + 0.5 * inconsistency.std())
        + 0.5 * (residual.mean() + 0.25 * residual.std())
    )
