"""What a scoring channel is: one way to compare a graph with the normal references."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs


class Channel(Protocol):
    """Fits on the references alone, then gives every query a distance to them.

    A query's distance never depends on the other queries. State is plain arrays, so that a model saves without pickle.
    """

    name: str
    k: int

    def fit(self, references: ProfiledGraphs) -> None:
        """Remember the references."""

    def distances(self, queries: ProfiledGraphs) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Mean distance to the k nearest references, (n,), and their indices, (n, k'), nearest first."""

    def leave_one_out(self) -> NDArray[np.float64]:
        """The same distance of every reference to the others, (references,) (eq:loo_score)."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything `fit` learned, as plain arrays."""

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """The inverse of `state`."""
