"""Known anomalies: the second side of the references."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from graphglass import GLASS, GraphGlass, ReferenceDetector
from graphglass.detector.known_anomalies import (
    NEARNESS,
    RIDGE,
    KnownAnomalies,
    KnownDistances,
    NormalKernel,
    _classifier_weight,
    _fit_classifier,
    kernel_of,
)
from graphglass.errors import GraphError, InputError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set


@pytest.fixture(scope="module")
def sides(mutag):
    normal, strange = (np.flatnonzero(mutag.labels == label) for label in (1, -1))
    return mutag[normal[:70]].without_labels(), mutag[strange[:12]].without_labels()


@pytest.fixture(scope="module")
def detector(sides):
    return GraphGlass().fit(sides[0], anomalies=sides[1])


@pytest.fixture(scope="module")
def test_set(mutag):
    normal, strange = (np.flatnonzero(mutag.labels == label) for label in (1, -1))
    return mutag[np.concatenate([normal[70:], strange[12:]])]


def test_known_anomalies_improve_the_ranking(sides, detector, test_set):
    alone = GraphGlass().fit(sides[0])
    truth = test_set.labels == -1
    assert roc_auc_score(truth, detector.decision_function(test_set)) > roc_auc_score(
        truth, alone.decision_function(test_set)
    )


def test_a_known_anomaly_ranks_above_its_former_place(sides):
    alone, known = GraphGlass().fit(sides[0]), GraphGlass().fit(sides[0], anomalies=sides[1][:5])
    assert (known.p_values(sides[1][:5]) <= alone.p_values(sides[1][:5])).all()


def test_without_any_left_scores_keep_their_bits(sides, test_set):
    alone = GraphGlass().fit(sides[0])
    changed = GraphGlass().fit(sides[0], anomalies=sides[1])
    changed.remove_anomalies(sides[1].ids)
    assert changed.anomalies_ is None
    np.testing.assert_array_equal(changed.decision_function(test_set), alone.decision_function(test_set))
    np.testing.assert_array_equal(changed.decision_scores_, alone.decision_scores_)


def test_added_one_by_one_equals_all_at_once(sides, detector, test_set):
    grown = GraphGlass().fit(sides[0])
    for place in range(len(sides[1])):
        grown.add_anomalies(sides[1][place])
    np.testing.assert_allclose(grown.decision_function(test_set), detector.decision_function(test_set), atol=1e-9)


def test_saved_and_loaded_to_the_same_bits(detector, test_set, tmp_path):
    detector.save(tmp_path / "model")
    loaded = ReferenceDetector.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(test_set), detector.decision_function(test_set))
    assert loaded.anomalies_.graphs.ids == detector.anomalies_.graphs.ids
    np.testing.assert_array_equal(loaded.p_values(test_set), detector.p_values(test_set))


def test_a_graph_has_the_same_bits_alone_and_among_others(detector, test_set):
    together = detector.decision_function(test_set[:20])
    alone = np.concatenate([detector.decision_function(graph) for graph in test_set[:20]])
    np.testing.assert_array_equal(alone, together)


def test_contributions_sum_to_the_score_and_the_resemblance_is_named(detector, sides):
    told = detector.explain(sides[1][3])
    assert sum(told.contributions.values()) == pytest.approx(told.score, abs=1e-9)
    assert "known anomalies" in told.contributions
    assert told.resembles[0].id == sides[1].ids[3]
    assert told.resembles[0].distance == pytest.approx(0, abs=1e-6)
    assert any(f"Resembles known anomaly {sides[1].ids[3]} by " in text for text in told.reasons)


def test_left_out_values_equal_refitting_without_each_graph(detector):
    """The classifier's value of a graph is the prediction of a fit without it, computed without the fit."""
    scorer = detector.scorer_
    channels, fusion, known = scorer.channels, scorer.fusion, scorer.known
    count, more = len(detector.references_), len(known)
    normal = NormalKernel.fit(scorer)
    compared = KnownDistances.of(known.graphs, known.rows, scorer, normal.widths)
    widths, found = normal.widths, np.concatenate(_fit_classifier(normal, compared, more)[1:])
    gram = np.ones((count + more, count + more))
    for channel in channels:
        kernel, weight = kernel_of(channel, widths), fusion.weights[channel.name]
        across = kernel(channel.compare(channel.references, known.rows[channel.name]))
        among = kernel(channel.compare(known.rows[channel.name], known.rows[channel.name]))
        gram += weight * np.block(
            [[kernel(channel.compare(channel.references, channel.references)), across], [across.T, among]]
        )
    side = np.repeat([-1.0, 1.0], [count, more])
    balance = np.repeat([(count + more) / (2 * count), (count + more) / (2 * more)], [count, more])
    for place in (0, 31, 69, 70, 81):
        others = np.delete(np.arange(count + more), place)
        system = gram[np.ix_(others, others)] + RIDGE * np.diag(1 / balance[others])
        assert found[place] == pytest.approx(gram[place, others] @ np.linalg.solve(system, side[others]), abs=1e-8)


def _random_graphs(count, seed, edge_share):
    random = np.random.default_rng(seed)
    sizes = random.integers(8, 16, count)
    sources, targets, start = [], [], 0
    for size in sizes:
        for i in range(size):
            for j in range(i):
                if random.random() < edge_share:
                    sources.append(start + i)
                    targets.append(start + j)
        start += size
    return canonical_graph_set(sizes, sources, targets, ids=[f"{seed}-{i}" for i in range(count)])


@pytest.mark.parametrize("known", [1, 5, 20])
def test_p_values_of_new_normals_stay_valid(known):
    """At most a little over the nominal share of held-out normals lies at or below each level."""
    detector = GraphGlass().fit(_random_graphs(300, 1, 0.3), anomalies=_random_graphs(known, 2, 0.45))
    p_values = detector.p_values(_random_graphs(1000, 3, 0.3))
    for level in (0.01, 0.05, 0.1):
        allowed = level + 3 * np.sqrt(level * (1 - level) / 300)  # 300 references decide the level's own accuracy
        assert (p_values <= level).mean() <= allowed


def test_few_known_anomalies_and_those_among_normals_pull_less():
    normals = _random_graphs(200, 1, 0.3)
    among, far, one = (
        GraphGlass().fit(normals, anomalies=_random_graphs(count, 4, share)).scorer_.known.nearness.weights
        for count, share in ((20, 0.3), (20, 0.9), (1, 0.9))
    )
    assert sum(among.values()) < 0.9 * sum(far.values())
    assert all(among[name] <= far[name] for name in far)
    assert max(one.values()) <= NEARNESS / 2 < min(far.values()) <= max(far.values()) < NEARNESS


def test_the_classifier_counts_by_what_it_recognises():
    references = np.linspace(-1, 0, 101)
    assert _classifier_weight(references, np.full(20, 0.5)) == pytest.approx(0.5)
    assert _classifier_weight(references, np.full(20, -0.5)) == pytest.approx(0.5 * 4 / 22)
    assert _classifier_weight(references, np.full(20, -2.0)) == 0


def test_a_known_side_of_0_2_0_is_restored_with_its_own_rule(detector):
    known = detector.scorer_.known
    arrays = known.arrays()
    old = arrays | {"table": arrays["table"][:, :4], "units": arrays["units"][:4]}
    restored = KnownAnomalies.restore(known.graphs, detector.scorer_.channels, old)
    assert set(restored.nearness.weights.values()) == {NEARNESS}
    assert restored.classifier_weight == pytest.approx(12 / 32)


def test_a_known_anomaly_that_equals_a_reference_is_skipped_or_refused(sides):
    normals, strange = sides
    both = canonical = strange[:1]
    detector = GraphGlass().fit(normals)
    with pytest.warns(UserWarning, match=f"Skipped 1 known anomalies that equal a reference: '{normals.ids[2]}'"):
        detector.add_anomalies(_with(both, normals[2]))
    assert detector.anomalies_.graphs.ids == canonical.ids
    with pytest.raises(InputError, match="equal a normal reference"):
        GraphGlass().fit(normals).add_anomalies(_with(both, normals[2]), strict=True)
    with (
        pytest.warns(UserWarning, match="Skipped"),
        pytest.raises(InputError, match="Every known anomaly equals"),
    ):
        GraphGlass().fit(normals).add_anomalies(normals[:2])


def _with(first, second):
    from graphglass import concatenate

    return concatenate([first, second])


def test_bad_calls(sides, detector):
    normals, strange = sides
    with pytest.raises(SchemaError, match="must carry what the references carry"):
        GraphGlass().fit(normals, anomalies=strange.structure_only())
    with pytest.raises(InputError, match="no graph to score"):
        GraphGlass().fit(normals).add_anomalies(strange[:0])
    with pytest.raises(GraphError, match="There is no known anomaly 'nobody'"):
        detector.remove_anomalies(["nobody"])
    with pytest.raises(GraphError, match="There are none"):
        GraphGlass().fit(normals).remove_anomalies(["1"])
    with pytest.raises(GraphError, match=f"Known anomaly id '{strange.ids[0]}' is taken already"):
        GraphGlass().fit(normals, anomalies=strange).add_anomalies(strange[0])
    with pytest.raises(InputError, match="is the known anomaly"):
        GraphGlass().fit(normals, anomalies=strange).add_references(strange[0])
    with pytest.raises(InputError, match="takes no known anomalies"):
        GLASS(encoder="numeric", epochs=0).fit(normals[:10]).add_anomalies(strange)


def test_more_known_anomalies_than_normals_work(sides, test_set):
    detector = GraphGlass().fit(sides[0][:5], anomalies=sides[1])
    assert np.isfinite(detector.decision_function(test_set)).all()
    assert np.isfinite(GraphGlass().fit(sides[0][:2], anomalies=sides[1][0]).decision_function(test_set)).all()


def test_a_single_id_is_taken_whole(sides):
    normals, strange = sides
    detector = GraphGlass().fit(normals, anomalies=strange[:2]).remove_anomalies(strange.ids[0])
    assert detector.anomalies_.graphs.ids == strange.ids[1:2]
    assert normals.ids[0] not in detector.remove_references(normals.ids[0]).references_.graphs.ids


def test_changing_references_keeps_the_known_anomalies(sides, test_set):
    detector = GraphGlass().fit(sides[0][:60], anomalies=sides[1])
    detector.add_references(sides[0][60:])
    whole = GraphGlass().fit(sides[0], anomalies=sides[1])
    np.testing.assert_allclose(detector.decision_function(test_set), whole.decision_function(test_set), atol=1e-9)
    assert detector.with_references(sides[0]).anomalies_ is None
