"""Channels over tables of features: one row per graph, compared in the units of the references."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel, State
from graphglass.channels.nearest_references import nearest_means
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import FeatureMap
from graphglass.channels.tables.scaling import (
    ROWS,
    NormalScores,
    Standardised,
    Whitening,
    left_out_squares,
    nearest_distances,
    squared_distances,
    squared_distances_each,
    squared_lengths,
    unit_rows,
)
from graphglass.channels.unmatched import ROUNDING, Nearest, Unmatched
from graphglass.files.disk_arrays import disk_zeros

WIDEST = 3e38  # near the end of single precision; larger values are cut off here
LEARNED = "features_"


class TableChannel(Channel[NDArray[np.float32]]):
    """Distance between rows in units of the references.

    Parameters
    ----------
    name : str
    features : FeatureMap
    whitened : bool
        Compare directions on the sphere after whitening instead of Euclidean distances. Every principal direction of
        the references then has the same weight, and it counts which way a graph departs from the average reference,
        not how far.
    standardised : bool
        Columns in deviations of the references instead of normal scores: counts and values, whose extremes among the
        references are as telling as those past them.
    k_divisor, local_scaling : float
        See :class:`~graphglass.channels.channel.Channel`.
    """

    def __init__(
        self,
        name: str,
        features: FeatureMap,
        *,
        whitened: bool = False,
        standardised: bool = False,
        k_divisor: float = 10.0,
        local_scaling: float = 0.5,
    ) -> None:
        super().__init__(name, k_divisor=k_divisor, local_scaling=local_scaling)
        self.features = features
        self.whitened, self.standardised = whitened, standardised
        self._scores: NormalScores | Standardised

    @property
    def bounded(self) -> bool:
        return self.whitened  # one minus the distance is the cosine

    def learn(self, references: ProfiledGraphs) -> NDArray[np.float32] | None:
        self.features.fit(references)
        return self._scale(self._raw(references))

    def fit(self, references: ProfiledGraphs) -> None:
        """As for every channel; a left-out reference is measured in the units that the others give it.

        Each reference influences the scale. Measured in it, the reference would lie closer to the others than
        a new normal graph does, the more so the fewer there are. Directions after whitening hardly depend on it.
        """
        super().fit(references)
        count = len(references)
        if not self.has_data or self.whitened or count < 2:
            return
        learned = self._scores.left_out(self._table)

        def metric(first: int, last: int) -> NDArray[np.float64]:
            if isinstance(learned, tuple):
                block = self._distance(left_out_squares(self.references, *learned, first, last))
            else:
                block = self.compare(learned[first:last], self.references)
            np.fill_diagonal(block[:, first:], np.inf)  # itself
            return block

        self.left_out = nearest_means(metric, count, min(self.k, count - 1), self.reference_scales)

    def encode(self, graphs: ProfiledGraphs) -> NDArray[np.float32]:
        return self._in_units(self._raw(graphs))

    def _raw(self, graphs: ProfiledGraphs) -> NDArray[np.float32]:
        return _joined((rounded(self.features.table(part)) for part in graphs.parts()), len(graphs))

    def _in_units(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        rows = self._scores(table)
        return unit_rows(self._whitening(rows)) if self.whitened else rows

    def compare(self, rows: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float64]:
        return self._distance(squared_distances(rows, others))

    def distances(
        self, rows: NDArray[np.float32], also: Callable[[int, NDArray[np.float64]], None] | None = None
    ) -> NDArray[np.float64]:
        if also is not None:
            return super().distances(rows, also)
        best = nearest_distances(
            rows, self.references, self._lengths, self.reference_scales, self.k, whitened=self.whitened
        )
        return np.asarray(best.mean(axis=1))

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        return squared_lengths(self.references)

    def compare_each(
        self, rows: NDArray[np.float32], others: NDArray[np.float32], places: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        return self._distance(squared_distances_each(rows, others, places))

    def _distance(self, squares: NDArray[np.float32]) -> NDArray[np.float64]:
        wide = squares.astype(np.float64)
        return wide / 2 if self.whitened else np.sqrt(wide)

    def similarity(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Half of one plus the cosine, or a Gaussian of the root mean square difference in reference deviations."""
        if self.whitened:
            return np.clip(1 - distances / 2, 0, 1)
        return np.asarray(np.exp(-(distances**2) / (2 * self._table.shape[1])))

    def unmatched(self, query: ProfiledGraphs, near: Nearest) -> Unmatched:
        if not self.standardised:
            return Unmatched.whole(query.graphs)
        off = (self.encode(query)[0] - near.weights @ self.references[near.places]).astype(np.float64)
        past, short = (np.where(side > ROUNDING, side, 0.0) ** 2 for side in (off, -off))
        return self.features.unmatched(query, near, past, short)

    def state(self) -> State:
        learned = {f"{LEARNED}{name}": value for name, value in self.features.state().items()}
        return {"table": self._table, **learned}

    def restore(self, state: State) -> None:
        self.features.restore({k.removeprefix(LEARNED): v for k, v in state.items() if k.startswith(LEARNED)})
        table = state["table"]
        parts = (table[i : i + ROWS].astype(np.float32) for i in range(0, len(table), ROWS))
        self.references = cast(NDArray[np.float32], self._scale(_joined(parts, len(table))))

    def _scale(self, table: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Learn the units of a raw reference table; its rows in those units."""
        self._table = table
        self.__dict__.pop("_lengths", None)  # of other references
        if not table.size:
            return None
        width, parts = table.shape[1], range(0, len(table), ROWS)
        self._scores = (
            Standardised(table, self.features.min_scales(width)) if self.standardised else NormalScores(table)
        )
        rows = _joined((self._scores(table[i : i + ROWS]) for i in parts), len(table))
        if not self.whitened:
            return rows
        self._whitening = Whitening(rows)
        return _joined((unit_rows(self._whitening(rows[i : i + ROWS])) for i in parts), len(table))


def _joined(parts: Iterator[NDArray[np.float32]], count: int) -> NDArray[np.float32]:
    """The rows of all parts, one after another; very many of them need not stay in memory."""
    start = next(parts)
    if len(start) == count:
        return start
    rows, first = disk_zeros((count, start.shape[1]), np.float32), 0
    for part in chain([start], parts):
        rows[first : first + len(part)] = part
        first += len(part)
    return rows


def rounded(table: NDArray[np.float64]) -> NDArray[np.float32]:
    """Drop the last digits, which depend on the order of nodes in a sum: ranks would turn them into whole steps."""
    return np.round(np.clip(table, -WIDEST, WIDEST), 9).astype(np.float32) + np.float32(0)  # no negative zeros
