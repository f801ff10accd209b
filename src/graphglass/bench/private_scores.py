"""What a private release is measured by: nearest neighbours, exact kernel densities, and simulated releases of them."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.bench.metrics import evaluate
from graphglass.privacy.joint_features import JointFeatures
from graphglass.privacy.release.simulate import SimulatedSummary, simulate
from graphglass.sphere.neighbours import mean_angle, nearest

Codes = Mapping[str, NDArray[Any]]
Distance = Callable[[NDArray[np.float64]], NDArray[np.float64]]
EPSILONS = (1.0, 2.0, 4.0, 8.0)
REFERENCES = 128  # of the main tables; fewer where a target has fewer
DRAWS = 10
DELTA = 1e-5
NEIGHBOURS = 5


def neighbour_scores(
    queries: Codes, references: Codes, channels: Iterable[str], distance: Distance = mean_angle
) -> NDArray[np.float64]:
    """Mean distance to the five nearest references, averaged over the channels, (queries,).

    ``mean_angle`` is the angular mean of the private tables, ``mean_distance`` the 1 - cos of eq:knn_distance.
    """
    nearby = [nearest(queries[name], references[name], NEIGHBOURS)[0] for name in channels]
    return np.mean([distance(similarities) for similarities in nearby], axis=0)


def density_scores(features: JointFeatures, queries: Codes, references: Codes) -> NDArray[np.float64]:
    """Minus the exact kernel density that the features of `features` approximate (eq:dp_sphere_kernel), (queries,)."""
    parts = []
    for name, _ in features.channels:
        left, right = (np.asarray(codes[name], np.float64) for codes in (queries, references))
        squares = np.maximum(
            (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2.0 * left @ right.T, 0.0
        )
        parts += [np.exp(-0.5 * kappa * squares).mean(axis=1) for kappa in features.kappas]
    return -np.mean(parts, axis=0)


@dataclass(frozen=True, eq=False)
class Features:
    """The joint features of one target under one kernel.

    Attributes
    ----------
    references : float64 (references, P)
        In their fixed order; smaller reference sets are prefixes.
    queries : float64 (queries, P)
    prior : float64 (P,)
        Mean feature of the public source graphs.
    """

    references: NDArray[np.float64]
    queries: NDArray[np.float64]
    prior: NDArray[np.float64]

    @classmethod
    def of(cls, features: JointFeatures, source: Codes, references: Codes, queries: Codes) -> Features:
        return cls(features(references), features(queries), features(source).mean(axis=0))

    def release(self, n: int, epsilon: float, place: str, *, sites: int = 1) -> SimulatedSummary:
        """Seeded draws over the first `n` references; `place` names the condition, so that none shares its noise."""
        seed = zlib.crc32(f"{place}|{n}|{epsilon:g}|{sites}".encode())
        draws = DRAWS if math.isfinite(epsilon) else 1
        return simulate(self.references[:n], epsilon=epsilon, seed=seed, delta=DELTA, draws=draws, sites=sites)


def averaged(scores: NDArray[np.float64], anomalous: NDArray[np.bool_]) -> dict[str, float]:
    """Metrics averaged over the draws, (draws, queries), and the deviation of the AUROC among them."""
    found: Sequence[dict[str, float]] = [evaluate(row, anomalous) for row in scores]
    means = {name: float(np.mean([metrics[name] for metrics in found])) for name in found[0]}
    if len(found) > 1:
        means["auroc_sd"] = float(np.std([metrics["auroc"] for metrics in found], ddof=1))
    return means
