"""Known anomalies, the second side of the references: a graph near one of them ranks higher.

With m known anomalies and n references, for a graph x and every channel c:

- a_c(x) is the calibrated distance to the normals, as without known anomalies;
- b_c(x) the same for the distance to the nearest known anomaly, calibrated by the references' distances to it;
- s = m / (m + 1) shrinks what a few examples of unknown breadth say;
- a channel weighs more the farther the known anomalies lie from the normals in it: w'_c ~ w_c exp(s mean a_c(known));
- nearness counts less where references lie near a known anomaly too: v_c = s (1 - share_c)^2 / 2 with the share of
  references that are no farther from one than references are from each other.

F(x) fuses a_c - v_c b_c with the weights w'. C(x) is a class-balanced kernel ridge classifier of references against
known anomalies on the mean of the channels' kernels. The score is (1 - g) F + g C, both in units of the references.
g grows with the number of labels, m / (m + 20), and falls where C does not tell left-out known anomalies from left-out
references: it is full from an AUROC of 0.75 on and 0 at 0.5, two imagined examples with an AUROC of 1 included. Every
constant is fixed in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import AnyChannel
from graphglass.channels.fusion import ROUNDING, SHARPNESS, Fusion
from graphglass.channels.nearest_references import Candidates, Rows, shrunk_scaling
from graphglass.channels.profiled_graphs import ProfiledGraphs

NEARNESS = 0.5  # most that nearness to a known anomaly counts, relative to distance from the normals
MAX_SEPARATION = 2.0  # bound on a channel's mean calibrated distance of known anomalies from the normals
CLASSIFIER_HALF_WEIGHT = 20  # known anomalies at which a good classifier counts half
IMAGINED = 2  # left-out known anomalies that a classifier is taken to have recognised before any was seen
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
    def channels(self) -> tuple[AnyChannel, ...]: ...
    @property
    def fusion(self) -> Fusion: ...
    def search(self, queries: ProfiledGraphs) -> Candidates: ...
    def rows(self, channel: AnyChannel) -> Rows: ...
    def distances_to(self, channel: AnyChannel, rows: Rows, places: NDArray[np.int64]) -> NDArray[np.float64]: ...
    def channel_distances(self, channel: AnyChannel, rows: Rows, found: Candidates) -> NDArray[np.float64]: ...
    def kernel_sums(
        self,
        channel: AnyChannel,
        rows: Rows,
        found: Candidates,
        kernel: Kernel,
        places: NDArray[np.int64],
        coefficients: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...


@dataclass(frozen=True, eq=False)
class KnownAnomalies:
    """Known anomalies, ready to score against, together with the references.

    Attributes
    ----------
    graphs : ProfiledGraphs
    rows : mapping channel -> rows of the known anomalies
    nearness : Fusion
        Calibrates the distances to the nearest known anomaly; its weights are v above.
    weights : mapping channel -> float
        w' above.
    widths : mapping channel -> float
        Of the channels' kernels.
    training_rows : int64 (training rows,)
        Places of the references that train the classifier.
    coefficients : float64 (training rows + known,)
    units : float64 (4,)
        Mean and deviation of F and of C over the references.
    classifier_weight : float
        g above.
    """

    graphs: ProfiledGraphs
    rows: Mapping[str, Rows]
    nearness: Fusion
    weights: Mapping[str, float]
    widths: Mapping[str, float]
    training_rows: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    units: NDArray[np.float64]
    classifier_weight: float

    def __len__(self) -> int:
        return len(self.graphs)

    @classmethod
    def fit(
        cls, known: ProfiledGraphs, normals: NormalSide, kernel: NormalKernel | None = None
    ) -> tuple[KnownAnomalies, NDArray[np.float64]]:
        """Learn from fitted channels and the references they left out; also the scores of those references.

        The kernel of these references is computed where none is given.
        """
        channels, fusion = normals.channels, normals.fusion
        kernel = NormalKernel.fit(normals) if kernel is None else kernel
        rows = {channel.name: channel.encode(known) for channel in channels}
        near = {c.name: c.compare(normals.rows(c), rows[c.name]).min(axis=1) for c in channels}
        scales = {name: float(values.std()) for name, values in near.items()}
        shrinkage = len(known) / (len(known) + 1)
        crowded = {name: float((values <= fusion.centres[name]).mean()) for name, values in near.items()}
        nearness = Fusion(
            {name: NEARNESS * shrinkage * (1 - share) ** 2 for name, share in crowded.items()},
            {name: float(values.mean()) for name, values in near.items()},
            {name: scale if scale > ROUNDING else 1.0 for name, scale in scales.items()},
            fusion.sharpness,
        )
        found = normals.search(known)
        separation = {
            channel.name: normals.channel_distances(channel, rows[channel.name], found) for channel in channels
        }
        weights = {
            name: fusion.weights[name]
            * float(np.exp(shrinkage * np.clip(values.mean(), -MAX_SEPARATION, MAX_SEPARATION)))
            for name, values in fusion.calibrated(separation).items()
        }
        total = sum(weights.values())
        weights = {name: weight / total for name, weight in weights.items()}
        coefficients, classified, known_classified = _fit_classifier(normals, rows, kernel)
        g = _classifier_weight(classified, known_classified)
        side = cls(known, rows, nearness, weights, kernel.widths, kernel.training_rows, coefficients, np.zeros(4), g)
        distance = side._fused(fusion, {channel.name: channel.spacing for channel in channels}, near)
        units = np.array([distance.mean(), _spread(distance), classified.mean(), _spread(classified)])
        side = replace(side, units=units)
        left_out = {channel.name: channel.left_out for channel in channels}
        return side, side._combined(side._fused(fusion, left_out, near), classified)

    def scores(self, normals: NormalSide, queries: ProfiledGraphs, found: Candidates) -> NDArray[np.float64]:
        """Scores against both sides."""
        distances, near, classified = self._measure(normals, queries, found)
        return self._combined(self._fused(normals.fusion, distances, near), classified)

    def pool_scores(self, normals: NormalSide, pool: ComparedPool) -> NDArray[np.float64]:
        """Scores of queries that were compared with the normals before; equal to :meth:`scores` up to rounding."""
        normal = self.coefficients[: len(self.training_rows)]
        distances, near, classified = self._with_known(normals, pool.rows, pool.distances, pool.kernel @ normal)
        return self._combined(self._fused(normals.fusion, distances, near), classified)

    def contributions(
        self, normals: NormalSide, queries: ProfiledGraphs, found: Candidates
    ) -> dict[str, NDArray[np.float64]]:
        """What each channel and the classifier add to the score; they sum to it."""
        distances, near, classified = self._measure(normals, queries, found)
        centre, scale, middle, unit = self.units
        shared = self._channel_parts(normals.fusion, distances, near)
        return shared | {NAME: self.classifier_weight * (centre + scale * (classified - middle) / unit)}

    def left_out_contributions(
        self, normals: NormalSide, query: ProfiledGraphs, distances: Distances, scores: NDArray[np.float64]
    ) -> dict[str, NDArray[np.float64]]:
        """The same of a left-out reference by its distances to the others; the classifier has what is left."""
        near = {c.name: c.compare(c.encode(query), self.rows[c.name]).min(axis=1) for c in normals.channels}
        shared = self._channel_parts(normals.fusion, distances, near)
        return shared | {NAME: scores - sum(shared.values())}

    def _channel_parts(self, fusion: Fusion, distances: Distances, near: Distances) -> dict[str, NDArray[np.float64]]:
        parts = self._rule(fusion).split(self._net(fusion, distances, near))
        return {name: (1 - self.classifier_weight) * values for name, values in parts.items()}

    def _measure(
        self, normals: NormalSide, queries: ProfiledGraphs, found: Candidates
    ) -> tuple[Distances, Distances, NDArray[np.float64]]:
        """Distances to the normals and to the nearest known anomaly, and the classifier's value."""
        rows, distances = {}, {}
        pull = np.zeros(len(queries))
        normal = self.coefficients[: len(self.training_rows)]
        for channel in normals.channels:
            rows[channel.name], kernel = channel.encode(queries), _kernel(channel, self.widths)
            distances[channel.name], sums = normals.kernel_sums(
                channel, rows[channel.name], found, kernel, self.training_rows, normal
            )
            pull += normals.fusion.weights[channel.name] * sums
        return self._with_known(normals, rows, distances, pull)

    def _with_known(
        self, normals: NormalSide, rows: Mapping[str, Rows], distances: Distances, pull: NDArray[np.float64]
    ) -> tuple[Distances, Distances, NDArray[np.float64]]:
        """The same from what the normals gave: distances, and ``pull``, their part of the classifier."""
        near = {}
        classified = pull + self.coefficients.sum()  # the constant kernel
        known = self.coefficients[len(self.training_rows) :]
        for channel in normals.channels:
            to_known = channel.compare(rows[channel.name], self.rows[channel.name])
            near[channel.name] = to_known.min(axis=1)
            kernel = _kernel(channel, self.widths)
            classified += normals.fusion.weights[channel.name] * row_sums(kernel(to_known) * known)
        return distances, near, classified

    def _rule(self, fusion: Fusion) -> Fusion:
        return Fusion(self.weights, fusion.centres, fusion.scales, fusion.sharpness)

    def _net(self, fusion: Fusion, distances: Distances, near: Distances) -> dict[str, NDArray[np.float64]]:
        away, towards = fusion.calibrated(distances), self.nearness.calibrated(near)
        return {name: away[name] - self.nearness.weights[name] * towards[name] for name in away}

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
        near = self.nearness
        table = [
            [near.centres[n], near.scales[n], self.weights[n], self.widths.get(n, 1.0), near.weights[n]] for n in names
        ]
        return {
            "table": np.array(table),
            "taught": self.training_rows,
            "coefficients": self.coefficients,
            "units": np.append(self.units, self.classifier_weight),
        }

    @classmethod
    def restore(
        cls, known: ProfiledGraphs, channels: Sequence[AnyChannel], arrays: Mapping[str, NDArray[Any]]
    ) -> KnownAnomalies:
        """The inverse of :meth:`arrays` for fitted channels."""
        names = sorted(channel.name for channel in channels)
        table, units = arrays["table"], arrays["units"]
        if len(units) == 4:  # saved by 0.2.0, where both were the same for every set
            table = np.column_stack([table, np.full(len(table), NEARNESS)])
            units = np.append(units, len(known) / (len(known) + CLASSIFIER_HALF_WEIGHT))
        centres, scales, weights, widths, nearness = (
            dict(zip(names, map(float, column), strict=True)) for column in table.T
        )
        rows = {channel.name: channel.encode(known) for channel in channels}
        near, taught = Fusion(nearness, centres, scales, SHARPNESS), arrays["taught"]
        return cls(known, rows, near, weights, widths, taught, arrays["coefficients"], units[:4], float(units[4]))


def _kernel(channel: AnyChannel, widths: Mapping[str, float]) -> Kernel:
    """Similarity from a distance: positive definite for every channel."""
    if channel.bounded:
        return lambda distances: 1 - distances
    width = widths[channel.name]
    return lambda distances: np.exp(-((distances / width) ** 2))


@dataclass(frozen=True, eq=False)
class NormalKernel:
    """The classifier's kernel among the references, which known anomalies leave as it is.

    Working it out compares all references; with it, a new known anomaly costs a comparison with each of them.

    Attributes
    ----------
    training_rows : int64 (training rows,)
    outside : int64 (outside,)
        Places of the other references.
    widths : mapping channel -> float
    eigenvalues, eigenvectors : float64 (training rows,), (training rows, training rows)
        Of the kernel among the training rows: they invert it for any ridge.
    beyond : float64 (outside, training rows)
    """

    training_rows: NDArray[np.int64]
    outside: NDArray[np.int64]
    widths: Mapping[str, float]
    eigenvalues: NDArray[np.float64]
    eigenvectors: NDArray[np.float64]
    beyond: NDArray[np.float64]

    @classmethod
    def fit(cls, normals: NormalSide) -> NormalKernel:
        count = len(normals.references)
        places = np.unique(np.linspace(0, count - 1, min(count, MOST_TRAINING_ROWS)).astype(np.int64))
        outside = np.setdiff1d(np.arange(count), places)
        widths: dict[str, float] = {}
        kernel = np.ones((count, len(places)))
        for channel in normals.channels:
            distances = normals.distances_to(channel, normals.rows(channel), places)
            if not channel.bounded:
                among = distances[places][np.triu_indices(len(places), 1)]
                middle = float(np.median(among)) if len(among) else 1.0
                widths[channel.name] = middle if middle > ROUNDING else 1.0
            kernel += normals.fusion.weights[channel.name] * _kernel(channel, widths)(distances)
        eigenvalues, eigenvectors = np.linalg.eigh(kernel[places])
        return cls(places, outside, widths, eigenvalues, eigenvectors, kernel[outside])

    def solve(self, ridge: float, sides: NDArray[np.float64]) -> NDArray[np.float64]:
        """The inverse of the kernel among the training rows with this ridge, times some columns."""
        along = self.eigenvectors.T @ sides
        return np.asarray(self.eigenvectors @ (along.T / (self.eigenvalues + ridge)).T)

    def inverse_diagonal(self, ridge: float) -> NDArray[np.float64]:
        return np.asarray(self.eigenvectors**2 @ (1 / (self.eigenvalues + ridge)))


@dataclass(frozen=True, eq=False)
class ComparedPool:
    """Queries compared with the normals once, for one set of known anomalies after the other.

    Attributes
    ----------
    rows : mapping channel -> rows of the queries
    distances : mapping channel -> float64 (queries,)
    kernel : float64 (queries, training rows)
    """

    rows: Mapping[str, Rows]
    distances: Distances
    kernel: NDArray[np.float64]

    @classmethod
    def of(cls, queries: ProfiledGraphs, normals: NormalSide, kernel: NormalKernel) -> ComparedPool:
        found, places = normals.search(queries), kernel.training_rows
        rows = {channel.name: channel.encode(queries) for channel in normals.channels}
        distances = {c.name: normals.channel_distances(c, rows[c.name], found) for c in normals.channels}
        values = np.zeros((len(queries), len(places)))
        for channel in normals.channels:
            similar = _kernel(channel, kernel.widths)
            similarities = similar(normals.distances_to(channel, rows[channel.name], places))
            values += normals.fusion.weights[channel.name] * similarities
        return cls(rows, distances, values)

    def with_normals(self, places: NDArray[np.int64], graphs: ProfiledGraphs, normals: NormalSide) -> ComparedPool:
        """The same queries where some of them, `graphs` at `places`, are references too.

        A new reference that is nearer than a query's neighbours are on average takes the place of one of them.
        """
        distances = {}
        for channel in normals.channels:
            before, middle = self.distances[channel.name], normals.fusion.centres[channel.name]
            power = shrunk_scaling(channel.local_scaling, len(channel.reference_scales))
            scales = np.maximum(before[places] / middle, 0.1) ** power if middle > ROUNDING else np.ones(len(places))
            to_new = channel.compare(self.rows[channel.name], channel.encode(graphs)) / scales
            nearest = np.sort(np.minimum(to_new, before[:, None]), axis=1)[:, : channel.k]
            distances[channel.name] = before + row_sums(nearest - before[:, None]) / channel.k
        return replace(self, distances=distances)


def _fit_classifier(
    normals: NormalSide, rows: Mapping[str, Rows], kernel: NormalKernel
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients, and the value of every reference and of every known anomaly with itself left out.

    Ridge regression to -1 for references and +1 for known anomalies, each side weighing half. The kernel among the
    references is inverted once and bordered by the known anomalies. The value of a left-out graph follows from the
    inverse, without a fit each; references outside the training rows are predicted as queries are.
    """
    channels, fusion = normals.channels, normals.fusion
    places, outside = kernel.training_rows, kernel.outside
    count, known = len(places), len(rows[channels[0].name])
    border = np.ones((count + len(outside), known))
    corner = np.ones((known, known))
    for channel in channels:
        similar, weight = _kernel(channel, kernel.widths), fusion.weights[channel.name]
        border += weight * similar(channel.compare(normals.rows(channel), rows[channel.name]))
        corner += weight * similar(channel.compare(rows[channel.name], rows[channel.name]))
    ridge = RIDGE * 2 * count / (count + known)
    solved = kernel.solve(ridge, border[places])
    inverse = np.linalg.inv(corner + RIDGE * 2 * known / (count + known) * np.eye(known) - border[places].T @ solved)
    of_known = inverse @ (1 + solved.sum(axis=0))
    of_normals = -kernel.solve(ridge, np.ones((count, 1)))[:, 0] - solved @ of_known
    diagonal = kernel.inverse_diagonal(ridge) + ((solved @ inverse) * solved).sum(axis=1)
    values = np.empty(count + len(outside))
    values[places] = -1 - of_normals / diagonal
    values[outside] = kernel.beyond @ of_normals + border[outside] @ of_known
    return np.concatenate([of_normals, of_known]), values, 1 - of_known / np.diag(inverse)


def _classifier_weight(references: NDArray[np.float64], known: NDArray[np.float64]) -> float:
    """g from the left-out values of both sides."""
    ordered, count = np.sort(references), len(known)
    wins = (np.searchsorted(ordered, known, "left") + np.searchsorted(ordered, known, "right")).sum()
    auroc = (wins / (2 * len(ordered)) + IMAGINED) / (count + IMAGINED)
    return float(np.clip(4 * auroc - 2, 0, 1)) * count / (count + CLASSIFIER_HALF_WEIGHT)


def row_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of every row in one order, whatever the layout in memory: equal bits alone and among others."""
    return np.asarray(np.ascontiguousarray(table).sum(axis=1))


def _spread(values: NDArray[np.float64]) -> float:
    spread = float(values.std())
    return spread if spread > 1e-9 else 1.0
