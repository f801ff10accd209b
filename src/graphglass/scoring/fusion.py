"""Many channels, one score: each distance is centred and scaled by its leave-one-out law, then weighted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Times the mean distance, over the number of references: what the deviation of a small set may have missed.
UNKNOWN = 2.4


@dataclass(frozen=True)
class Fusion:
    """score = sum_c weight_c * z_c with z_c = (distance_c - centre_c) / scale_c; the summands are the contributions.

    With ``bounded`` a channel adds weight_c * arsinh(z_c): linear near the references, logarithmic far from them, so
    that one channel with a heavy tail cannot outvote the others.
    """

    weights: Mapping[str, float]
    centres: Mapping[str, float]
    scales: Mapping[str, float]
    bounded: bool = False

    @classmethod
    def weighted(cls, weights: Mapping[str, float]) -> Fusion:
        """Plain weighted distances, as in eq:fixedscore."""
        return cls(dict(weights), dict.fromkeys(weights, 0.0), dict.fromkeys(weights, 1.0))

    def contributions(self, distances: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        units = {name: (distances[name] - self.centres[name]) / self.scales[name] for name in self.weights}
        return {
            name: weight * (np.arcsinh(units[name]) if self.bounded else units[name])
            for name, weight in self.weights.items()
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "weights": dict(self.weights), "centres": dict(self.centres), "scales": dict(self.scales),
            "bounded": self.bounded,
        }  # fmt: skip

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Fusion:
        return cls(value["weights"], value["centres"], value["scales"], bool(value.get("bounded", False)))


def fit_fusion(
    left_out: Mapping[str, NDArray[np.float64]],
    *,
    weights: Mapping[str, float] | None = None,
    bounded: bool = False,
) -> Fusion:
    """Calibrate every channel by the mean and deviation of its leave-one-out distances.

    Parameters
    ----------
    left_out : mapping channel -> (references,)
    weights : mapping, optional
        Equal weights if absent.
    bounded : bool
        See :class:`Fusion`.
    """
    shares = weights or dict.fromkeys(left_out, 1 / len(left_out))
    centres = {name: float(values.mean()) for name, values in left_out.items()}
    # A channel that cannot tell the references apart (one reference, or all alike) keeps its own unit.
    scales = {name: _deviation(values, careful=bounded) or 1.0 for name, values in left_out.items()}
    return Fusion(dict(shares), centres, scales, bounded)


def _deviation(values: NDArray[np.float64], *, careful: bool) -> float:
    """The deviation of leave-one-out distances.

    A handful of references can lie equally far apart by chance, and their channel would then outvote all others. The
    careful estimate adds what is not known yet: a share of the mean distance that falls with the number of references.
    """
    unknown = UNKNOWN * float(values.mean()) / len(values) if careful else 0.0
    return float(np.hypot(values.std(), unknown))
