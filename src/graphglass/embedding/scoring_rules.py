"""The scoring rules of the paper's ablation, computed from one set of codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.codes import DensityChannel, SphereChannel
from graphglass.channels.fusion import Fusion, fit_fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.reliability import fixed_weights, reliability_weights

# The paper gives no concentration for its finite-kappa rows; this one is fixed for every dataset.
CONCENTRATION = 16.0


def paper_variants(
    queries: ProfiledGraphs, references: ProfiledGraphs, slices: Sequence[int], k: int
) -> dict[str, NDArray[np.float64]]:
    """Scores under each rule of tab:scoring.

    ``graph`` and ``text`` use one view, ``fusion`` both with equal weights, ``vmf`` the density of the graph view,
    ``sms`` the calibrated densities of both views, ``fixed`` the log D rule with leave-one-out calibration and
    ``glass`` the reliability weights (eq:fixedscore).
    """
    fixed = fixed_weights(slices)
    angular = [SphereChannel(name, k) for name in fixed]
    density = [DensityChannel(name, CONCENTRATION) for name in fixed]
    distances, left_out = _measure(angular, queries, references)
    densities, density_left_out = _measure(density, queries, references)

    def total(fusion: Fusion, values: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.sum(list(fusion.contributions(values).values()), axis=0)

    def view(name: str) -> dict[str, float]:
        return {channel: 2 * weight for channel, weight in fixed.items() if channel.startswith(name)}

    return {
        "graph": total(Fusion.weighted(view("graph")), distances),
        "text": total(Fusion.weighted(view("text")), distances),
        "fusion": total(Fusion.weighted(fixed), distances),
        "vmf": total(Fusion.weighted(view("graph")), densities),
        "sms": total(fit_fusion(density_left_out, weights=fixed), densities),
        "fixed": total(fit_fusion(left_out, weights=fixed), distances),
        "glass": total(Fusion.weighted(reliability_weights(references.codes, slices, k)), distances),
    }


def _measure(
    channels: Sequence[SphereChannel], queries: ProfiledGraphs, references: ProfiledGraphs
) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
    distances, left_out = {}, {}
    for channel in channels:
        channel.fit(references)
        distances[channel.name] = channel.distances(queries)[0]
        left_out[channel.name] = channel.leave_one_out()
    return distances, left_out
