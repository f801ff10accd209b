"""A detector with scikit-learn's sign, for pipelines and tools that expect an OutlierMixin."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted

from graphglass.detector.graphglass import GraphGlass
from graphglass.detector.reference_detector import ReferenceDetector


class SklearnDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """An outlier detector in scikit-learn's sense around a GraphGlass or a GLASS: HIGHER means more NORMAL here.

    Parameters
    ----------
    detector : ReferenceDetector, optional
        Its settings are used for fitting; a plain ``GraphGlass()`` if absent.

    Attributes
    ----------
    detector_ : ReferenceDetector
        The fitted detector.
    offset_ : float
        ``decision_function`` is ``score_samples`` minus this; negative values are outliers.
    """

    def __init__(self, detector: ReferenceDetector | None = None) -> None:
        self.detector = detector

    @classmethod
    def around(cls, fitted: ReferenceDetector) -> SklearnDetector:
        """Wrap a detector that is fitted already."""
        adapter = cls(fitted)
        adapter.detector_ = fitted
        return adapter

    def fit(self, X: Any, y: object = None) -> Self:
        """Fit on normal graphs."""
        self.detector_ = self._unfitted().fit(X)
        return self

    @property
    def offset_(self) -> float:
        """It follows the threshold of ``detector_``, which changes with its references."""
        return -self.detector_.threshold_

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Minus the anomaly score: higher is more normal."""
        check_is_fitted(self, "detector_")
        return -self.detector_.decision_function(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Negative for outliers, positive for normal graphs."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """-1 for outliers, +1 for normal graphs."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def fit_predict(self, X: Any, y: object = None) -> NDArray[np.int64]:
        """Fit, then judge every graph by its own leave-one-out score."""
        detector = self._unfitted()
        flags = detector.fit_predict(X)
        self.detector_ = detector
        return np.where(flags == 1, -1, 1)

    def _unfitted(self) -> ReferenceDetector:
        return GraphGlass() if self.detector is None else clone(self.detector)
