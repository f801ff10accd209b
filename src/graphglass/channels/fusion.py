"""Many channels, one score: each distance is centred and scaled by its leave-one-out law, then weighted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Times the mean distance, over the number of references: what the deviation of a small set may have missed.
UNKNOWN = 2.4
FEWEST = 32  # references whose farthest tells how far normal graphs reach
ROUNDING = 1e-7  # distances between equal codes in single precision


@dataclass(frozen=True)
class Fusion:
    """score = sum_c weight_c * z_c with z_c = (distance_c - centre_c) / scale_c; the summands are the contributions.

    With ``bounded`` a channel adds weight_c * arsinh(z_c): linear near the references, logarithmic far from them, so
    that one channel with a heavy tail cannot outvote the others. Past the farthest reference, whose z is
    ``farthest_c``, it adds weight_c * (z_c - farthest_c) as well: what no normal graph comes near to is heard however
    many channels are silent about it. Channels without an entry in ``farthest`` stay bounded.
    """

    weights: Mapping[str, float]
    centres: Mapping[str, float]
    scales: Mapping[str, float]
    bounded: bool = False
    farthest: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def weighted(cls, weights: Mapping[str, float]) -> Fusion:
        """Plain weighted distances, as in eq:fixedscore."""
        return cls(dict(weights), dict.fromkeys(weights, 0.0), dict.fromkeys(weights, 1.0))

    def contributions(self, distances: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """What each channel adds to the score of every query."""
        return {
            name: self.weights[name] * self._evidence(z, self.farthest.get(name, np.inf))
            for name, z in self._units(distances).items()
        }

    def left_out_contributions(self, left_out: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """The same for every reference against the others: the farthest is then measured from the next farthest."""
        parts = {}
        for name, z in self._units(left_out).items():
            others = np.full(len(z), self.farthest.get(name, np.inf))
            if name in self.farthest:
                others[np.argmax(z)] = np.partition(z, -2)[-2]
            parts[name] = self.weights[name] * self._evidence(z, others)
        return parts

    def _units(self, distances: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        return {name: (distances[name] - self.centres[name]) / self.scales[name] for name in self.weights}

    def _evidence(self, z: NDArray[np.float64], farthest: float | NDArray[np.float64]) -> NDArray[np.float64]:
        return np.arcsinh(z) + np.maximum(z - farthest, 0) if self.bounded else z

    def to_json(self) -> dict[str, Any]:
        return {
            "weights": dict(self.weights), "centres": dict(self.centres), "scales": dict(self.scales),
            "bounded": self.bounded, "farthest": dict(self.farthest),
        }  # fmt: skip

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Fusion:
        return cls(
            value["weights"],
            value["centres"],
            value["scales"],
            bool(value.get("bounded", False)),
            value.get("farthest", {}),
        )


def fit_fusion(
    left_out: Mapping[str, NDArray[np.float64]],
    *,
    weights: Mapping[str, float] | None = None,
    bounded: bool = False,
    open_ended: Collection[str] = (),
) -> Fusion:
    """Calibrate every channel by the mean and deviation of its leave-one-out distances.

    Parameters
    ----------
    left_out : mapping channel -> (references,)
    weights : mapping, optional
        Equal weights if absent.
    bounded : bool
        See :class:`Fusion`.
    open_ended : collection of str
        Bounded channels that count in full past the farthest reference, given at least :data:`FEWEST` references.
    """
    shares = weights or dict.fromkeys(left_out, 1 / len(left_out))
    centres = {name: float(values.mean()) for name, values in left_out.items()}
    scales = {name: _deviation(values, careful=bounded) for name, values in left_out.items()}
    farthest = {
        name: float((left_out[name].max() - centres[name]) / scales[name])
        for name in open_ended
        if len(left_out[name]) >= FEWEST
    }
    return Fusion(dict(shares), centres, scales, bounded, farthest)


def _deviation(values: NDArray[np.float64], *, careful: bool) -> float:
    """The deviation of leave-one-out distances.

    A handful of references can lie equally far apart by chance, and their channel would then outvote all others. The
    careful estimate adds what is not known yet: a share of the mean distance that falls with the number of references.
    A channel that cannot tell the references apart (one reference, or all alike up to rounding) keeps its own unit.
    """
    unknown = UNKNOWN * float(values.mean()) / len(values) if careful else 0.0
    deviation = float(np.hypot(values.std(), unknown))
    return deviation if deviation > ROUNDING else 1.0
