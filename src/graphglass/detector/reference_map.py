"""A map of the references and queries: positions on a plane whose distances follow the fused distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.scorer import ReferenceScorer
from graphglass.drawing.layout import classical_scaling, stress_step

LANDMARKS = 200  # references that span the map; all others are placed by their distances to these
ROUNDS = 100
USUAL = 0.95  # share of the references whose score is below that of a graph outside
CENTRAL = 0.95  # share of those references within the radius that such a graph is moved past


@dataclass(frozen=True, eq=False)
class ReferenceMap:
    """Metric scaling of the references' fused distances (stress majorisation from a classical start).

    Queries are placed one by one, so a position never depends on the other queries. A graph that is equally far
    from all references would come to lie in their middle; whatever scores higher than 95% of the references is
    therefore moved outward, past the central 90% of them, the farther the higher its score.
    """

    references: NDArray[np.float64]  # (references, 2)
    landmarks: NDArray[np.int64]  # (landmarks,): places of the references that span the map
    frame: NDArray[np.float64]  # (landmarks, 2): where those are fixed while all graphs, references too, are placed
    centre: NDArray[np.float64]  # (2,): the middle of the references
    radius: float  # distance from it that nearly all references with a usual score lie within
    usual: float  # the score that 95% of the references lie below

    @classmethod
    def fit(cls, scorer: ReferenceScorer, references: ProfiledGraphs) -> ReferenceMap:
        count = len(references)
        landmarks = np.unique(np.linspace(0, count - 1, min(count, LANDMARKS)).astype(np.int64))
        places = scorer.reference_places[landmarks]
        distances = scorer.fused_distances(references, places)  # (references, landmarks)
        between = (distances[landmarks] + distances[landmarks].T) / 2
        np.fill_diagonal(between, 0)
        frame, weights = classical_scaling(between), np.ones_like(between)
        for _ in range(ROUNDS):
            frame = stress_step(frame, between, weights)
        points, usual = _place(frame, distances), float(np.quantile(scorer.reference_scores, USUAL))
        centre = np.median(points, axis=0)
        radius = float(np.quantile(np.hypot(*(points[scorer.reference_scores <= usual] - centre).T), CENTRAL))
        moved = centre + _outward(points - centre, scorer.reference_scores - usual, radius)
        return cls(moved, places, frame, centre, radius, usual)

    def place(
        self, scorer: ReferenceScorer, queries: ProfiledGraphs, scores: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Positions of graphs with these scores, (graphs, 2)."""
        points = _place(self.frame, scorer.fused_distances(queries, self.landmarks))
        return self.centre + _outward(points - self.centre, scores - self.usual, self.radius)


def _place(landmarks: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points with the given distances to fixed landmarks, each by itself, (points, 2)."""
    nearest = distances.argmin(axis=1)
    # Start outward of the nearest landmark, at the distance asked for.
    outward = landmarks[nearest] - landmarks.mean(axis=0)
    outward = np.where(np.abs(outward).sum(axis=1, keepdims=True) > 1e-12, outward, [1.0, 0.0])
    outward /= np.sqrt((outward**2).sum(axis=1, keepdims=True))
    points = landmarks[nearest] + outward * distances.min(axis=1)[:, None]
    for _ in range(ROUNDS):
        step = points[:, None] - landmarks[None]
        length = np.sqrt((step**2).sum(axis=2))
        wanted = landmarks + distances[:, :, None] * step / np.maximum(length, 1e-12)[:, :, None]
        points = wanted.mean(axis=1)
    return np.asarray(points)


def _outward(points: NDArray[np.float64], excess: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Move points with an excess score away from the origin: past the radius, by as much as the excess."""
    length = np.hypot(*points.T)
    away = np.where(length[:, None] > 1e-12, points / np.maximum(length, 1e-12)[:, None], [1.0, 0.0])
    wanted = np.where(excess > 0, np.maximum(length, radius + excess), length)
    return away * wanted[:, None]
