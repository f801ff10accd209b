"""The paper's scoring rules, computed from one set of codes: channel weights and how distances are calibrated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.fusion import Fusion, fit_fusion
from graphglass.channels.neighbours import mean_distance, nearest
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import ParameterError
from graphglass.glass.code_channel import CodeChannel, DensityChannel

# The paper gives no concentration for its finite-kappa rows; this one is fixed for every dataset.
CONCENTRATION = 16.0

SCORERS = ("reliability", "fixed", "domain", "graph", "text", "fusion", "vmf", "sms")
CALIBRATIONS = ("leave-one-out", "raw")
_DENSITIES = ("vmf", "sms")
_ONE_SIDE = {"graph": "graph", "text": "text", "vmf": "graph"}
_ALWAYS_RAW = ("graph", "text", "fusion", "vmf")
_SMALLEST_PENALTY = 1e-12
GRAPH_SHARES = {"mol": 0.85, "protein": 0.50}  # others 0.40


def paper_channels(slices: Sequence[int], k: int, scorer: str = "reliability") -> list[CodeChannel]:
    """The channels that a rule compares: distances of graph and text codes per slice, or their densities."""
    names = [f"{view}:{size}" for size in slices for view in ("graph", "text")]
    if scorer in _DENSITIES:
        return [DensityChannel(name, CONCENTRATION) for name in names]
    return [CodeChannel(name, k) for name in names]


def paper_fusion(
    left_out: Mapping[str, NDArray[np.float64]],
    codes: Mapping[str, NDArray[np.float32]],
    slices: Sequence[int],
    k: int,
    *,
    scorer: str = "reliability",
    calibration: str = "leave-one-out",
    domain: str = "graph",
) -> Fusion:
    """The paper's score as a weighting of :func:`paper_channels` (eq:fixedscore).

    Parameters
    ----------
    left_out : mapping channel -> (references,)
        Distance of every reference to the others.
    codes : mapping channel -> (references, dimension)
    scorer : str
        ``reliability`` takes weights from the references (eq:reliability_weights), ``fixed`` the log D rule of the
        ablation, and ``domain`` that rule with a graph share set by hand (0.85 for ``mol``, 0.50 for ``protein``, 0.40
        otherwise). The others are rows of tab:scoring: ``graph`` and ``text`` use one side, ``fusion`` both with fixed
        weights on raw distances, ``vmf`` the density of the graph side, ``sms`` the densities of both.
    calibration : {"leave-one-out", "raw"}
        ``leave-one-out`` centres and scales every channel by the mean and deviation of ``left_out``: "these weights and
        score calibration are estimated from normal references only". ``raw`` weights the distances as they are; text
        distances are then too small next to graph distances to count. ``graph``, ``text``, ``fusion`` and ``vmf`` are
        always raw.
    domain : str
        The domain of the references, for ``domain``.
    """
    if scorer not in SCORERS:
        raise ParameterError("GLASS", "scorer", f"one of {', '.join(SCORERS)}", scorer)
    if calibration not in CALIBRATIONS:
        raise ParameterError("GLASS", "calibration", f"one of {', '.join(CALIBRATIONS)}", calibration)
    if scorer == "reliability":
        weights = reliability_weights(codes, slices, k)
    elif scorer == "domain":
        weights = domain_weights(slices, domain)
    else:
        weights = fixed_weights(slices)
    if side := _ONE_SIDE.get(scorer):
        weights = {name: 2 * weight for name, weight in weights.items() if name.startswith(side)}
    raw = calibration == "raw" or scorer in _ALWAYS_RAW
    return Fusion.weighted(weights) if raw else fit_fusion(left_out, weights)


def paper_variants(
    queries: ProfiledGraphs, references: ProfiledGraphs, slices: Sequence[int], k: int, domain: str = "graph"
) -> dict[str, NDArray[np.float64]]:
    """Scores under each rule of tab:scoring; ``glass`` is ``reliability``, and ``glass raw`` without calibration."""
    measured = {rule: _measure(paper_channels(slices, k, rule), queries, references) for rule in ("reliability", "sms")}
    rules = {"glass" if name == "reliability" else name: (name, "leave-one-out") for name in SCORERS}
    scores = {}
    for title, (scorer, calibration) in (rules | {"glass raw": ("reliability", "raw")}).items():
        distances, left_out = measured["sms" if scorer in _DENSITIES else "reliability"]
        fusion = paper_fusion(
            left_out, references.codes, slices, k, scorer=scorer, calibration=calibration, domain=domain
        )
        scores[title] = fusion.scores(distances)
    return scores


def _measure(
    channels: Sequence[CodeChannel], queries: ProfiledGraphs, references: ProfiledGraphs
) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
    distances, left_out = {}, {}
    for channel in channels:
        channel.fit(references)
        distances[channel.name] = channel.distances(channel.encode(queries))
        left_out[channel.name] = channel.left_out
    return distances, left_out


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
