"""Supervised rows: what an ordinary classifier makes of normal graphs and a few known anomalies.

They answer the question whether known anomalies are better used as references or as training labels. Features are
Weisfeiler-Lehman counts or the structural features of ``structure-knn``.

Paper: none. Usage: ``LabelledClassifier().fit(normals, anomalies=known)``, or ``glassbench known``.
Promise: the same labels that GraphGlass is given, and no others.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from glassbench.baselines.histograms import subtree_histograms
from glassbench.baselines.knn import StructureKNN
from graphglass.errors import InputError, NotFittedError, ParameterError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet

ROUNDS = 3


class LabelledClassifier(BaseEstimator):  # type: ignore[misc]
    """Normal graphs against known anomalies, classes weighted equally.

    Parameters
    ----------
    features : {"wl", "structure"}
        Weisfeiler-Lehman counts of unit length, or standardised structural features.
    classifier : {"logistic", "svm"}
        Logistic regression (C = 0.1 on structure, 10 on WL counts), or a support vector machine (C = 10; linear on WL
        counts, radial on structure).
    """

    def __init__(self, features: str = "wl", classifier: str = "logistic") -> None:
        if features not in ("wl", "structure"):
            raise ParameterError("LabelledClassifier", "features", "'wl' or 'structure'", features)
        if classifier not in ("logistic", "svm"):
            raise ParameterError("LabelledClassifier", "classifier", "'logistic' or 'svm'", classifier)
        self.features, self.classifier = features, classifier

    def fit(self, graphs: GraphSet, anomalies: GraphSet | None = None) -> Self:
        """Train on normal graphs and at least one known anomaly."""
        if not len(graphs) or anomalies is None or not len(anomalies):
            raise InputError("LabelledClassifier.fit needs normal graphs and at least one known anomaly.")
        together = concatenate([graphs, anomalies])
        truth = np.repeat([0, 1], [len(graphs), len(anomalies)])
        if self.features == "wl":
            self._vocabulary = subtree_histograms(together, ROUNDS, None).vocabulary
        else:
            self._structure = StructureKNN().fit(together)
            self._scale = StandardScaler().fit(self._structure._features(together))
        weight = 10.0 if self.features == "wl" else 0.1
        if self.classifier == "logistic":
            self._model: Any = LogisticRegression(C=weight, class_weight="balanced", max_iter=2000)
        else:
            kernel = "linear" if self.features == "wl" else "rbf"
            self._model = SVC(C=10.0, kernel=kernel, class_weight="balanced")
        self._model.fit(self._rows(together), truth)
        return self

    def decision_function(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Signed distance to the boundary, (graphs,); higher is more like the known anomalies."""
        if not hasattr(self, "_model"):
            raise NotFittedError("LabelledClassifier is not trained yet: call fit first.")
        scores: NDArray[np.float64] = self._model.decision_function(self._rows(graphs))
        return scores

    def _rows(self, graphs: GraphSet) -> Any:
        if self.features == "wl":
            found = subtree_histograms(graphs, ROUNDS, self._vocabulary)
            rows = found.counts.multiply(1.0 / np.maximum(found.norms, 1.0)[:, None]).tocsr()
            # libsvm reads 32-bit indices only.
            return csr_array((rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), rows.shape)
        return self._scale.transform(self._structure._features(graphs))
