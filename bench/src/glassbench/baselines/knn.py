"""Training-free rows: mean distance to the five nearest normal graphs in sizes, content, structure or WL histograms.

Paper: none; any detector has to beat these. WL is of Shervashidze et al., "Weisfeiler-Lehman Graph Kernels", JMLR 2011.
Usage: ``SizeKNN().fit(normals).decision_function(graphs)``, or ``glassbench single --methods size-knn,structure-knn``.
Promise: nothing is trained or tuned; a graph is scored alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator

from glassbench.baselines.histograms import Histograms, refuse_other_labels, subtree_histograms
from graphglass.channels.nearest_references import smallest_mean
from graphglass.channels.tables.composition import count_table
from graphglass.errors import InputError, NotFittedError, ParameterError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import columns_of
from graphglass.structure.profile import AGGREGATE_NAMES, SKETCH_NAMES, profile

_BLOCK = 1024  # queries compared with all references at a time

# Counts that span orders of magnitude are compared as ratios.
_LOGGED = ("nodes", "edges", "triangles", "four_cycles", "components", "motif_density")
_DEGREES = 10  # shares of degree 0 to 9, and of all higher ones
_SKETCH = ("lambda_2", "lambda_9", "rayleigh_q10", "rayleigh_q50", "rayleigh_q90")


class NearestNormals(BaseEstimator, ABC):  # type: ignore[misc]
    """Mean distance to the `k` nearest references; subclasses say what a graph looks like and what distance means."""

    def __init__(self, k: int = 5) -> None:
        if k < 1:
            raise ParameterError(type(self).__name__, "k", "a positive integer", k)
        self.k = k

    def fit(self, graphs: GraphSet) -> Self:
        """Keep the normal graphs as references."""
        if not len(graphs):
            raise InputError(f"{type(self).__name__}.fit needs at least one normal graph, found none.")
        self._remember(graphs)
        return self

    def decision_function(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Mean distance to the `k` nearest references, (graphs,); fewer references than `k` are all used."""
        if not hasattr(self, "_references"):
            raise NotFittedError(f"{type(self).__name__} has no references yet: call fit first.")
        blocks = [self._distances(graphs[i : i + _BLOCK]) for i in range(0, len(graphs), _BLOCK)]
        return np.concatenate([smallest_mean(block, self.k) for block in blocks] or [np.zeros(0)])

    @abstractmethod
    def _remember(self, graphs: GraphSet) -> None:
        """Keep what the references look like."""

    @abstractmethod
    def _distances(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Of every graph to every reference, (graphs, references)."""


class _Tabular(NearestNormals):
    """Euclidean distance between feature rows standardised by the references."""

    @abstractmethod
    def _features(self, graphs: GraphSet) -> NDArray[np.float64]:
        """One row per graph."""

    def _remember(self, graphs: GraphSet) -> None:
        rows = self._features(graphs)
        spread = rows.std(axis=0)
        # A feature constant among the references keeps its unit: a query that differs there is still far away.
        self._centre, self._spread = rows.mean(axis=0), np.where(spread > 1e-9, spread, 1.0)
        self._references = (rows - self._centre) / self._spread

    def _distances(self, graphs: GraphSet) -> NDArray[np.float64]:
        distances: NDArray[np.float64] = cdist((self._features(graphs) - self._centre) / self._spread, self._references)
        return distances


class SizeKNN(_Tabular):
    """Counting alone: log nodes and log edges, standardised by the references."""

    def _features(self, graphs: GraphSet) -> NDArray[np.float64]:
        return np.log1p(np.column_stack([graphs.sizes, graphs.edge_counts]).astype(np.float64))


class StructureKNN(_Tabular):
    """Twenty-two structural features (17 aggregates, five of the spectral sketch) and the node-label histogram."""

    def _remember(self, graphs: GraphSet) -> None:
        labels = graphs.node_labels
        self._labels = np.unique(labels) if labels is not None else np.zeros(0, np.int64)
        super()._remember(graphs)

    def _features(self, graphs: GraphSet) -> NDArray[np.float64]:
        described = profile(graphs)
        aggregates = described.aggregates.copy()
        logged = [AGGREGATE_NAMES.index(name) for name in _LOGGED]
        aggregates[:, logged] = np.log1p(aggregates[:, logged])
        sketch = described.sketch[:, [SKETCH_NAMES.index(name) for name in _SKETCH]]
        return np.hstack([aggregates, sketch, self._label_shares(graphs)])

    def _label_shares(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Share of nodes with each reference label and, last, with any other, (graphs, labels + 1)."""
        refuse_other_labels(self, len(self._labels) > 0, graphs)
        if graphs.node_labels is None:
            return np.zeros((len(graphs), 0))
        columns = columns_of(graphs.node_labels, self._labels)
        counts = count_table(graphs.node_graph, columns, len(self._labels) + 1, len(graphs))
        return counts / graphs.sizes[:, None]


class BagKNN(StructureKNN):
    """What a graph is made of, without its structure beyond degrees.

    Log size, shares of degrees and node labels; mean, deviation, minimum and maximum of every attribute.

    Columns are standardised by the references; the score is the mean Euclidean distance to the `k` nearest.
    """

    def _features(self, graphs: GraphSet) -> NDArray[np.float64]:
        sizes = np.log1p(np.column_stack([graphs.sizes, graphs.edge_counts]).astype(np.float64))
        degrees = np.minimum(np.diff(graphs.neighbour_offsets), _DEGREES)
        shares = count_table(graphs.node_graph, degrees, _DEGREES + 1, len(graphs)) / graphs.sizes[:, None]
        parts = [sizes, shares, self._label_shares(graphs)]
        if graphs.attributes is not None and graphs.attributes.shape[1]:
            values, starts = graphs.attributes.astype(np.float64), graphs.node_offsets[:-1]
            mean = np.add.reduceat(values, starts) / graphs.sizes[:, None]
            square = np.add.reduceat((values - mean[graphs.node_graph]) ** 2, starts) / graphs.sizes[:, None]
            extremes = [extreme.reduceat(values, starts) for extreme in (np.minimum, np.maximum)]
            parts += [mean, np.sqrt(square), *extremes]
        return np.hstack(parts)


def bag_rows(references: GraphSet, *others: GraphSet) -> list[NDArray[np.float64]]:
    """The features of :class:`BagKNN`, not standardised, of the references and of further sets."""
    bag = BagKNN().fit(references)
    return [bag._features(graphs) for graphs in (references, *others)]


class WLCosineKNN(NearestNormals):
    """One minus the cosine of Weisfeiler-Lehman subtree histograms over rounds 0..`rounds`.

    Unlabelled graphs start from `unlabelled`: the degree or one constant colour.
    """

    def __init__(self, k: int = 5, rounds: int = 3, unlabelled: str = "degree") -> None:
        super().__init__(k)
        if rounds < 0:
            raise ParameterError("WLCosineKNN", "rounds", "zero or more", rounds)
        if unlabelled not in ("degree", "constant"):
            raise ParameterError("WLCosineKNN", "unlabelled", "'degree' or 'constant'", unlabelled)
        self.rounds, self.unlabelled = rounds, unlabelled

    def _histograms(self, graphs: GraphSet, vocabulary: NDArray[np.uint64] | None) -> Histograms:
        return subtree_histograms(graphs, self.rounds, vocabulary, unlabelled=self.unlabelled)

    def _remember(self, graphs: GraphSet) -> None:
        self._labelled = graphs.node_labels is not None
        self._references = self._histograms(graphs, None)

    def _distances(self, graphs: GraphSet) -> NDArray[np.float64]:
        refuse_other_labels(self, self._labelled, graphs)
        return 1.0 - self._histograms(graphs, self._references.vocabulary).similarities(self._references)
