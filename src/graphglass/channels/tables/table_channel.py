"""Channels over tables of features: one row per graph, compared in the units of the references."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.nearest_references import left_out_means, nearest_means, neighbourhood
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import FeatureMap
from graphglass.channels.tables.reference_scale import NormalScores, Whitening, squared_distances, unit_rows

WIDEST = 3e38  # near the end of single precision; what lies past it is as far away as can be


class TableChannel:
    """Mean distance to the k nearest references between rows of normal scores.

    Parameters
    ----------
    name
    features : FeatureMap
    metric : "euclidean" or "whitened-cosine"
        The second gives every principal direction of the references the same weight and compares directions on the
        sphere: which way a graph departs from the average reference, not how far.
    spread : float
        Sets k, the neighbours averaged, see
        :func:`~graphglass.channels.nearest_references.neighbourhood`.
    locality : float
        Power of the references' local scale that distances are measured in, see
        :func:`~graphglass.channels.nearest_references.local_units`.
    """

    def __init__(self, name: str, features: FeatureMap, metric: str, spread: float, locality: float) -> None:
        self.name = name
        self.spread = spread
        self.k = 1
        self.features = features
        self.metric = metric
        self.locality = locality
        self._left_out, self._units = np.zeros(0), np.ones(0)
        self._place(np.zeros((0, 0)))

    @property
    def silent(self) -> bool:
        """Whether the references lack what this channel reads."""
        return self._table.shape[1] == 0

    def _place(self, table: NDArray[np.float64]) -> None:
        """Take a raw reference table and put its rows where queries will be compared with them."""
        self._table = table
        self.k = neighbourhood(len(table), self.spread)
        if not table.size:
            self._rows = np.zeros((len(table), 0))
            return
        self._scores = NormalScores(table)
        rows = self._scores(table)
        if self.metric == "whitened-cosine":
            self._whitening = Whitening(rows)
            rows = unit_rows(self._whitening(rows))
        self._rows = rows

    def _put(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.silent:
            return table
        rows = self._scores(table)
        return unit_rows(self._whitening(rows)) if self.metric == "whitened-cosine" else rows

    def _distances(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        squares = squared_distances(rows, self._rows)
        return squares / 2 if self.metric == "whitened-cosine" else np.sqrt(squares)

    def fit(self, references: ProfiledGraphs) -> None:
        self.features.fit(references)
        self._place(settled(self.features.table(references)))
        self._left_out, self._units = left_out_means(
            lambda a, b: self._distances(self._rows[a:b]), self.k, self.locality, len(references)
        )

    def distances(self, queries: ProfiledGraphs) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        rows = self._put(settled(self.features.table(queries)))
        return nearest_means(lambda a, b: self._distances(rows[a:b]), len(rows), self.k, self._units)

    def leave_one_out(self) -> NDArray[np.float64]:
        return self._left_out

    def state(self) -> dict[str, NDArray[Any]]:
        learned = {f"features_{name}": value for name, value in self.features.state().items()}
        return {"table": self._table, "units": self._units, "left_out": self._left_out, **learned}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        prefix = "features_"
        self.features.restore({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
        self._place(state["table"])
        self._left_out, self._units = state["left_out"], state["units"]


def settled(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drop the last digits, which depend on the order of nodes in a sum: ranks would turn them into whole steps."""
    return np.round(np.clip(table, -WIDEST, WIDEST), 9).astype(np.float32).astype(np.float64) + 0.0
