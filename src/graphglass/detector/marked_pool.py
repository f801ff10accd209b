"""Graphs under review, ranked by marks on both sides; a mark is an increment.

A graph marked as an anomaly becomes a known anomaly (:mod:`graphglass.detector.known_anomalies`). One marked as normal
becomes a reference: distances to the normals shrink around it, and the classifier learns it as normal.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.fusion import ROUNDING
from graphglass.channels.nearest_references import Rows, shrunk_scaling
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.known_anomalies import KnownDistances, KnownSide, kernel_of, row_sums
from graphglass.detector.scorer import ReferenceScorer

LEAST_SCALE = 0.1  # of a new reference's surroundings, relative to the references' mean


class MarkedPool:
    """Graphs compared with the references once, and with every marked graph when it is marked.

    Parameters
    ----------
    graphs : ProfiledGraphs
    scorer : ReferenceScorer
        Its known anomalies, if any, are known from the start.
    equal : int64 (graphs,)
        The reference that a graph equals, -1 for none: it is compared with the others, as it is without marks.
    """

    def __init__(self, graphs: ProfiledGraphs, scorer: ReferenceScorer, equal: NDArray[np.int64]) -> None:
        self._scorer, self._kernel = scorer, scorer.normal_kernel
        found, channels = scorer.search(graphs), scorer.channels
        self._rows: dict[str, Rows] = {channel.name: channel.encode(graphs) for channel in channels}
        self._references = {channel.name: scorer.rows(channel) for channel in channels}
        self._distances = {c.name: scorer.channel_distances(c, self._rows[c.name], found) for c in channels}
        for place in np.flatnonzero(equal >= 0).tolist():
            left_out = scorer.left_out_distances(graphs[[place]], int(equal[place]))
            for name, values in left_out.items():
                self._distances[name][place] = values[0]
        self._similar = np.ones((len(graphs), len(self._kernel.training_rows)))
        for channel in channels:
            near = scorer.distances_to(channel, self._rows[channel.name], self._kernel.training_rows)
            self._similar += scorer.fusion.weights[channel.name] * kernel_of(channel, self._kernel.widths)(near)
        self.clear()

    def clear(self) -> None:
        """Forget all marks."""
        count, references = len(self._similar), len(self._scorer.references)
        self.anomalies: list[int] = []
        self.normals: list[int] = []
        self._near = {name: np.full(references, np.inf) for name in self._rows}
        self._near_in_pool = {name: np.full(count, np.inf) for name in self._rows}
        self._nearest = {c.name: np.repeat(self._distances[c.name][:, None], c.k, 1) for c in self._scorer.channels}
        # Of the kernel, a column for every graph that became known or a reference.
        self._across: dict[int, NDArray[np.float64]] = {}
        self._in_pool: dict[int, NDArray[np.float64]] = {}
        self._before: KnownDistances | None = None
        self._before_in_pool = np.zeros((count, 0))
        if (known := self._scorer.known) is not None:
            self._before = KnownDistances.of(known.graphs, known.rows, self._scorer, self._kernel.widths)
            self._before_in_pool = self._compare(known.rows, anomalous=True)[1].T

    def add_anomaly(self, place: int) -> None:
        """The graph at this place is a known anomaly."""
        across, in_pool = self._compare(self._row(place), anomalous=True)
        self._across[place], self._in_pool[place] = across[0], in_pool[0]
        self.anomalies.append(place)

    def add_normal(self, place: int) -> None:
        """The graph at this place is a reference.

        Where it is nearer than a graph's neighbours are on average, it takes the place of one of them.
        """
        fusion = self._scorer.fusion
        across, in_pool = self._compare(self._row(place), anomalous=False)
        self._across[place], self._in_pool[place] = across[0], in_pool[0]
        for channel in self._scorer.channels:
            name = channel.name
            before, middle = self._distances[name], fusion.centres[name]
            power = shrunk_scaling(channel.local_scaling, len(channel.reference_scales))
            scale = max(before[place] / middle, LEAST_SCALE) ** power if middle > ROUNDING else 1.0
            to_new = channel.compare(self._row(place)[name], self._rows[name])[0] / scale
            grown = np.column_stack([self._nearest[name], np.minimum(to_new, before)])
            self._nearest[name] = np.sort(grown, axis=1)[:, : channel.k]
        self.normals.append(place)

    def scores(self, *, normals: bool = True) -> NDArray[np.float64]:
        """Scores of all graphs; without `normals`, those that became references are left out."""
        fusion, known = self._scorer.fusion, self._before_in_pool.shape[1] + len(self.anomalies)
        references = self.normals if normals else []
        distances = self._with_normals() if references else self._distances
        if not known:
            return fusion.scores(distances)
        labelled = [*self.anomalies, *references]
        side, _ = KnownSide.learn(self._compared(labelled), self._scorer, self._kernel)
        count = len(self._kernel.training_rows)
        classified = self._similar @ side.coefficients[:count] + self._columns(labelled) @ side.coefficients[count:]
        return side.combined(side.fused(fusion, distances, self._near_in_pool), classified)

    def _row(self, place: int) -> dict[str, Rows]:
        return {name: rows[place : place + 1] for name, rows in self._rows.items()}

    def _compare(self, rows: Mapping[str, Rows], *, anomalous: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The kernel between rows and the references, and the pool; anomalies also draw what is near them."""
        across = in_pool = np.ones(1)
        for channel in self._scorer.channels:
            name, similar = channel.name, kernel_of(channel, self._kernel.widths)
            weight = self._scorer.fusion.weights[name]
            to_references = channel.compare(rows[name], self._references[name])
            to_pool = channel.compare(rows[name], self._rows[name])
            across, in_pool = across + weight * similar(to_references), in_pool + weight * similar(to_pool)
            if anomalous:
                self._near[name] = np.minimum(self._near[name], to_references.min(axis=0))
                self._near_in_pool[name] = np.minimum(self._near_in_pool[name], to_pool.min(axis=0))
        return across, in_pool

    def _columns(self, labelled: list[int]) -> NDArray[np.float64]:
        return np.column_stack([self._before_in_pool, *(self._in_pool[place] for place in labelled)])

    def _compared(self, labelled: list[int]) -> KnownDistances:
        """What is known of the labelled graphs, those known before included."""
        across = np.column_stack([self._across[place] for place in labelled])
        away = {name: values[self.anomalies] for name, values in self._distances.items()}
        columns = self._columns(labelled)[labelled]
        if self._before is None:
            return KnownDistances(self._near, away, across, columns)
        before = self._before
        among = np.block([[before.among, columns[:, : len(before.among)].T], [columns]])
        away = {name: np.concatenate([before.away[name], values]) for name, values in away.items()}
        return KnownDistances(self._near, away, np.column_stack([before.across, across]), among)

    def _with_normals(self) -> dict[str, NDArray[np.float64]]:
        """Distances to the references where the graphs marked as normal are among them."""
        return {name: row_sums(nearest) / nearest.shape[1] for name, nearest in self._nearest.items()}
