"""Graph kernels with classical detectors: PK-SVM, PK-iF, WL-SVM and WL-iF, all inductive.

A graph is scored alone, by its kernel row against the references: the one-class SVM reads the row as kernel values, the
isolation forest as features.

Papers: Neumann et al., "Propagation Kernels", Machine Learning 2016; Shervashidze et al., "Weisfeiler-Lehman Graph
Kernels", JMLR 2011.
Usage: ``WLSVM().fit(normals).decision_function(graphs)``, or ``glassbench single --methods wl-svm``.
Promise: equal to GraKeL's kernels (tested); published rows often fit the kernel on the test graphs, these never do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

from glassbench.baselines.histograms import Histograms, histograms, refuse_other_labels, subtree_histograms
from graphglass.channels.tables.feature_maps import neighbour_mean
from graphglass.errors import InputError, NotFittedError
from graphglass.graphs.graph_set import GraphSet

_BLOCK = 1024  # graphs whose kernel rows are held at a time
_FARTHEST = 2.0**56  # a Cauchy direction can be arbitrarily large; bins beyond this are one

Projection = Callable[[NDArray[np.int64], int], NDArray[np.float64]]


class _KernelDetector(ABC):
    """Kernel rows against the references, handed to a scikit-learn detector."""

    def __init__(self, head: OneClassSVM | IsolationForest, **kernel: Any) -> None:
        self._head, self._kernel = head, kernel
        self._references: Histograms | None = None

    def get_params(self) -> dict[str, object]:
        """The settings of kernel and detector, by name."""
        shown = ("nu", "n_estimators", "max_samples")
        return self._kernel | {key: value for key, value in self._head.get_params().items() if key in shown}

    @abstractmethod
    def _histograms(self, graphs: GraphSet, vocabulary: NDArray[np.uint64] | None = None) -> Histograms:
        """What the kernel compares."""

    def fit(self, graphs: GraphSet) -> Self:
        """Fit the detector on the references' kernel matrix."""
        if not len(graphs):
            raise InputError(f"{type(self).__name__}.fit needs at least one normal graph, found none.")
        self._labelled = graphs.node_labels is not None
        self._references = self._histograms(graphs)
        self._head.fit(self._references.similarities(self._references))
        return self

    def decision_function(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Minus scikit-learn's decision value, (graphs,)."""
        if self._references is None:
            raise NotFittedError(f"{type(self).__name__} has no references yet: call fit first.")
        refuse_other_labels(self, self._labelled, graphs)
        scores = [np.zeros(0)]
        for i in range(0, len(graphs), _BLOCK):
            queries = self._histograms(graphs[i : i + _BLOCK], self._references.vocabulary)
            scores.append(-self._head.decision_function(queries.similarities(self._references)))
        return np.concatenate(scores)


class _WeisfeilerLehman(_KernelDetector):
    """The normalised WL subtree kernel; unlabelled graphs start from the degree."""

    def _histograms(self, graphs: GraphSet, vocabulary: NDArray[np.uint64] | None = None) -> Histograms:
        return subtree_histograms(graphs, self._kernel["rounds"], vocabulary)


class _Propagation(_KernelDetector):
    """The normalised propagation kernel (total variation); unlabelled graphs take the degree as label."""

    _seed: int

    def _histograms(self, graphs: GraphSet, vocabulary: NDArray[np.uint64] | None = None) -> Histograms:
        rounds, width = self._kernel["rounds"], self._kernel["width"]
        offsets = bin_offsets(self._seed, rounds, width)
        codes = propagated_codes(graphs, cauchy_projection(self._seed), offsets, width)
        return histograms(codes, graphs.node_offsets, vocabulary)


class WLSVM(_WeisfeilerLehman):
    """One-class SVM on the WL kernel."""

    def __init__(self, rounds: int = 3, nu: float = 0.1) -> None:
        super().__init__(OneClassSVM(kernel="precomputed", nu=nu), rounds=rounds)


class WLForest(_WeisfeilerLehman):
    """Isolation forest on rows of the WL kernel."""

    def __init__(self, rounds: int = 3, trees: int = 100, random_state: int = 0) -> None:
        super().__init__(IsolationForest(n_estimators=trees, random_state=random_state), rounds=rounds)


class PropagationSVM(_Propagation):
    """One-class SVM on the propagation kernel."""

    def __init__(self, rounds: int = 5, width: float = 0.01, nu: float = 0.1, random_state: int = 0) -> None:
        super().__init__(OneClassSVM(kernel="precomputed", nu=nu), rounds=rounds, width=width)
        self._seed = random_state


class PropagationForest(_Propagation):
    """Isolation forest on rows of the propagation kernel."""

    def __init__(self, rounds: int = 5, width: float = 0.01, trees: int = 100, random_state: int = 0) -> None:
        forest = IsolationForest(n_estimators=trees, random_state=random_state)
        super().__init__(forest, rounds=rounds, width=width)
        self._seed = random_state


def propagated_codes(
    graphs: GraphSet, projection: Projection, offsets: NDArray[np.float64], width: float = 0.01
) -> NDArray[np.uint64]:
    """Bins of the propagated label distributions (Neumann et al. 2016, total variation), (rounds, nodes).

    Round t hashes the row of ``T^t P`` of each node, where P is the one-hot label matrix and T the random walk. The
    hash is linear in the row before it is floored, so the scalar ``P u`` is propagated instead of the matrix:
    the label vocabulary never appears, and labels that no reference has need no special case. `projection` gives the
    random direction u of a round, read at each node's label; `offsets`, (rounds,), shift the bins, which have `width`.
    """
    labels = graphs.node_labels
    if labels is None:  # unlabelled graphs: the degree is the label
        labels = np.diff(graphs.neighbour_offsets)
    adjacency = graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours
    codes = np.empty((len(offsets), graphs.node_count), np.uint64)
    for t, shift in enumerate(offsets):
        values = projection(labels, t)
        for _ in range(t):
            values = neighbour_mean(values[:, None], *adjacency)[:, 0]
        bins = np.clip(np.floor((values + shift) / width), -_FARTHEST, _FARTHEST).astype(np.int64)
        codes[t] = (bins * len(offsets) + t).view(np.uint64)  # no two rounds share a code
    return codes


def cauchy_projection(seed: int) -> Projection:
    """Standard Cauchy directions that depend on (seed, round, label) alone, so any label can be projected any time."""

    def project(labels: NDArray[np.int64], t: int) -> NDArray[np.float64]:
        present, places = np.unique(labels, return_inverse=True)
        unsigned = present.astype(np.uint64).tolist()
        values = [np.random.default_rng([seed, t, label]).standard_cauchy() for label in unsigned]
        return np.array(values)[places]

    return project


def bin_offsets(seed: int, rounds: int, width: float) -> NDArray[np.float64]:
    """Uniform shifts in [0, width), one per round."""
    return np.random.default_rng([seed, 0x5EED]).uniform(0.0, width, rounds)
