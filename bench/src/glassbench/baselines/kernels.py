"""Graph kernels with classical detectors: PK-SVM, PK-iF, WL-SVM and WL-iF, all inductive.

A graph is scored alone, by its kernel row against the references: the one-class SVM reads the row as kernel values, the
isolation forest as features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

from glassbench.baselines.histograms import Histograms, histograms, refuse_other_labels, subtree_histograms
from glassbench.baselines.propagation_kernel import bin_offsets, cauchy_projection, propagated_codes
from graphglass.errors import InputError, NotFittedError
from graphglass.graphs import GraphSet

_BLOCK = 1024  # graphs whose kernel rows are held at a time


class _KernelDetector(ABC):
    """Kernel rows against the references, handed to a scikit-learn detector."""

    def __init__(self, head: OneClassSVM | IsolationForest, **kernel: Any) -> None:
        self._head, self._kernel = head, kernel
        self._references: Histograms | None = None

    def get_params(self) -> dict[str, Any]:
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
