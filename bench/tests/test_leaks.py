"""No label reaches a method: planted ones change no score, shuffled ones leave chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from glassbench import single
from glassbench.datasets import Datasets
from glassbench.jobs import Plan
from glassbench.methods import KERNELS, TRAINING_FREE, factory
from glassbench.metrics import evaluate
from glassbench.protocols import blind, split
from graphglass import GraphGlass
from graphglass.graphs.datasets import load_dataset
from graphglass.graphs.graph_set import GraphSet

METHODS = (*TRAINING_FREE, *KERNELS)


@pytest.fixture(scope="module")
def molecules() -> GraphSet:
    return load_dataset("MUTAG")


def planted(graphs: GraphSet) -> GraphSet:
    """The same graphs with the class in every field that is not the graph itself."""
    assert graphs.labels is not None
    odd = np.asarray(graphs.labels) == -1
    return replace(
        graphs,
        ids=tuple(f"{'anomaly' if flag else 'normal'}-{i}" for i, flag in enumerate(odd)),
        node_names=np.where(np.repeat(odd, graphs.sizes), "anomaly", "normal").astype(np.str_),
        removed=np.repeat(odd[:, None], 3, axis=1).astype(np.int64),
    )


def scores_by_graph(graphs: GraphSet, order: np.ndarray, method: str) -> dict[int, float]:
    """Scores of one seeded split, by the graph's row in the original file, with the file in another order."""
    assert graphs.labels is not None
    parts = split(graphs.labels, "minority", 0)
    place = np.argsort(order)  # row of each original graph in the reordered file
    moved = graphs[order]
    detector = factory(method)(0).fit(blind(moved, place[parts.references]))
    scores = detector.decision_function(blind(moved, place[parts.test]))
    return dict(zip(parts.test.tolist(), scores.tolist(), strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_planted_labels_change_nothing(molecules: GraphSet, method: str) -> None:
    assert molecules.labels is not None
    natural = np.arange(len(molecules))
    by_class = np.argsort(molecules.labels, kind="stable")
    plain = scores_by_graph(molecules, natural, method)
    leaky = scores_by_graph(planted(molecules), by_class, method)
    assert leaky == plain


def test_order_of_the_queries_changes_nothing(molecules: GraphSet) -> None:
    """Queries sorted by class score as they do shuffled, for every method that can be asked."""
    assert molecules.labels is not None
    parts = split(molecules.labels, "minority", 1)
    for method in METHODS:
        detector = factory(method)(1).fit(blind(molecules, parts.references))
        shuffled = detector.decision_function(blind(molecules, parts.test))
        order = np.argsort(parts.anomalous, kind="stable")
        np.testing.assert_allclose(
            detector.decision_function(blind(molecules, parts.test[order])), shuffled[order], atol=1e-9
        )


def test_glass_never_sees_a_label(molecules: GraphSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reaches the detector in a real cell carries no class, and its scores ignore planted ones."""

    def quick(seed: int) -> Any:
        return GraphGlass()

    kept: list[Any] = []
    fit_and_score = single.fit_and_score

    def spy(detector: Any, references: GraphSet, queries: GraphSet, *others: Any) -> Any:
        kept.append((references, queries))
        result = fit_and_score(detector, references, queries, *others)
        kept.append(result[1])
        return result

    monkeypatch.setattr(single, "factory", lambda name: quick)
    monkeypatch.setattr(single, "fit_and_score", spy)
    data, cell = Datasets(), {"dataset": "MUTAG", "seed": 0}
    (job,) = single.single_jobs(Plan(data, ["MUTAG"], ["graphglass"], seeds=(0,)))
    outcomes = []
    for graphs in (molecules, planted(molecules)):
        data._held["MUTAG"] = graphs
        outcomes += job.run([cell])
    plain, leaky = outcomes
    for shown in kept[0] + kept[2]:
        assert shown.labels is None
        assert shown.node_names is None
        assert shown.ids == tuple(str(i) for i in range(len(shown)))
        assert not shown.removed.any()
    np.testing.assert_array_equal(kept[1], kept[3])
    assert plain.metrics == leaky.metrics


@pytest.mark.parametrize("method", ["size-knn", "wl-cosine-knn", "wl-svm"])
def test_shuffled_labels_leave_chance(molecules: GraphSet, method: str) -> None:
    assert molecules.labels is not None
    found = []
    for seed in range(24):
        labels = np.random.default_rng(seed).permutation(molecules.labels)
        parts = split(labels, "minority", seed)
        detector = factory(method)(seed).fit(blind(molecules, parts.references))
        found.append(evaluate(detector.decision_function(blind(molecules, parts.test)), parts.anomalous)["auroc"])
    assert abs(np.mean(found) - 50.0) < 5.0  # one run has a standard deviation near 7
