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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import AnyChannel
from graphglass.channels.fusion import ROUNDING, SHARPNESS, Distances, Fusion
from graphglass.channels.nearest_references import Candidates, Rows
from graphglass.channels.profiled_graphs import ProfiledGraphs

if TYPE_CHECKING:
    from graphglass.detector.scorer import ReferenceScorer

NEARNESS = 0.5  # most that nearness to a known anomaly counts, relative to distance from the normals
MAX_SEPARATION = 2.0  # bound on a channel's mean calibrated distance of known anomalies from the normals
CLASSIFIER_HALF_WEIGHT = 20  # known anomalies at which a good classifier counts half
IMAGINED = 2  # left-out known anomalies that a classifier is taken to have recognised before any was seen
RIDGE = 1.0
MOST_TRAINING_ROWS = 2_000  # references that train the classifier; of larger sets a fixed sample
NAME = "known anomalies"

Widths = Mapping[str, float]
Kernel = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class KnownDistances:
    """Known anomalies compared with the references and with each other: what is learned from them."""

    near: Distances  # by channel, (references,): distance of every reference to the nearest known anomaly
    away: Distances  # by channel, (known,): distances of the known anomalies to the references
    # The classifier's kernel. Labelled are the known anomalies, then normals that a review found.
    across: NDArray[np.float64]  # (references, labelled)
    among: NDArray[np.float64]  # (labelled, labelled)

    @classmethod
    def of(
        cls, known: ProfiledGraphs, rows: Mapping[str, Rows], normals: ReferenceScorer, widths: Widths
    ) -> KnownDistances:
        found, count = normals.search(known), len(known)
        near, away = {}, {}
        across, among = np.ones((len(normals.references), count)), np.ones((count, count))
        for channel in normals.channels:
            own, similar = rows[channel.name], kernel_of(channel, widths)
            weight, distances = normals.fusion.weights[channel.name], channel.compare(normals.rows(channel), own)
            near[channel.name] = distances.min(axis=1)
            away[channel.name] = normals.channel_distances(channel, own, found)
            across += weight * similar(distances)
            among += weight * similar(channel.compare(own, own))
        return cls(near, away, across, among)


@dataclass(frozen=True, eq=False)
class KnownSide:
    """What was learned from known anomalies and references."""

    nearness: Fusion  # calibrates the distances to the nearest known anomaly; its weights are v above
    weights: Mapping[str, float]  # w' above, by channel
    widths: Widths  # of the channels' kernels
    training_rows: NDArray[np.int64]  # (training rows,): places of the references that train the classifier
    coefficients: NDArray[np.float64]  # (training rows + known,)
    units: NDArray[np.float64]  # (4,): mean and deviation of F and of C over the references
    classifier_weight: float  # g above

    @classmethod
    def learn(
        cls, compared: KnownDistances, normals: ReferenceScorer, kernel: NormalKernel
    ) -> tuple[KnownSide, NDArray[np.float64]]:
        """Learn from comparisons; also the classifier's value of every reference, itself left out."""
        channels, fusion, near = normals.channels, normals.fusion, compared.near
        count = len(next(iter(compared.away.values())))
        scales = {name: float(values.std()) for name, values in near.items()}
        shrinkage = count / (count + 1)
        crowded = {name: float((values <= fusion.centres[name]).mean()) for name, values in near.items()}
        nearness = Fusion(
            {name: NEARNESS * shrinkage * (1 - share) ** 2 for name, share in crowded.items()},
            {name: float(values.mean()) for name, values in near.items()},
            {name: scale if scale > ROUNDING else 1.0 for name, scale in scales.items()},
            fusion.sharpness,
        )
        weights = {
            name: fusion.weights[name]
            * float(np.exp(shrinkage * np.clip(values.mean(), -MAX_SEPARATION, MAX_SEPARATION)))
            for name, values in fusion.calibrated(compared.away).items()
        }
        total = sum(weights.values())
        weights = {name: weight / total for name, weight in weights.items()}
        coefficients, classified, known_classified = _fit_classifier(kernel, compared, count)
        g = _classifier_weight(classified, known_classified)
        side = cls(nearness, weights, kernel.widths, kernel.training_rows, coefficients, np.zeros(4), g)
        distance = side.fused(fusion, {channel.name: channel.spacing for channel in channels}, near)
        units = np.array([distance.mean(), _deviation(distance), classified.mean(), _deviation(classified)])
        return replace(side, units=units), classified

    def pull(self, channel: AnyChannel, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """What one channel's distances to the training rows, (rows, training rows), add to the classifier, (rows,)."""
        coefficients = self.coefficients[: len(self.training_rows)]
        return row_sums(kernel_of(channel, self.widths)(distances) * coefficients)

    def _rule(self, fusion: Fusion) -> Fusion:
        return Fusion(self.weights, fusion.centres, fusion.scales, fusion.sharpness)

    def _net(self, fusion: Fusion, distances: Distances, near: Distances) -> dict[str, NDArray[np.float64]]:
        away, towards = fusion.calibrated(distances), self.nearness.calibrated(near)
        return {name: away[name] - self.nearness.weights[name] * towards[name] for name in away}

    def fused(self, fusion: Fusion, distances: Distances, near: Distances) -> NDArray[np.float64]:
        """F above."""
        return self._rule(fusion).combine(self._net(fusion, distances, near))

    def combined(self, distance: NDArray[np.float64], classified: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score from F and C."""
        centre, scale, middle, unit = self.units
        return np.asarray(
            (1 - self.classifier_weight) * distance
            + self.classifier_weight * (centre + scale * (classified - middle) / unit)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class KnownAnomalies(KnownSide):
    """Known anomalies, ready to score against, together with the references."""

    graphs: ProfiledGraphs
    rows: Mapping[str, Rows]  # of the known anomalies, by channel

    def __len__(self) -> int:
        return len(self.graphs)

    @classmethod
    def fit(cls, known: ProfiledGraphs, normals: ReferenceScorer) -> tuple[KnownAnomalies, NDArray[np.float64]]:
        """Learn from fitted channels and the references they left out; also the scores of those references."""
        kernel = NormalKernel.fit(normals)
        rows = {channel.name: channel.encode(known) for channel in normals.channels}
        compared = KnownDistances.of(known, rows, normals, kernel.widths)
        learned, classified = KnownSide.learn(compared, normals, kernel)
        left_out = {channel.name: channel.left_out for channel in normals.channels}
        scores = learned.combined(learned.fused(normals.fusion, left_out, compared.near), classified)
        return cls(graphs=known, rows=rows, **vars(learned)), scores

    def scores(self, normals: ReferenceScorer, queries: ProfiledGraphs, found: Candidates) -> NDArray[np.float64]:
        """Scores against both sides."""
        rows = {channel.name: channel.encode(queries) for channel in normals.channels}
        distances, near, classified = self._measure(normals, rows, found)
        return self.combined(self.fused(normals.fusion, distances, near), classified)

    def parted_scores(
        self, normals: ReferenceScorer, rows: Mapping[str, Rows], found: Candidates
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], Distances]:
        """Scores of encoded queries, what each channel and the classifier add to them, and distances to the normals."""
        distances, near, classified = self._measure(normals, rows, found)
        centre, scale, middle, unit = self.units
        shared = self._channel_parts(normals.fusion, distances, near)
        scores = self.combined(self.fused(normals.fusion, distances, near), classified)
        added = self.classifier_weight * (centre + scale * (classified - middle) / unit)
        return scores, shared | {NAME: added}, distances

    def left_out_contributions(
        self, normals: ReferenceScorer, query: ProfiledGraphs, distances: Distances, scores: NDArray[np.float64]
    ) -> dict[str, NDArray[np.float64]]:
        """The same of a left-out reference by its distances to the others; the classifier has what is left."""
        near = {c.name: c.compare(c.encode(query), self.rows[c.name]).min(axis=1) for c in normals.channels}
        shared = self._channel_parts(normals.fusion, distances, near)
        return shared | {NAME: scores - sum(shared.values())}

    def _channel_parts(self, fusion: Fusion, distances: Distances, near: Distances) -> dict[str, NDArray[np.float64]]:
        parts = self._rule(fusion).split(self._net(fusion, distances, near))
        return {name: (1 - self.classifier_weight) * values for name, values in parts.items()}

    def _measure(
        self, normals: ReferenceScorer, rows: Mapping[str, Rows], found: Candidates
    ) -> tuple[Distances, Distances, NDArray[np.float64]]:
        """Distances to the normals and to the nearest known anomaly, and the classifier's value."""
        distances: dict[str, NDArray[np.float64]] = {}
        pull = np.zeros(len(next(iter(rows.values()))))
        for channel in normals.channels:
            distances[channel.name], sums = normals.kernel_sums(channel, rows[channel.name], found, self)
            pull += normals.fusion.weights[channel.name] * sums
        near = {}
        classified = pull + self.coefficients.sum()  # the constant kernel
        known = self.coefficients[len(self.training_rows) :]
        for channel in normals.channels:
            to_known = channel.compare(rows[channel.name], self.rows[channel.name])
            near[channel.name] = to_known.min(axis=1)
            classified += normals.fusion.weights[channel.name] * row_sums(
                kernel_of(channel, self.widths)(to_known) * known
            )
        return distances, near, classified

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
        near, training_rows = Fusion(nearness, centres, scales, SHARPNESS), arrays["taught"]
        learned = KnownSide(near, weights, widths, training_rows, arrays["coefficients"], units[:4], float(units[4]))
        return cls(graphs=known, rows=rows, **vars(learned))


def kernel_of(channel: AnyChannel, widths: Widths) -> Kernel:
    """Similarity from a distance: positive definite for every channel."""
    if channel.bounded:
        return lambda distances: 1 - distances
    width = widths[channel.name]
    return lambda distances: np.exp(-((distances / width) ** 2))


@dataclass(frozen=True, eq=False)
class NormalKernel:
    """The classifier's kernel among the references, which known anomalies leave as it is.

    Working it out compares all references; with it, a new known anomaly costs a comparison with each of them.
    """

    training_rows: NDArray[np.int64]  # (training rows,)
    outside: NDArray[np.int64]  # (outside,): places of the other references
    widths: Widths
    eigenvalues: NDArray[np.float64]  # (training rows,): of the kernel among them; they invert it for any ridge
    eigenvectors: NDArray[np.float64]  # (training rows, training rows)
    beyond: NDArray[np.float64]  # (outside, training rows)

    @classmethod
    def fit(cls, normals: ReferenceScorer) -> NormalKernel:
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
            kernel += normals.fusion.weights[channel.name] * kernel_of(channel, widths)(distances)
        eigenvalues, eigenvectors = np.linalg.eigh(kernel[places])
        return cls(places, outside, widths, eigenvalues, eigenvectors, kernel[outside])

    def solve(self, ridge: float, sides: NDArray[np.float64]) -> NDArray[np.float64]:
        """The inverse of the kernel among the training rows with this ridge, times some columns."""
        along = self.eigenvectors.T @ sides
        return np.asarray(self.eigenvectors @ (along.T / (self.eigenvalues + ridge)).T)

    def inverse_diagonal(self, ridge: float) -> NDArray[np.float64]:
        return np.asarray(self.eigenvectors**2 @ (1 / (self.eigenvalues + ridge)))


def _fit_classifier(
    kernel: NormalKernel, compared: KnownDistances, known: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients, and the value of every reference and of every known anomaly with itself left out.

    Ridge regression to -1 for normals and +1 for the `known` anomalies, each side weighing half. The kernel among the
    references is inverted once and bordered by the labelled graphs. The value of a left-out graph follows from the
    inverse, without a fit each; references outside the training rows are predicted as queries are.
    """
    places, outside, across = kernel.training_rows, kernel.outside, compared.across
    sides = np.where(np.arange(across.shape[1]) < known, 1.0, -1.0)
    normals = len(places) + len(sides) - known
    every = normals + known
    ridge = RIDGE * 2 * normals / every
    own = np.where(sides > 0, RIDGE * 2 * known / every, ridge)
    solved = kernel.solve(ridge, across[places])
    inverse = np.linalg.inv(compared.among + np.diag(own) - across[places].T @ solved)
    of_labelled = inverse @ (sides + solved.sum(axis=0))
    of_normals = -kernel.solve(ridge, np.ones((len(places), 1)))[:, 0] - solved @ of_labelled
    diagonal = kernel.inverse_diagonal(ridge) + ((solved @ inverse) * solved).sum(axis=1)
    values = np.empty(len(places) + len(outside))
    values[places] = -1 - of_normals / diagonal
    values[outside] = kernel.beyond @ of_normals + across[outside] @ of_labelled
    left_out = sides - of_labelled / np.diag(inverse)
    return np.concatenate([of_normals, of_labelled]), values, left_out[:known]


def _classifier_weight(references: NDArray[np.float64], known: NDArray[np.float64]) -> float:
    """g from the left-out values of both sides."""
    ordered, count = np.sort(references), len(known)
    wins = (np.searchsorted(ordered, known, "left") + np.searchsorted(ordered, known, "right")).sum()
    auroc = (wins / (2 * len(ordered)) + IMAGINED) / (count + IMAGINED)
    return float(np.clip(4 * auroc - 2, 0, 1)) * count / (count + CLASSIFIER_HALF_WEIGHT)


def row_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of every row in one order, whatever the layout in memory: equal bits alone and among others."""
    return np.asarray(np.ascontiguousarray(table).sum(axis=1))


def _deviation(values: NDArray[np.float64]) -> float:
    deviation = float(values.std())
    return deviation if deviation > 1e-9 else 1.0
