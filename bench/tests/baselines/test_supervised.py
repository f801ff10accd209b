import numpy as np
import pytest

from glassbench.baselines import LabelledClassifier
from glassbench.metrics import evaluate
from glassbench.protocols import blind, split
from graphglass.errors import InputError, NotFittedError, ParameterError
from graphglass.graphs.datasets import load_dataset


@pytest.mark.parametrize("features", ["wl", "structure"])
@pytest.mark.parametrize("classifier", ["logistic", "svm"])
def test_labels_separate_the_classes(features, classifier):
    graphs = load_dataset("MUTAG")
    parts = split(graphs.labels, "minority", 0)
    odd, known = parts.test[parts.anomalous], 20
    shown = blind(graphs, np.concatenate([parts.references, odd[:known]]))
    detector = LabelledClassifier(features, classifier).fit(shown[:-known], anomalies=shown[-known:])
    test = np.setdiff1d(parts.test, odd[:known])
    scores = detector.decision_function(blind(graphs, test))
    assert evaluate(scores, graphs.labels[test] == -1)["auroc"] > 80


def test_bad_input():
    graphs = load_dataset("MUTAG").without_labels()
    with pytest.raises(InputError, match="at least one known anomaly"):
        LabelledClassifier().fit(graphs)
    with pytest.raises(NotFittedError):
        LabelledClassifier().decision_function(graphs)
    with pytest.raises(ParameterError):
        LabelledClassifier(features="words")
    with pytest.raises(ParameterError):
        LabelledClassifier(classifier="tree")
