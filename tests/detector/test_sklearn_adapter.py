import numpy as np
import pytest
from sklearn.base import clone, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

from graphglass import GLASS, GraphGlass
from graphglass.detector import indexed_scorer
from graphglass.detector.sklearn_adapter import SklearnDetector
from graphglass.errors import InputError

# The checks that do not feed a numeric matrix: what scikit-learn asks of parameters, cloning, tags and representation.
CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("estimator", [SklearnDetector, GLASS])
def test_scikit_learn_checks(check, estimator):
    getattr(estimator_checks, check)(estimator.__name__, estimator())


def test_signs_are_opposite(fitted, queries):
    adapter = fitted.as_sklearn()
    assert is_outlier_detector(adapter)
    assert np.array_equal(adapter.score_samples(queries), -fitted.decision_function(queries))
    assert np.array_equal(adapter.predict(queries) == -1, fitted.predict(queries) == 1)
    assert np.array_equal(adapter.decision_function(queries) < 0, adapter.predict(queries) == -1)


def test_fit_in_scikit_learn_style(normals, queries):
    adapter = clone(SklearnDetector(GraphGlass())).fit(normals)
    assert adapter.predict(queries).shape == (len(queries),)
    assert set(adapter.fit_predict(normals)) == {-1, 1}


def test_the_offset_follows_the_detector(normals, queries):
    detector = GraphGlass().fit(normals)
    adapter = detector.as_sklearn()
    detector.add_anomalies(queries[-5:])
    assert adapter.offset_ == -detector.threshold_
    assert np.array_equal(adapter.predict(queries) == -1, detector.predict(queries) == 1)


def test_fit_predict_refuses_a_set_too_large_to_judge_every_graph(normals, monkeypatch):
    monkeypatch.setattr(indexed_scorer, "EXACT_UP_TO", 20)
    monkeypatch.setattr(indexed_scorer, "CALIBRATED", 10)
    with pytest.raises(InputError, match="needs a leave-one-out score of every graph"):
        SklearnDetector().fit_predict(normals)


def test_unfitted(queries):
    with pytest.raises(NotFittedError):
        SklearnDetector().predict(queries)
