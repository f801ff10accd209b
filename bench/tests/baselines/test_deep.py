"""The contract every deep baseline keeps, and that each of them finds a planted anomaly."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import glassbench.baselines as baselines
from glassbench.baselines.deep import DeepDetector
from graphglass.errors import InputError, NotFittedError, ParameterError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet

METHODS = ("CVTGAD", "GLADC", "GLocalKD", "MUSE", "OCGIN", "OCGTL", "SIGNET", "UniFORM")
STEPS = 6


def build(name: str, **settings: object) -> DeepDetector:
    made: DeepDetector = getattr(baselines, name)(**settings)
    return made


@pytest.fixture(scope="module")
def normal(make_graphs) -> GraphSet:
    return make_graphs(40, "ring", 0)


@pytest.fixture(scope="module")
def queries(make_graphs) -> GraphSet:
    return concatenate([make_graphs(5, "ring", 1), make_graphs(5, "clique", 2)])


@pytest.fixture(scope="module")
def fitted(normal: GraphSet):
    @cache
    def fit(name: str) -> DeepDetector:
        return build(name, max_steps=STEPS, batch_size=20).fit(normal)

    return fit


def close(one: NDArray[np.float64], two: NDArray[np.float64]) -> None:
    np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5 * max(1.0, float(np.abs(one).max())))


@pytest.mark.parametrize("name", METHODS)
def test_a_score_does_not_depend_on_the_other_graphs_of_a_batch(name, fitted, queries):
    together = fitted(name).decision_function(queries)
    alone = np.concatenate([fitted(name).decision_function(graph) for graph in queries])
    backwards = fitted(name).decision_function(queries[np.arange(len(queries))[::-1]])[::-1]
    assert together.dtype == np.float64
    assert together.shape == (len(queries),)
    close(together, alone)
    close(together, backwards)


@pytest.mark.parametrize("name", METHODS)
def test_a_score_does_not_depend_on_node_order(name, fitted, queries, reordered):
    close(fitted(name).decision_function(queries), fitted(name).decision_function(reordered(queries, 3)))


@pytest.mark.parametrize("name", METHODS)
def test_a_fit_repeats_bit_for_bit_and_leaves_the_global_generator_alone(name, fitted, normal, queries):
    torch.manual_seed(11)
    before = torch.random.get_rng_state()
    again = build(name, max_steps=STEPS, batch_size=20).fit(normal)
    assert torch.equal(torch.random.get_rng_state(), before)
    np.testing.assert_array_equal(again.decision_function(queries), fitted(name).decision_function(queries))
    other = build(name, max_steps=STEPS, batch_size=20, random_state=1).fit(normal)
    assert not np.array_equal(other.decision_function(queries), fitted(name).decision_function(queries))


@pytest.mark.parametrize("name", METHODS)
def test_unlabelled_isolated_and_single_node_graphs_are_scored(name, make_graphs):
    lone = canonical_graph_set([1, 3, 2], [4], [5])  # a single node, three isolated nodes, one edge
    detector = build(name, max_steps=2, batch_size=20).fit(make_graphs(10, "ring", 4, labelled=False))
    assert np.isfinite(detector.decision_function(lone)).all()
    assert detector.decision_function(lone[np.zeros(0, dtype=np.int64)]).shape == (0,)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_planted_motif_is_found(name, make_graphs):
    # SIGNET reads a graph through its labels. The others see a motif by its degrees, which labels would replace.
    labelled = name == "SIGNET"
    steps = 100 if name == "GLADC" else 60  # GLADC's whole run: before its end, distances are still those of the start
    detector = build(name, max_steps=steps, batch_size=64).fit(make_graphs(64, "ring", 5, labelled=labelled))
    kinds = [make_graphs(30, motif, seed, labelled=labelled) for motif, seed in (("ring", 6), ("clique", 7))]
    test = concatenate(kinds)
    truth = np.repeat([0, 1], 30)
    assert roc_auc_score(truth, detector.decision_function(test)) > 0.9


@pytest.mark.parametrize("name", ["SIGNETBatch", "CVTGADBatch"])
def test_a_transductive_score_depends_on_the_graphs_scored_together(name, normal, queries):
    detector = build(name, max_steps=STEPS, batch_size=20).fit(normal)
    together = detector.decision_function(queries)
    fewer = detector.decision_function(queries[:6])
    assert np.abs(together[:6] - fewer).max() > 1e-3
    order = np.arange(len(queries))[::-1]
    close(detector.decision_function(queries[order])[::-1], together)
    with pytest.raises(InputError, match="transductive"):
        detector.decision_function(queries[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MUSE", "OCGTL", "UniFORM"])
def test_a_fit_does_not_depend_on_the_number_of_threads(name, make_graphs):
    """The batches are large enough that torch splits its sums among threads."""
    graphs, before = make_graphs(120, "clique", 0), torch.get_num_threads()
    scores = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            detector = build(name, max_steps=8, batch_size=120, hidden=64).fit(graphs)
            scores.append(detector.decision_function(graphs))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*scores)


def test_the_run_ends_after_the_epochs_or_the_steps(normal):
    short = build("OCGIN", epochs=3, batch_size=20).fit(normal)
    assert (short.steps_, len(short.history_)) == (6, 3)
    capped = build("OCGIN", epochs=100, max_steps=5, batch_size=20).fit(normal)
    assert capped.steps_ == 5
    assert capped.history_[-1] < capped.history_[0]


def test_every_public_name_resolves():
    assert all(getattr(baselines, name).__name__ == name for name in baselines.__all__)
    with pytest.raises(AttributeError, match="Absent"):
        _ = baselines.Absent


def test_class_labels_are_never_read(normal, queries):
    poisoned = replace(normal, labels=np.arange(len(normal)))
    one = build("OCGIN", max_steps=3).fit(normal).decision_function(queries)
    np.testing.assert_array_equal(one, build("OCGIN", max_steps=3).fit(poisoned).decision_function(queries))


def test_misuse_is_named(normal, queries, make_graphs):
    with pytest.raises(NotFittedError, match="OCGIN is not fitted"):
        build("OCGIN").decision_function(queries)
    with pytest.raises(ParameterError, match="'hidden' parameter of OCGIN must be an integer of at least 1"):
        build("OCGIN", hidden=0).fit(normal)
    with pytest.raises(ParameterError, match="'learning_rate' parameter of MUSE must be above 0"):
        build("MUSE", learning_rate=-1.0).fit(normal)
    with pytest.raises(InputError, match="at least 2 training graphs"):
        build("OCGIN").fit(normal[0])
    fitted = build("OCGIN", max_steps=1).fit(normal)
    with pytest.raises(SchemaError, match="fitted on graphs with node labels"):
        fitted.decision_function(make_graphs(2, "ring", 0, labelled=False))
    assert clone(fitted).get_params() == fitted.get_params()
