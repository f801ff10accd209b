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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel, Rows
from graphglass.channels.fusion import ROUNDING, SHARPNESS, Fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.large_references import LargeReferences

NEARNESS = 0.5  # what nearness to a known anomaly counts beside distance from the normals
APART = 2.0  # bound on how far apart known anomalies can count as
LEAN = 20  # known anomalies at which the classifier counts half
RIDGE = 1.0
TAUGHT = 2_000  # references that teach the classifier; of larger sets a fixed sample
PAIRS = 4_000_000  # distances held at once
NAME = "known anomalies"

Distances = Mapping[str, NDArray[np.float64]]


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
    large : LargeReferences or None
        How candidates are found where there are too many references to compare with all.
    teachers : mapping channel -> rows of the references that teach; empty unless the set is large
    """

    graphs: ProfiledGraphs
    rows: Mapping[str, Rows]
    nearness: Fusion
    weights: Mapping[str, float]
    widths: Mapping[str, float]
    taught: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    units: NDArray[np.float64]
    large: LargeReferences | None = None
    teachers: Mapping[str, Rows] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.graphs)

    @classmethod
    def fit(
        cls,
        known: ProfiledGraphs,
        channels: Sequence[Channel],
        fusion: Fusion,
        references: ProfiledGraphs,
        large: LargeReferences | None = None,
    ) -> tuple[KnownAnomalies, NDArray[np.float64]]:
        """Learn from fitted channels and the references they left out; also the scores of those references."""
        rows = {channel.name: channel.encode(known) for channel in channels}
        normal = {channel.name: channel.encode(references) if large else channel.references for channel in channels}
        near = {c.name: c.compare(normal[c.name], rows[c.name]).min(axis=1) for c in channels}
        scales = {name: float(values.std()) for name, values in near.items()}
        nearness = Fusion(
            fusion.weights,
            {name: float(values.mean()) for name, values in near.items()},
            {name: scale if scale > ROUNDING else 1.0 for name, scale in scales.items()},
            fusion.sharpness,
        )
        left_out = {channel.name: channel.left_out for channel in channels}
        apart = _distances(channels, rows, None if large is None else large.near(known))
        weights = {
            name: fusion.weights[name] * float(np.exp(np.clip(values.mean(), -APART, APART)))
            for name, values in fusion.calibrated(apart).items()
        }
        total = sum(weights.values())
        weights = {name: weight / total for name, weight in weights.items()}
        count = len(next(iter(left_out.values())))
        taught = np.unique(np.linspace(0, count - 1, min(count, TAUGHT)).astype(np.int64))
        teachers = {channel.name: channel.encode(references[taught]) for channel in channels} if large else {}
        widths, coefficients, classified = _teach(channels, fusion, normal, rows, taught, teachers)
        side = cls(known, rows, nearness, weights, widths, taught, coefficients, np.zeros(4), large, teachers)
        distance = side._fused(fusion, left_out, near)
        units = np.array([distance.mean(), _spread(distance), classified.mean(), _spread(classified)])
        side = replace(side, units=units)
        return side, side._combined(distance, classified)

    @property
    def lean(self) -> float:
        """g: how much the classifier counts."""
        return len(self) / (len(self) + LEAN)

    def scores(self, channels: Sequence[Channel], fusion: Fusion, queries: ProfiledGraphs) -> NDArray[np.float64]:
        """Scores against both sides."""
        distances, near, classified = self._measure(channels, fusion, queries)
        return self._combined(self._fused(fusion, distances, near), classified)

    def contributions(
        self, channels: Sequence[Channel], fusion: Fusion, queries: ProfiledGraphs
    ) -> dict[str, NDArray[np.float64]]:
        """What each channel and the classifier add to the score; they sum to it."""
        distances, near, classified = self._measure(channels, fusion, queries)
        parts = self._rule(fusion).split(self._net(fusion, distances, near))
        centre, scale, middle, unit = self.units
        shared = {name: (1 - self.lean) * values for name, values in parts.items()}
        return shared | {NAME: self.lean * (centre + scale * (classified - middle) / unit)}

    def _measure(
        self, channels: Sequence[Channel], fusion: Fusion, queries: ProfiledGraphs
    ) -> tuple[Distances, Distances, NDArray[np.float64]]:
        """Distances to the normals and to the nearest known anomaly, and the classifier's value."""
        distances, near = {}, {}
        classified = np.full(len(queries), self.coefficients.sum())  # the constant kernel
        normal, known = np.split(self.coefficients, [len(self.taught)])
        places = None if self.large is None else self.large.near(queries)
        for channel in channels:
            rows, kernel = channel.encode(queries), _kernel(channel, self.widths)
            pull = np.empty(len(queries))

            def add(first: int, block: NDArray[np.float64], kernel: Any = kernel, pull: Any = pull) -> None:
                pull[first : first + len(block)] = _row_sums(kernel(block[:, self.taught]) * normal)

            if places is None:
                distances[channel.name] = channel.distances(rows, add)
            else:
                distances[channel.name] = channel.distances_among(rows, places)
                pull = _row_sums(kernel(channel.compare(rows, self.teachers[channel.name])) * normal)
            to_known = channel.compare(rows, self.rows[channel.name])
            near[channel.name] = to_known.min(axis=1)
            classified += fusion.weights[channel.name] * (pull + _row_sums(kernel(to_known) * known))
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
        return (1 - self.lean) * distance + self.lean * (centre + scale * (classified - middle) / unit)

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
        cls,
        known: ProfiledGraphs,
        channels: Sequence[Channel],
        arrays: Mapping[str, NDArray[Any]],
        references: ProfiledGraphs,
        large: LargeReferences | None = None,
    ) -> KnownAnomalies:
        """The inverse of :meth:`arrays` for fitted channels."""
        names = sorted(channel.name for channel in channels)
        centres, scales, weights, widths = (
            dict(zip(names, map(float, column), strict=True)) for column in arrays["table"].T
        )
        rows = {channel.name: channel.encode(known) for channel in channels}
        nearness = Fusion(weights, centres, scales, SHARPNESS)
        taught = arrays["taught"]
        teachers = {channel.name: channel.encode(references[taught]) for channel in channels} if large else {}
        learned = taught, arrays["coefficients"], arrays["units"]
        return cls(known, rows, nearness, weights, widths, *learned, large, teachers)


def _distances(
    channels: Sequence[Channel], rows: Mapping[str, Rows], candidates: NDArray[np.int64] | None
) -> dict[str, NDArray[np.float64]]:
    """Distances to the normals, to the candidates alone where there are some."""
    if candidates is None:
        return {channel.name: channel.distances(rows[channel.name]) for channel in channels}
    return {channel.name: channel.distances_among(rows[channel.name], candidates) for channel in channels}


def _kernel(channel: Channel, widths: Mapping[str, float]) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Similarity from a distance: positive definite for every channel."""
    if channel.bounded:
        return lambda distances: 1 - distances
    width = widths[channel.name]
    return lambda distances: np.exp(-((distances / width) ** 2))


def _teach(
    channels: Sequence[Channel],
    fusion: Fusion,
    normal: Mapping[str, Rows],
    rows: Mapping[str, Rows],
    taught: NDArray[np.int64],
    teachers: Mapping[str, Rows],
) -> tuple[dict[str, float], NDArray[np.float64], NDArray[np.float64]]:
    """Kernel widths, coefficients, and the value of every reference with itself left out.

    Ridge regression to -1 for references and +1 for known anomalies, each side weighing half. The value of a left-out
    reference follows from the inverse, without a fit each; references that do not teach are predicted as queries are.
    """
    count, known = len(taught), len(rows[channels[0].name])
    gram = np.ones((count + known, count + known))
    widths: dict[str, float] = {}
    outside = np.setdiff1d(np.arange(len(channels[0].left_out)), taught)
    beyond = np.ones((len(outside), count + known))
    for channel in channels:
        own = normal[channel.name]
        to_taught = channel.compare(own, teachers[channel.name]) if teachers else _distances_to(channel, taught)
        among = to_taught[taught]
        if not channel.bounded:
            middle = float(np.median(among[np.triu_indices(count, 1)])) if count > 1 else 1.0
            widths[channel.name] = middle if middle > ROUNDING else 1.0
        kernel, weight = _kernel(channel, widths), fusion.weights[channel.name]
        to_known = channel.compare(own, rows[channel.name])
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


def _distances_to(channel: Channel, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Plain distances of all references to those at `places`, some rows at a time."""
    count = len(channel.left_out)
    step = max(1, PAIRS // count)
    blocks = [
        channel.compare(channel.references[first : first + step], channel.references)[:, places]
        for first in range(0, count, step)
    ]
    return np.concatenate(blocks)


def _row_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of every row in one order, whatever the layout in memory: equal bits alone and among others."""
    return np.ascontiguousarray(table).sum(axis=1)


def _spread(values: NDArray[np.float64]) -> float:
    spread = float(values.std())
    return spread if spread > 1e-9 else 1.0
