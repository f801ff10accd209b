import numpy as np
import pytest
from sklearn.base import clone, is_outlier_detector
from sklearn.utils import estimator_checks

from graphglass import GLASS, GraphGlass
from graphglass.detector import indexed_scorer
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
@pytest.mark.parametrize("estimator", [GraphGlass, GLASS])
def test_scikit_learn_checks(check, estimator):
    getattr(estimator_checks, check)(estimator.__name__, estimator())


def test_it_is_an_outlier_detector_that_can_be_cloned(fitted, queries):
    assert is_outlier_detector(fitted)
    assert clone(fitted).get_params() == fitted.get_params()
    assert np.array_equal(fitted.score_samples(queries), -fitted.decision_function(queries))


def test_fit_predict_refuses_a_set_too_large_to_judge_every_graph(normals, monkeypatch):
    monkeypatch.setattr(indexed_scorer, "EXACT_UP_TO", 20)
    monkeypatch.setattr(indexed_scorer, "CALIBRATED", 10)
    with pytest.raises(InputError, match="needs a leave-one-out score of every graph"):
        GraphGlass().fit_predict(normals)
