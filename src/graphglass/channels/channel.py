"""What a channel is: one way to compare a graph with the normal references."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.nearest_references import (
    CandidateSearch,
    R,
    left_out_means,
    local_scales,
    nearest_means,
    neighbourhood,
    shrunk_scaling,
    smallest_mean,
)
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.unmatched import Nearest, Unmatched

State = dict[str, NDArray[Any]]
ROWS = 1024  # rows compared with their candidates at a time


class Channel(ABC, Generic[R]):
    """Encodes graphs to rows and compares rows; a graph's distance is the mean to its k nearest references.

    A subclass defines what it learns from the references (:meth:`learn`), how graphs become rows (:meth:`encode`) and
    how distant two rows are (:meth:`compare`). A query's distance never depends on the other queries.

    Parameters
    ----------
    name : str
        ``family`` or ``family:member``.
    k_divisor : float
        Sets k, see :func:`~graphglass.channels.nearest_references.neighbourhood`.
    local_scaling : float
        Power of the references' local scale that distances are divided by, see
        :func:`~graphglass.channels.nearest_references.local_scales`.

    Attributes
    ----------
    references : rows of the references, None before `fit` and where the references lack what the channel reads
    spacing : float64 (references,)
        Distance of every reference to the others, by which the fusion is calibrated; of very many, of a fixed sample.
    left_out : float64 (references,)
        The same as a new graph would be measured, in the units of the others alone (eq:loo_score).
    reference_scales : float64 (references,)
        What distances to each reference are divided by.
    """

    def __init__(self, name: str, *, k_divisor: float, local_scaling: float) -> None:
        self.name, self.k_divisor, self.local_scaling = name, k_divisor, local_scaling
        self.references = cast(R, None)
        self.spacing = self.left_out = np.zeros(0)
        self.reference_scales = np.ones(0)

    @abstractmethod
    def learn(self, references: ProfiledGraphs) -> R | None:
        """Learn what encoding depends on; the references' rows, None if they lack what the channel reads."""

    @abstractmethod
    def encode(self, graphs: ProfiledGraphs) -> R:
        """Rows of graphs that carry what the references carry."""

    @abstractmethod
    def compare(self, rows: R, others: R) -> NDArray[np.float64]:
        """Distances, (rows, others); they do not depend on which side a row is on."""

    @abstractmethod
    def compare_each(self, rows: R, others: R, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances of every row to the others at its own places, (rows, places per row)."""

    @abstractmethod
    def similarity(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """A distance as a similarity between 0 and 1, for people."""

    def unmatched(self, query: ProfiledGraphs, near: Nearest) -> Unmatched:
        """What of one query its nearest references lack; by default nothing that a node or an edge shows."""
        return Unmatched.whole(query.graphs)

    @abstractmethod
    def state(self) -> State:
        """What `learn` found and the references' rows, as plain arrays."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """The inverse of `state`."""

    @property
    @abstractmethod
    def bounded(self) -> bool:
        """Whether one minus the distance is a kernel."""

    @property
    def has_data(self) -> bool:
        """Whether the references carry what this channel reads."""
        return self.references is not None

    @property
    def family(self) -> str:
        return self.name.partition(":")[0]

    @property
    def k(self) -> int:
        """Neighbours averaged."""
        return neighbourhood(len(self.reference_scales), self.k_divisor)

    def fit(self, references: ProfiledGraphs) -> None:
        """Remember the references and how far they lie from each other."""
        rows = self.learn(references)
        self.references = cast(R, rows)
        self.reference_scales = np.ones(len(references))
        self.spacing = np.zeros(len(references))
        if rows is not None:
            found = left_out_means(self.compare, rows, self.k, self.local_scaling)
            self.spacing, self.reference_scales = found
        self.left_out = self.spacing

    def fit_among(self, references: ProfiledGraphs, search: CandidateSearch) -> None:
        """As :meth:`fit` for very many references, each compared with its candidates alone.

        All references give the rows and their local scales; those of a fixed sample get a leave-one-out
        distance.
        """
        rows = self.learn(references)
        self.references = cast(R, rows)
        self.reference_scales = np.ones(len(references))
        self.left_out = self.spacing = np.zeros(len(search.calibrated))
        if rows is None:
            return
        if self.local_scaling:
            plain = np.empty(len(references))
            for first in range(0, len(references), ROWS):
                around = search.around[first : first + ROWS].astype(np.int64)
                plain[first : first + ROWS] = smallest_mean(
                    self.compare_each(rows[first : first + ROWS], rows, around), self.k
                )
            self.reference_scales = local_scales(plain, shrunk_scaling(self.local_scaling, len(references)))
        self.spacing = self.distances_among(self.encode(references[search.calibrated]), search.left_out)
        self.left_out = self.spacing

    def distances_among(self, rows: R, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """As :meth:`distances`, with the nearest references taken from each row's candidates, (rows,)."""
        means = np.empty(len(rows))
        for first in range(0, len(rows), ROWS):
            places = candidates[first : first + ROWS]
            block = self.compare_each(rows[first : first + ROWS], self.references, places)
            means[first : first + ROWS] = smallest_mean(block / self.reference_scales[places], self.k)
        return means

    def distances(self, rows: R, also: Callable[[int, NDArray[np.float64]], None] | None = None) -> NDArray[np.float64]:
        """Mean distance of every row to its k nearest references, (rows,).

        ``also`` gets every block of plain distances and the number of its first row, so no pair is compared twice.
        """

        def metric(first: int, last: int) -> NDArray[np.float64]:
            block = self.compare(rows[first:last], self.references)
            if also is not None:
                also(first, block)
            return block

        return nearest_means(metric, len(rows), self.k, self.reference_scales)

    def saved(self) -> State:
        """Everything `fit` learned; a channel without data saves nothing."""
        if not self.has_data:
            return {}
        found = {"left_out": self.left_out, "units": self.reference_scales, **self.state()}
        return found if self.spacing is self.left_out else {"spacing": self.spacing, **found}

    def load(self, saved: State, references: ProfiledGraphs) -> None:
        """The inverse of :meth:`saved`."""
        self.left_out, self.reference_scales = np.zeros(len(references)), np.ones(len(references))
        if saved:
            self.left_out, self.reference_scales = saved["left_out"], saved["units"]
            self.restore(saved)
        self.spacing = saved.get("spacing", self.left_out)


AnyChannel: TypeAlias = Channel[Any]  # one of a mixed collection, whose rows are its own
