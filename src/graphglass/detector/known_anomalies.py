"""Known anomalies, the second side of the references: a graph near one of them ranks higher.

With m known anomalies and n references, for a graph x and every channel c:

- a_c(x) is the calibrated distance to the normals, as without known anomalies;
- b_c(x) the same for the distance to the nearest known anomaly, calibrated by the references' distances to it;
- a channel weighs more the farther the known anomalies lie from the normals in it: w'_c ~ w_c exp(mean a_c(known)).

F(x) fuses a_c - b_c / 2 with the weights w'. C(x) is a class-balanced kernel ridge classifier of references against
known anomalies on the mean of the channels' kernels. The score leans on it as labels grow: (1 - g) F + g C with
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
APART = 2.0  # bound on how far apart known anomalies can count as
LEAN = 20  # known anomalies at which the classifier counts half
RIDGE = 1.0
TAUGHT = 2_000  # references that teach the classifier; of larger sets a fixed sample
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
    taught : int64 (taught,)
        Places of the references that teach the classifier.
    coefficients : float64 (taught + known,)
    units : float64 (4,)
        Mean and deviation of F and of C over the references.
    """

    graphs: ProfiledGraphs
    rows: Mapping[str, Rows]
    nearness: Fusion
    weights: Mapping[str, float]
    widths: Mapping[str, float]
    taught: NDArray[np.int64]
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
        apart = {channel.name: normals.channel_distances(channel, rows[channel.name], found) for channel in channels}
        weights = {
            name: fusion.weights[name] * float(np.exp(np.clip(values.mean(), -APART, APART)))
            for name, values in fusion.calibrated(apart).items()
        }
        total = sum(weights.values())
        weights = {name: weight / total for name, weight in weights.items()}
        count = len(normals.references)
        taught = np.unique(np.linspace(0, count - 1, min(count, TAUGHT)).astype(np.int64))
        widths, coefficients, classified = _teach(normals, rows, taught)
        side = cls(known, rows, nearness, weights, widths, taught, coefficients, np.zeros(4))
        distance = side._fused(fusion, {channel.name: channel.spacing for channel in channels}, near)
        units = np.array([distance.mean(), _spread(distance), classified.mean(), _spread(classified)])
        side = replace(side, units=units)
        left_out = {channel.name: channel.left_out for channel in channels}
        return side, side._combined(side._fused(fusion, left_out, near), classified)

    @property
    def lean(self) -> float:
        """g: how much the classifier counts."""
        return len(self) / (len(self) + LEAN)

    def scores(self, normals: NormalSide, queries: ProfiledGraphs, found: Any) -> NDArray[np.float64]:
        """Scores against both sides."""
        distances, near, classified = self._measure(normals, queries, found)
        return self._combined(self._fused(normals.fusion, distances, near), classified)

    def contributions(self, normals: NormalSide, queries: ProfiledGraphs, found: Any) -> dict[str, NDArray[np.float64]]:
        """What each channel and the classifier add to the score; they sum to it."""
        distances, near, classified = self._measure(normals, queries, found)
        parts = self._rule(normals.fusion).split(self._net(normals.fusion, distances, near))
        centre, scale, middle, unit = self.units
        shared = {name: (1 - self.lean) * values for name, values in parts.items()}
        return shared | {NAME: self.lean * (centre + scale * (classified - middle) / unit)}

    def _measure(
        self, normals: NormalSide, queries: ProfiledGraphs, found: Any
    ) -> tuple[Distances, Distances, NDArray[np.float64]]:
        """Distances to the normals and to the nearest known anomaly, and the classifier's value."""
        distances, near = {}, {}
        classified = np.full(len(queries), self.coefficients.sum())  # the constant kernel
        normal, known = np.split(self.coefficients, [len(self.taught)])
        for channel in normals.channels:
            rows, kernel = channel.encode(queries), _kernel(channel, self.widths)
            distances[channel.name], pull = normals.kernel_sums(channel, rows, found, kernel, self.taught, normal)
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
        return np.asarray((1 - self.lean) * distance + self.lean * (centre + scale * (classified - middle) / unit))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `fit` learned, as plain arrays."""
        names = sorted(self.weights)
        table = [
            [self.nearness.centres[n], self.nearness.scales[n], self.weights[n], self.widths.get(n, 1.0)] for n in names
        ]
        return {
            "table": np.array(table),
            "taught": self.taught,
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


def _teach(
    normals: NormalSide, rows: Mapping[str, Rows], taught: NDArray[np.int64]
) -> tuple[dict[str, float], NDArray[np.float64], NDArray[np.float64]]:
    """Kernel widths, coefficients, and the value of every reference with itself left out.

    Ridge regression to -1 for references and +1 for known anomalies, each side weighing half. The value of a left-out
    reference follows from the inverse, without a fit each; references that do not teach are predicted as queries are.
    """
    channels, fusion = normals.channels, normals.fusion
    count, known = len(taught), len(rows[channels[0].name])
    gram = np.ones((count + known, count + known))
    widths: dict[str, float] = {}
    outside = np.setdiff1d(np.arange(len(channels[0].left_out)), taught)
    beyond = np.ones((len(outside), count + known))
    for channel in channels:
        to_taught = normals.distances_between(channel, taught)
        among = to_taught[taught]
        if not channel.bounded:
            middle = float(np.median(among[np.triu_indices(count, 1)])) if count > 1 else 1.0
            widths[channel.name] = middle if middle > ROUNDING else 1.0
        kernel, weight = _kernel(channel, widths), fusion.weights[channel.name]
        to_known = channel.compare(normals.rows(channel), rows[channel.name])
        gram[:count, :count] += weight * kernel(among)
        gram[:count, count:] += weight * kernel(to_known[taught])
        gram[count:, count:] += weight * kernel(channel.compare(rows[channel.name], rows[channel.name]))
        beyond[:, :count] += weight * kernel(to_taught[outside])
        beyond[:, count:] += weight * kernel(to_known[outside])
    gram[count:, :count] = gram[:count, count:].T
    side = np.concatenate([-np.ones(count), np.ones(known)])
    balance = np.where(side < 0, (count + known) / (2 * count), (count + known) / (2 * known))
    inverse = np.linalg.inv(gram + RIDGE * np.diag(1 / balance))
    coefficients = inverse @ side
    values = np.empty(len(channels[0].left_out))
    values[taught] = (side - coefficients / np.diag(inverse))[:count]
    values[outside] = beyond @ coefficients
    return widths, coefficients, values


def row_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of every row in one order, whatever the layout in memory: equal bits alone and among others."""
    return np.asarray(np.ascontiguousarray(table).sum(axis=1))


def _spread(values: NDArray[np.float64]) -> float:
    spread = float(values.std())
    return spread if spread > 1e-9 else 1.0
