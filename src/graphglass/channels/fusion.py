"""Many channels, one score: each distance is centred and scaled by its leave-one-out distribution, then combined."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Between a weighted mean (0) and the maximum (infinity): one extreme channel raises the score even when the others are
# normal, and several mild deviations still add up.
SHARPNESS = 0.7
# Times the mean distance, over the number of references: inflates the deviation of small sets.
UNKNOWN = 2.4
ROUNDING = 1e-7  # distances between equal codes in single precision

Distances = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Fusion:
    """How the distances of a graph become one score; z_c = (distance_c - centre_c) / scale_c.

    With a sharpness p the score is ``log(sum_c weight_c exp(p arsinh z_c)) / p``: 0 for a graph that lies as far from
    the references in every channel as they lie from each other. Without one it is ``sum_c weight_c z_c``, the paper's
    weighted distances (eq:fixedscore).
    """

    weights: Mapping[str, float]  # by channel; with a sharpness they sum to 1
    centres: Mapping[str, float]  # by channel
    scales: Mapping[str, float]  # by channel
    sharpness: float | None = None

    @classmethod
    def weighted(cls, weights: Mapping[str, float]) -> Fusion:
        """Plain weighted distances, as in eq:fixedscore."""
        return cls(dict(weights), dict.fromkeys(weights, 0.0), dict.fromkeys(weights, 1.0))

    def scores(self, distances: Distances) -> NDArray[np.float64]:
        """The score of every graph."""
        return self.combine(self.calibrated(distances))

    def contributions(self, distances: Distances) -> dict[str, NDArray[np.float64]]:
        """What each channel adds to the score; they sum to it, and a channel at its centre adds nothing.

        With a sharpness the score is a concave function of a sum; every channel gets its share of that sum.
        """
        return self.split(self.calibrated(distances))

    def calibrated(self, distances: Distances) -> dict[str, NDArray[np.float64]]:
        """z_c, with a sharpness arsinh z_c."""
        units = {name: (distances[name] - self.centres[name]) / self.scales[name] for name in self.centres}
        return units if self.sharpness is None else {name: np.arcsinh(z) for name, z in units.items()}

    def combine(self, calibrated: Distances) -> NDArray[np.float64]:
        """From calibrated distances to scores."""
        total = self._total(self._summands(calibrated))
        return total if self.sharpness is None else np.log1p(total) / self.sharpness

    def split(self, calibrated: Distances) -> dict[str, NDArray[np.float64]]:
        """From calibrated distances to contributions."""
        summands = self._summands(calibrated)
        if self.sharpness is None:
            return summands
        total = self._total(summands)
        slope = np.ones_like(total)  # log(1 + x) / x, 1 at 0
        np.divide(np.log1p(total), total, out=slope, where=np.abs(total) > 1e-12)
        return {name: value * slope / self.sharpness for name, value in summands.items()}

    def _summands(self, calibrated: Distances) -> dict[str, NDArray[np.float64]]:
        if self.sharpness is None:
            return {name: weight * calibrated[name] for name, weight in self.weights.items()}
        return {name: weight * np.expm1(self.sharpness * calibrated[name]) for name, weight in self.weights.items()}

    @staticmethod
    def _total(summands: Distances) -> NDArray[np.float64]:
        # In a fixed order, one by one, so a graph has the same bits alone and among others: `np.sum` over a list
        # adds in another order where there is one graph than where there are many.
        first, *others = sorted(summands)
        total = summands[first].copy()
        for name in others:
            total += summands[name]
        return total

    def to_json(self) -> dict[str, Any]:
        return {
            "weights": dict(self.weights), "centres": dict(self.centres), "scales": dict(self.scales),
            "sharpness": self.sharpness,
        }  # fmt: skip

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Fusion:
        weights, centres, scales = (
            {str(name): _finite(number) for name, number in value[part].items()}
            for part in ("weights", "centres", "scales")
        )
        if not weights or not weights.keys() == centres.keys() == scales.keys() or min(scales.values()) <= 0:
            raise ValueError("the fusion must have a weight, a centre and a positive scale for every channel")
        return cls(weights, centres, scales, None if value["sharpness"] is None else _finite(value["sharpness"]))


def _finite(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError(f"the fusion must hold finite numbers, found {number!r}")
    return float(number)


def fit_fusion(left_out: Distances, weights: Mapping[str, float], sharpness: float | None = None) -> Fusion:
    """Calibrate every channel by the mean and deviation of its leave-one-out distances.

    Parameters
    ----------
    left_out : mapping channel -> (references,)
    weights : mapping channel -> float
    sharpness : float or None
        See :class:`Fusion`.
    """
    centres = {name: float(values.mean()) for name, values in left_out.items()}
    scales = {name: _deviation(values, careful=sharpness is not None) for name, values in left_out.items()}
    return Fusion(dict(weights), centres, scales, sharpness)


def _deviation(values: NDArray[np.float64], *, careful: bool) -> float:
    """The deviation of leave-one-out distances.

    A handful of references can be equally distant by chance, and their channel would then outvote all others. The
    careful estimate adds what is not known yet: a share of the mean distance that falls with the number of references.
    A channel that cannot distinguish the references (one reference, or all equal up to rounding) keeps its own unit.
    """
    unknown = UNKNOWN * float(values.mean()) / len(values) if careful else 0.0
    deviation = float(np.hypot(values.std(), unknown))
    return deviation if deviation > ROUNDING else 1.0
