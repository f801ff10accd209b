"""Graph kernels with classical detectors: PK-SVM, PK-iF, WL-SVM and WL-iF, all inductive.

A graph is scored alone, by its kernel row against the references: the one-class SVM reads the row as kernel values, the
isolation forest as features.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

from graphglass.baselines.histograms import Histograms, histograms, refuse_other_labels, subtree_histograms
from graphglass.baselines.propagation_kernel import bin_offsets, cauchy_projection, propagated_codes
from graphglass.errors import InputError, NotFittedError
from graphglass.graphs import GraphSet

_BLOCK = 1024  # graphs whose kernel rows are held at a time


class _Kernel(Protocol):
    def histograms(self, graphs: GraphSet, vocabulary: NDArray[np.uint64] | None = None) -> Histograms: ...

    def settings(self) -> dict[str, Any]: ...


class WeisfeilerLehman:
    """The normalised WL subtree kernel; unlabelled graphs start from the degree."""

    def __init__(self, rounds: int = 3) -> None:
        self.rounds = rounds

    def histograms(self, graphs: GraphSet, vocabulary: NDArray[np.uint64] | None = None) -> Histograms:
        """Counts of WL colours."""
        return subtree_histograms(graphs, self.rounds, vocabulary)

    def settings(self) -> dict[str, Any]:
        """The settings, by name."""
        return {"rounds": self.rounds}


class Propagation:
    """The normalised propagation kernel (total variation); unlabelled graphs take the degree as label."""

    def __init__(self, rounds: int = 5, width: float = 0.01, random_state: int = 0) -> None:
        self.rounds, self.width, self.random_state = rounds, width, random_state

    def histograms(self, graphs: GraphSet, vocabulary: NDArray[np.uint64] | None = None) -> Histograms:
        """Counts of the bins of propagated label distributions."""
        offsets = bin_offsets(self.random_state, self.rounds, self.width)
        codes = propagated_codes(graphs, cauchy_projection(self.random_state), offsets, self.width)
        return histograms(codes, graphs.node_offsets, vocabulary)

    def settings(self) -> dict[str, Any]:
        """The settings, by name."""
        return {"rounds": self.rounds, "width": self.width}


class _KernelDetector:
    """Kernel rows against the references, handed to a scikit-learn detector."""

    def __init__(self, kernel: _Kernel, head: OneClassSVM | IsolationForest) -> None:
        self._kernel, self._head = kernel, head
        self._references: Histograms | None = None

    def get_params(self) -> dict[str, Any]:
        """The settings of kernel and detector, by name."""
        shown = ("nu", "n_estimators", "max_samples")
        head = {key: value for key, value in self._head.get_params().items() if key in shown}
        return self._kernel.settings() | head

    def fit(self, graphs: GraphSet) -> Self:
        """Fit the detector on the references' kernel matrix."""
        if not len(graphs):
            raise InputError(f"{type(self).__name__}.fit needs at least one normal graph, found none.")
        self._labelled = graphs.node_labels is not None
        self._references = self._kernel.histograms(graphs)
        self._head.fit(self._references.similarities(self._references))
        return self

    def decision_function(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Minus scikit-learn's decision value, (graphs,)."""
        if self._references is None:
            raise NotFittedError(f"{type(self).__name__} has no references yet: call fit first.")
        refuse_other_labels(self, self._labelled, graphs)
        scores = [np.zeros(0)]
        for i in range(0, len(graphs), _BLOCK):
            queries = self._kernel.histograms(graphs[i : i + _BLOCK], self._references.vocabulary)
            scores.append(-self._head.decision_function(queries.similarities(self._references)))
        return np.concatenate(scores)


def _svm(nu: float) -> OneClassSVM:
    return OneClassSVM(kernel="precomputed", nu=nu)


def _forest(trees: int, random_state: int) -> IsolationForest:
    return IsolationForest(n_estimators=trees, random_state=random_state)


class WLSVM(_KernelDetector):
    """One-class SVM on the WL kernel."""

    def __init__(self, rounds: int = 3, nu: float = 0.1) -> None:
        super().__init__(WeisfeilerLehman(rounds), _svm(nu))


class WLForest(_KernelDetector):
    """Isolation forest on rows of the WL kernel."""

    def __init__(self, rounds: int = 3, trees: int = 100, random_state: int = 0) -> None:
        super().__init__(WeisfeilerLehman(rounds), _forest(trees, random_state))


class PropagationSVM(_KernelDetector):
    """One-class SVM on the propagation kernel."""

    def __init__(self, rounds: int = 5, width: float = 0.01, nu: float = 0.1, random_state: int = 0) -> None:
        super().__init__(Propagation(rounds, width, random_state), _svm(nu))


class PropagationForest(_KernelDetector):
    """Isolation forest on rows of the propagation kernel."""

    def __init__(self, rounds: int = 5, width: float = 0.01, trees: int = 100, random_state: int = 0) -> None:
        super().__init__(Propagation(rounds, width, random_state), _forest(trees, random_state))
