"""The scoring rules of the paper's ablation, computed from one set of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.fusion import Fusion, fit_fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import ParameterError
from graphglass.glass.code_channel import CodeChannel, DensityChannel
from graphglass.glass.weights import fixed_weights, reliability_weights

# The paper gives no concentration for its finite-kappa rows; this one is fixed for every dataset.
CONCENTRATION = 16.0

CALIBRATIONS = ("leave-one-out", "raw")


def paper_fusion(
    left_out: Mapping[str, NDArray[np.float64]],
    codes: Mapping[str, NDArray[np.float32]],
    slices: Sequence[int],
    k: int,
    *,
    scorer: str = "reliability",
    calibration: str = "leave-one-out",
) -> Fusion:
    """The paper's score as a weighting of code channels (eq:fixedscore).

    Parameters
    ----------
    left_out : mapping channel -> (references,)
        Distance of every reference to the others.
    codes : mapping channel -> (references, dimension)
    scorer : {"reliability", "fixed"}
        Weights from the references (eq:reliability_weights), or the log D rule of the ablation.
    calibration : {"leave-one-out", "raw"}
        ``leave-one-out`` centres and scales every channel by the mean and deviation of ``left_out``: "these weights and
        score calibration are estimated from normal references only". ``raw`` weights the distances as they are; text
        distances are then too small beside graph distances to count.
    """
    weights = reliability_weights(codes, slices, k) if scorer == "reliability" else fixed_weights(slices)
    if calibration not in CALIBRATIONS:
        raise ParameterError("GLASS", "calibration", f"one of {', '.join(CALIBRATIONS)}", calibration)
    return fit_fusion(left_out, weights) if calibration == "leave-one-out" else Fusion.weighted(weights)


def paper_variants(
    queries: ProfiledGraphs, references: ProfiledGraphs, slices: Sequence[int], k: int
) -> dict[str, NDArray[np.float64]]:
    """Scores under each rule of tab:scoring.

    ``graph`` and ``text`` use one side, ``fusion`` both with fixed weights on raw distances, ``vmf`` the density of
    the graph side, ``sms`` the calibrated densities of both, ``fixed`` the log D rule and ``glass`` the reliability
    weights, both calibrated, and ``glass raw`` the reliability weights on raw distances.
    """
    fixed = fixed_weights(slices)
    angular = [CodeChannel(name, k) for name in fixed]
    density = [DensityChannel(name, CONCENTRATION) for name in fixed]
    distances, left_out = _measure(angular, queries, references)
    densities, density_left_out = _measure(density, queries, references)

    def side(name: str) -> dict[str, float]:
        return {channel: 2 * weight for channel, weight in fixed.items() if channel.startswith(name)}

    def paper(scorer: str, calibration: str) -> Fusion:
        return paper_fusion(left_out, references.codes, slices, k, scorer=scorer, calibration=calibration)

    return {
        "graph": Fusion.weighted(side("graph")).scores(distances),
        "text": Fusion.weighted(side("text")).scores(distances),
        "fusion": paper("fixed", "raw").scores(distances),
        "vmf": Fusion.weighted(side("graph")).scores(densities),
        "sms": fit_fusion(density_left_out, fixed).scores(densities),
        "fixed": paper("fixed", "leave-one-out").scores(distances),
        "glass": paper("reliability", "leave-one-out").scores(distances),
        "glass raw": paper("reliability", "raw").scores(distances),
    }


def _measure(
    channels: Sequence[CodeChannel], queries: ProfiledGraphs, references: ProfiledGraphs
) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
    distances, left_out = {}, {}
    for channel in channels:
        channel.fit(references)
        distances[channel.name] = channel.distances(channel.encode(queries))
        left_out[channel.name] = channel.left_out
    return distances, left_out
