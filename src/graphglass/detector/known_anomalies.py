"""Known anomalies, the second side of the references: a graph near one of them ranks higher.

With m known anomalies and n references, for a graph x and every channel c:

- a_c(x) is the calibrated distance to the normals, as without known anomalies;
- b_c(x) the same for the distance to the nearest known anomaly, calibrated by the references' distances to it;
- a channel weighs more the farther the known anomalies lie from the normals in it: w'_c ~ w_c exp(mean a_c(known)).

F(x) fuses a_c - b_c / 2 with the weights w'. C(x) is a class-balanced kernel ridge classifier of references against
known anomalies on the mean of the channels' kernels. It counts more as labels grow: (1 - g) F + g C with
g = m / (m + 20), both in units of the references. Every constant is fixed in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel, Rows
from graphglass.channels.fusion import ROUNDING, SHARPNESS, Fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs

NEARNESS = 0.5  # what nearness to a known anomaly counts beside distance from the normals
MAX_SEPARATION = 2.0  # bound on a channel's mean calibrated distance of known anomalies from the normals
CLASSIFIER_HALF_WEIGHT = 20  # known anomalies at which the classifier counts half
RIDGE = 1.0
MOST_TRAINING_ROWS = 2_000  # references that train the classifier; of larger sets a fixed sample
NAME = "known anomalies"

Distances = Mapping[str, NDArray[np.float64]]
Kernel = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class NormalSide(Protocol):
    """What known anomalies ask of the scorer of the normal references."""

    @property
    def references(self) -> ProfiledGraphs: ...
    @property
    def channels(self) -> tuple[Channel, ...]: ...
    @property
    def fusion(self) -> Fusion: ...
    def search(self, queries: ProfiledGraphs) -> Any: ...
    def rows(self, channel: Channel) -> Rows: ...
    def distances_between(self, channel: Channel, places: NDArray[np.int64]) -> NDArray[np.float64]: ...
    def channel_distances(self, channel: Channel, rows: Rows, found: Any) -> NDArray[np.float64]: ...
    def kernel_sums(
        self,
        channel: Channel,
        rows: Rows,
        found: Any,
        kernel: Kernel,
        places: NDArray[np.int64],
        coefficients: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...


@dataclass(frozen=True, eq=False)
class KnownAnomalies:
    """Known anomalies, ready to score against beside the references.

    Attributes
    ----------
    graphs : ProfiledGraphs
    rows : mapping channel -> rows of the known anomalies
    nearness : Fusion
        Calibrates the distances to the nearest known anomaly.
    weights : mapping channel -> float
        w' above.
    widths : mapping channel -> float
        Of the channels' kernels.
    training_rows : int64 (training rows,)
        Places of the references that train the classifier.
    coefficients : float64 (training rows + known,)
    units : float64 (4,)
        Mean and deviation of F and of C over the references.
    """

    graphs: ProfiledGraphs
    rows: Mapping[str, Rows]
    nearness: Fusion
    weights: Mapping[str, float]
    widths: Mapping[str, float]
    training_rows: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    units: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.graphs)

    @classmethod
    def fit(cls, known: ProfiledGraphs, normals: NormalSide) -> tuple[KnownAnomalies, NDArray[np.float64]]:
        """Learn from fitted channels and the references they left out; also the scores of those references."""
        channels, fusion = normals.channels, normals.fusion
        rows = {channel.name: channel.encode(known) for channel in channels}
        near = {c.name: c.compare(normals.rows(c), rows[c.name]).min(axis=1) for c in channels}
        scales = {name: float(values.std()) for name, values in near.items()}
        nearness = Fusion(
            fusion.weights,
            {name: float(values.mean()) for name, values in near.items()},
            {name: scale if scale > ROUNDING else 1.0 for name, scale in scales.items()},
            fusion.sharpness,
        )
        found = normals.search(known)
        separation = {
            channel.name: normals.channel_distances(channel, rows[channel.name], found) for channel in channels
        }
        weights = {
            name: fusion.weights[name] * float(np.exp(np.clip(values.mean(), -MAX_SEPARATION, MAX_SEPARATION)))
            for name, values in fusion.calibrated(separation).items()
        }
        total = sum(weights.values())
        weights = {name: weight / total for name, weight in weights.items()}
        count = len(normals.references)
        training_rows = np.unique(np.linspace(0, count - 1, min(count, MOST_TRAINING_ROWS)).astype(np.int64))
        widths, coefficients, classified = _fit_classifier(normals, rows, training_rows)
        side = cls(known, rows, nearness, weights, widths, training_rows, coefficients, np.zeros(4))
        distance = side._fused(fusion, {channel.name: channel.spacing for channel in channels}, near)
        units = np.array([distance.mean(), _spread(distance), classified.mean(), _spread(classified)])
        side = replace(side, units=units)
        left_out = {channel.name: channel.left_out for channel in channels}
        return side, side._combined(side._fused(fusion, left_out, near), classified)

    @property
    def classifier_weight(self) -> float:
        """g: how much the classifier counts."""
        return len(self) / (len(self) + CLASSIFIER_HALF_WEIGHT)

    def scores(self, normals: NormalSide, queries: ProfiledGraphs, found: Any) -> NDArray[np.float64]:
        """Scores against both sides."""
        distances, near, classified = self._measure(normals, queries, found)
        return self._combined(self._fused(normals.fusion, distances, near), classified)

    def contributions(self, normals: NormalSide, queries: ProfiledGraphs, found: Any) -> dict[str, NDArray[np.float64]]:
        """What each channel and the classifier add to the score; they sum to it."""
        distances, near, classified = self._measure(normals, queries, found)
        parts = self._rule(normals.fusion).split(self._net(normals.fusion, distances, near))
        centre, scale, middle, unit = self.units
        shared = {name: (1 - self.classifier_weight) * values for name, values in parts.items()}
        return shared | {NAME: self.classifier_weight * (centre + scale * (classified - middle) / unit)}

    def _measure(
        self, normals: NormalSide, queries: ProfiledGraphs, found: Any
    ) -> tuple[Distances, Distances, NDArray[np.float64]]:
        """Distances to the normals and to the nearest known anomaly, and the classifier's value."""
        distances, near = {}, {}
        classified = np.full(len(queries), self.coefficients.sum())  # the constant kernel
        normal, known = np.split(self.coefficients, [len(self.training_rows)])
        for channel in normals.channels:
            rows, kernel = channel.encode(queries), _kernel(channel, self.widths)
            distances[channel.name], pull = normals.kernel_sums(
                channel, rows, found, kernel, self.training_rows, normal
            )
            to_known = channel.compare(rows, self.rows[channel.name])
            near[channel.name] = to_known.min(axis=1)
            classified += normals.fusion.weights[channel.name] * (pull + row_sums(kernel(to_known) * known))
        return distances, near, classified

    def _rule(self, fusion: Fusion) -> Fusion:
        return Fusion(self.weights, fusion.centres, fusion.scales, fusion.sharpness)

    def _net(self, fusion: Fusion, distances: Distances, near: Distances) -> dict[str, NDArray[np.float64]]:
        away, towards = fusion.calibrated(distances), self.nearness.calibrated(near)
        return {name: away[name] - NEARNESS * towards[name] for name in away}

    def _fused(self, fusion: Fusion, distances: Distances, near: Distances) -> NDArray[np.float64]:
        return self._rule(fusion).combine(self._net(fusion, distances, near))

    def _combined(self, distance: NDArray[np.float64], classified: NDArray[np.float64]) -> NDArray[np.float64]:
        centre, scale, middle, unit = self.units
        return np.asarray(
            (1 - self.classifier_weight) * distance
            + self.classifier_weight * (centre + scale * (classified - middle) / unit)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `fit` learned, as plain arrays."""
        names = sorted(self.weights)
        table = [
            [self.nearness.centres[n], self.nearness.scales[n], self.weights[n], self.widths.get(n, 1.0)] for n in names
        ]
        return {
            "table": np.array(table),
            "taught": self.training_rows,
            "coefficients": self.coefficients,
            "units": self.units,
        }

    @classmethod
    def restore(
        cls, known: ProfiledGraphs, channels: Sequence[Channel], arrays: Mapping[str, NDArray[Any]]
    ) -> KnownAnomalies:
        """The inverse of :meth:`arrays` for fitted channels."""
        names = sorted(channel.name for channel in channels)
        centres, scales, weights, widths = (
            dict(zip(names, map(float, column), strict=True)) for column in arrays["table"].T
        )
        rows = {channel.name: channel.encode(known) for channel in channels}
        nearness = Fusion(weights, centres, scales, SHARPNESS)
        return cls(known, rows, nearness, weights, widths, arrays["taught"], arrays["coefficients"], arrays["units"])


def _kernel(channel: Channel, widths: Mapping[str, float]) -> Kernel:
    """Similarity from a distance: positive definite for every channel."""
    if channel.bounded:
        return lambda distances: 1 - distances
    width = widths[channel.name]
    return lambda distances: np.exp(-((distances / width) ** 2))


def _fit_classifier(
    normals: NormalSide, rows: Mapping[str, Rows], training_rows: NDArray[np.int64]
) -> tuple[dict[str, float], NDArray[np.float64], NDArray[np.float64]]:
    """Kernel widths, coefficients, and the value of every reference with itself left out.

    Ridge regression to -1 for references and +1 for known anomalies, each side weighing half. The value of a left-out
    reference follows from the inverse, without a fit each; references outside the training rows are predicted as
    queries are.
    """
    channels, fusion = normals.channels, normals.fusion
    count, known = len(training_rows), len(rows[channels[0].name])
    gram = np.ones((count + known, count + known))
    widths: dict[str, float] = {}
    outside = np.setdiff1d(np.arange(len(channels[0].left_out)), training_rows)
    beyond = np.ones((len(outside), count + known))
    for channel in channels:
        to_training = normals.distances_between(channel, training_rows)
        among = to_training[training_rows]
        if not channel.bounded:
            middle = float(np.median(among[np.triu_indices(count, 1)])) if count > 1 else 1.0
            widths[channel.name] = middle if middle > ROUNDING else 1.0
        kernel, weight = _kernel(channel, widths), fusion.weights[channel.name]
        to_known = channel.compare(normals.rows(channel), rows[channel.name])
        gram[:count, :count] += weight * kernel(among)
        gram[:count, count:] += weight * kernel(to_known[training_rows])
        gram[count:, count:] += weight * kernel(channel.compare(rows[channel.name], rows[channel.name]))
        beyond[:, :count] += weight * kernel(to_training[outside])
        beyond[:, count:] += weight * kernel(to_known[outside])
    gram[count:, :count] = gram[:count, count:].T
    side = np.concatenate([-np.ones(count), np.ones(known)])
    balance = np.where(side < 0, (count + known) / (2 * count), (count + known) / (2 * known))
    inverse = np.linalg.inv(gram + RIDGE * np.diag(1 / balance))
    coefficients = inverse @ side
    values = np.empty(len(channels[0].left_out))
    values[training_rows] = (side - coefficients / np.diag(inverse))[:count]
    values[outside] = beyond @ coefficients
    return widths, coefficients, values


def row_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of every row in one order, whatever the layout in memory: equal bits alone and among others."""
    return np.asarray(np.ascontiguousarray(table).sum(axis=1))


def _spread(values: NDArray[np.float64]) -> float:
    spread = float(values.std())
    return spread if spread > 1e-9 else 1.0
