"""What scikit-learn users and notebooks expect: methods, cross-validation, tables."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from graphglass import GraphGlass, ReferenceDetector
from graphglass.detector.scored_graphs import SHOWN


def test_methods_have_their_usual_meaning(fitted, queries):
    scores = fitted.decision_function(queries)
    assert np.array_equal(fitted.score_samples(queries), -scores)
    proba = fitted.predict_proba(queries)
    assert proba.shape == (len(queries), 2)
    assert np.allclose(proba.sum(axis=1), 1)
    assert np.array_equal(proba[:, 0], fitted.p_values(queries))


def test_fit_predict_flags_by_leave_one_out_scores(normals):
    detector = GraphGlass(contamination=0.2)
    flags = detector.fit_predict(normals)
    assert np.array_equal(flags, detector.decision_scores_ > detector.threshold_)
    assert flags.mean() == pytest.approx(0.2, abs=0.05)


def test_cross_validation_over_a_set_and_over_a_list(mutag):
    chosen = np.random.default_rng(0).permutation(len(mutag))[:60]
    graphs, anomalous = mutag[chosen].without_labels(), (mutag.labels[chosen] != 1).astype(int)
    of_set = cross_val_score(GraphGlass(), graphs, anomalous, scoring="roc_auc", cv=3)
    of_list = cross_val_score(GraphGlass(), list(graphs), anomalous, scoring="roc_auc", cv=3)
    assert np.isfinite(of_set).all()
    assert np.array_equal(of_set, of_list)
    search = GridSearchCV(GraphGlass(), {"contamination": [0.05, 0.2]}, scoring="roc_auc", cv=2).fit(graphs, anomalous)
    assert search.best_estimator_.decision_scores_.shape == (60,)


def test_queries_that_are_references_are_named(fitted, normals):
    table = fitted.score_table(normals)
    assert table.notice.startswith(f"{len(normals)} of {len(normals)} graphs equal a reference")
    assert table.reference.all()
    own = fitted.score_table()
    assert np.array_equal(table.scores, own.scores)
    assert np.array_equal(table.p_values, own.p_values)
    assert np.array_equal(own.scores, fitted.decision_scores_)
    html = table._repr_html_()
    assert table.notice in html
    assert html.count("<tr>") == 1 + min(SHOWN, len(normals))


def test_a_batch_is_explained_one_by_one(fitted, queries):
    together = fitted.explain_all(queries[:2])
    assert [item.score for item in together] == [fitted.explain(queries[i]).score for i in range(2)]


def test_notebooks_show_detectors_and_explanations(fitted, queries):
    assert "not fitted" in GraphGlass()._repr_html_()
    assert f"<td>{fitted.scorer_.reference_count}</td>" in fitted._repr_html_()
    told = fitted.explain(queries[0])
    assert told.id in told._repr_html_()
    assert f"p-value {told.p_value:.4f}" in told._repr_html_()


def test_a_saved_model_has_a_card_with_equal_bytes(normals, tmp_path):
    for name in ("one", "two"):
        GraphGlass(contamination=0.2, verbose=name == "two").fit(normals).save(tmp_path / name)
    card = (tmp_path / "one" / "README.md").read_text()
    assert card == (tmp_path / "two" / "README.md").read_text()
    assert f"- references: {len(normals)} (normal graphs" in card
    assert "- known anomalies: 0 (" in card
    assert "contamination=0.2" in card
    assert "every query is compared with every reference" in card
    assert "estimated" not in card
    ReferenceDetector.load(tmp_path / "one").save(tmp_path / "one")
    assert (tmp_path / "one" / "README.md").read_text() == card
