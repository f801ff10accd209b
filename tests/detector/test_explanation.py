import json

import numpy as np
import pytest

from graphglass import GraphGlass
from graphglass.detector import explanation
from graphglass.errors import ParameterError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.subgraphs import without_nodes


def test_contributions_sum_to_the_score(fitted, queries):
    for graph in queries[:3]:
        told = fitted.explain(graph)
        assert sum(told.contributions.values()) == pytest.approx(told.score, abs=1e-9)
        assert told.score == pytest.approx(fitted.decision_function(graph)[0], abs=1e-9)
        assert told.p_value == fitted.p_values(graph)[0]


def test_neighbours_are_references_in_order(fitted, normals):
    told = fitted.explain(normals[4], nodes=False)
    assert told.neighbours[0].id == normals.ids[4]
    assert told.neighbours[0].similarity == pytest.approx(1, abs=1e-5)
    assert told.neighbours[0].distance == pytest.approx(0, abs=1e-3)
    distances = [item.distance for item in told.neighbours]
    assert distances == sorted(distances)


def test_neighbours_equal_brute_force_over_pairs(fitted, queries):
    """The fused distance to a reference is the score with that reference as the only neighbour, above a twin's."""
    told = fitted.explain(queries[3], neighbours=len(fitted.references_), nodes=False)
    scorer, query = fitted.scorer_, fitted._queries(queries[3])
    pairs = {}
    for channel in scorer.channels:
        rows = channel.encode(query)
        pairs[channel.name] = np.array([
            channel.compare(rows, channel.references[place : place + 1])[0, 0] / channel.reference_scales[place]
            for place in range(len(fitted.references_))
        ])  # fmt: skip
    scores = scorer.fusion.scores(pairs) - scorer.fusion.scores({name: np.zeros(1) for name in pairs})
    by_id = dict(zip(fitted.references_.graphs.ids, scores, strict=True))
    for item in told.neighbours:
        assert item.distance == pytest.approx(max(by_id[item.id], 0), abs=1e-3)
    assert all(0 <= value <= 1 for item in told.neighbours for value in item.families.values())


def test_shares_are_percent_of_what_raises_the_score(fitted, queries):
    told = fitted.explain(queries[-1], nodes=False)
    assert sum(told.shares.values()) == pytest.approx(100)
    assert list(told.shares.values()) == sorted(told.shares.values(), reverse=True)


def test_one_cause_is_one_sentence():
    rings = canonical_graph_set([8] * 12, *_rings(12, 8))
    clique = canonical_graph_set([8], *zip(*[(i, j) for i in range(8) for j in range(i)], strict=True), ids=["clique"])
    told = GraphGlass().fit(rings).explain(clique, nodes=False)
    sentences = [text for text in told.reasons if "triangles" in text or "4-cycles" in text or "clustering" in text]
    assert len(sentences) == 1
    assert len(told.reasons) <= 4  # size, degrees, cycles, connectivity


def _rings(count, size):
    nodes = np.arange(count * size)
    return nodes, np.where((nodes + 1) % size == 0, nodes + 1 - size, nodes + 1)


def test_a_negative_number_of_neighbours_is_refused(fitted, normals):
    assert fitted.explain(normals[4], neighbours=0, nodes=False).neighbours == ()
    with pytest.raises(ParameterError, match="neighbours"):
        fitted.explain(normals[4], neighbours=-1)


def test_fields_say_higher_lower_or_usual(fitted, queries):
    told = fitted.explain(queries[0], nodes=False)
    assert len({field.name for field in told.fields}) == len(told.fields)
    order = [("as usual" in field.words, not field.unseen, -abs(field.deviation)) for field in told.fields]
    assert order == sorted(order)
    for field in told.fields:
        above, below = field.value > field.reference_high, field.value < field.reference_low
        assert ("higher" if above else "lower" if below else "as usual") in field.words


def test_explanation_is_json(fitted, queries):
    body = json.loads(json.dumps(fitted.explain(queries[1]).to_json()))
    assert body["id"] == queries.ids[1]
    assert len(body["nodes"]) == queries[1].node_count


def chain_with_clique(length, clique, name):
    """A path; with ``clique`` > 0 its last nodes form a clique."""
    sources, targets = list(range(length - 1)), list(range(1, length))
    for one in range(length - clique, length):
        for two in range(one + 1, length):
            sources.append(one)
            targets.append(two)
    return canonical_graph_set([length], sources, targets, ids=[name])


def test_deleting_the_top_nodes_lowers_the_score_more_than_deleting_random_ones():
    from graphglass.graphs.concatenation import concatenate

    rng = np.random.default_rng(0)
    paths = concatenate(chain_with_clique(int(n), 0, f"path {i}") for i, n in enumerate(rng.integers(12, 24, 40)))
    detector = GraphGlass().fit(paths)
    top_drop, random_drop = [], []
    for length in (16, 18, 20):
        planted = chain_with_clique(length, 5, "planted")
        told = detector.explain(planted)
        top = np.argsort(-told.node_attribution)[:4]
        assert (top >= length - 5).mean() >= 0.75  # the clique's nodes lead
        choices = [rng.choice(length, 4, replace=False) for _ in range(10)]
        rest = detector.decision_function(without_nodes(planted, [top, *choices]))
        top_drop.append(told.score - rest[0])
        random_drop.append(told.score - rest[1:].mean())
    assert np.mean(top_drop) > np.mean(random_drop)


def test_large_graphs_are_deleted_in_groups(monkeypatch):
    monkeypatch.setattr(explanation, "MOST_DELETIONS", 5)
    graph = chain_with_clique(12, 4, "g")
    calls = []

    def score(graphs):
        calls.append(len(graphs))
        return graphs.edge_counts.astype(float)

    attribution = explanation.node_attribution(graph, float(graph.edge_count), score)
    assert calls == [5]
    assert len(attribution) == 12
    assert (attribution > 0).all()


def test_a_very_large_graph_is_copied_as_often_as_its_size_affords(monkeypatch):
    monkeypatch.setattr(explanation, "MOST_ENDS", 9 * 40)
    graph = chain_with_clique(12, 4, "g")
    calls = []
    explanation.node_attribution(graph, 0.0, lambda graphs: calls.append(len(graphs)) or np.zeros(len(graphs)))
    assert calls == [max(9 * 40 // (12 + len(graph.neighbours)), 8)]


def test_a_single_node_has_nothing_to_delete():
    one = canonical_graph_set([1], [], [])
    assert explanation.node_attribution(one, 1.0, lambda graphs: np.zeros(len(graphs))).tolist() == [0.0]
