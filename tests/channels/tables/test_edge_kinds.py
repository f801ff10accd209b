"""Direction and edge attributes reach the score, and only where the references carry them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass import GLASS, GraphGlass, ReferenceDetector
from graphglass.channels.default_channels import default_channels, default_weights, omitted_channels
from graphglass.channels.patterns.initial_labels import DirectionStart, EdgeValueStart
from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.channels.tables.edge_kinds import EdgeKindMap
from graphglass.channels.tables.edge_values import EdgeValueMap
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_schema import GraphSchema
from graphglass.graphs.graph_set import GraphSet

NEW = {"patterns:direction", "patterns:edge_value_0", "edges:values", "edges:kinds"}


def flows(count: int, seed: int, *, directed: bool = True, amounts: bool = True) -> GraphSet:
    """Chains of five labelled nodes with one branch; amounts between 3 and 900."""
    rng = np.random.default_rng(seed)
    sources = (np.arange(count)[:, None] * 6 + [0, 1, 2, 3, 1]).ravel()
    targets = (np.arange(count)[:, None] * 6 + [1, 2, 3, 4, 5]).ravel()
    return canonical_graph_set(
        [6] * count, sources, targets,
        ids=[f"{seed}-{i}" for i in range(count)],
        node_labels=np.tile([0, 1, 2, 2, 3, 4], count),
        edge_attributes=rng.uniform(3, 900, (5 * count, 1)) if amounts else None,
        edge_attribute_names=["amount"] if amounts else (),
        directed=directed,
    )  # fmt: skip


def reversed_edges(graphs: GraphSet) -> GraphSet:
    sources, targets, labels, numbers = graphs.edge_list()
    return canonical_graph_set(
        graphs.sizes, targets, sources, ids=graphs.ids, node_labels=graphs.node_labels, edge_labels=labels,
        edge_attributes=numbers, edge_attribute_names=graphs.edge_attribute_names, directed=graphs.directed,
    )  # fmt: skip


def test_undirected_sets_without_edge_attributes_have_none_of_the_new_channels() -> None:
    plain = measure_graphs(flows(20, 0, directed=False, amounts=False))
    for channel in default_channels():
        channel.fit(plain)
        assert not (channel.name in NEW and channel.has_data)
    rich = measure_graphs(flows(20, 0))
    channels = default_channels()
    for channel in channels:
        channel.fit(rich)
    assert NEW <= {channel.name for channel in channels if channel.has_data}


@pytest.mark.parametrize("directed", [True, False])
def test_patterns_of_counts_are_built_only_where_they_differ_from_another_channel(directed: bool) -> None:
    """Left out where every edge counts once; its twin takes over its weight, so that scores stay the same."""
    once = flows(70, 0, directed=directed)
    graphs, queries = measure_graphs(once), measure_graphs(flows(10, 1, directed=directed))
    twin = "patterns:direction" if directed else "patterns:labels"
    channels = default_channels()
    for channel in channels:
        channel.fit(graphs)
    built = [channel for channel in channels if channel.has_data]
    assert "patterns:count" not in {channel.name for channel in built}
    schema = GraphSchema.of(once)
    assert omitted_channels(built, schema)["patterns:count"] == f"every edge counts once, as in {twin}"
    copy = next(channel for channel in channels if channel.name == "patterns:count")
    copy.references = copy.encode(graphs)
    one = next(channel for channel in built if channel.name == twin)
    assert np.array_equal(
        one.compare(one.encode(queries), one.references), copy.compare(copy.encode(queries), copy.references)
    )
    weights = default_weights(built, schema)
    assert weights[twin] == pytest.approx(2 * weights["patterns:shape"])
    assert sum(weights.values()) == pytest.approx(1)
    counts = np.where(np.arange(once.edge_count) % 3, 1.0, 2.0)
    sources, targets, _, amounts = once.edge_list()
    twice = canonical_graph_set(
        once.sizes, sources, targets, ids=once.ids, node_labels=once.node_labels, directed=directed,
        edge_attributes=np.column_stack([amounts, counts]), edge_attribute_names=["amount", "count"],
    )  # fmt: skip
    assert any(channel.name == "patterns:count" for channel in GraphGlass().fit(twice).scorer_.channels)


def test_patterns_of_one_value_are_not_built_and_leave_the_scores_as_they_are(monkeypatch) -> None:
    """An edge attribute and node attributes that all references share; the twin takes over the weights."""

    def constant(count: int, seed: int) -> GraphSet:
        graphs = flows(count, seed)
        labels = np.random.default_rng(seed).integers(0, 3, graphs.node_count)
        amounts, positions = np.full_like(graphs.edge_attributes, 3.0), np.ones((graphs.node_count, 2), np.float32)
        return replace(
            graphs, node_labels=labels, edge_attributes=amounts, attributes=positions, attribute_names=("x", "y")
        )

    references, queries = constant(40, 0), constant(10, 1)
    detector = GraphGlass().fit(references)
    omitted = detector.method_facts()["channels not built"]
    assert "patterns:edge_value_0 (the attribute has one value, as in patterns:direction)" in omitted
    assert "patterns:lengths (all edges have one length, as in patterns:labels)" in omitted
    assert "patterns:contrast (every node is as far from its neighbours, as in patterns:labels)" in omitted
    monkeypatch.setattr("graphglass.channels.patterns.initial_labels.varies", lambda values: True)
    whole = GraphGlass().fit(references)
    assert len(whole.scorer_.channels) == len(detector.scorer_.channels) + 3
    np.testing.assert_allclose(detector.decision_function(queries), whole.decision_function(queries), rtol=1e-12)


def test_a_channel_in_which_the_references_agree_still_sees_what_differs() -> None:
    """References of one size and shape: nothing varies among them, and a graph of another size must stand out."""
    rings = canonical_graph_set([8] * 20, *ring_ends(20, 8), ids=[f"ring-{i}" for i in range(20)])
    detector = GraphGlass().fit(rings)
    assert "size" in {channel.name for channel in detector.scorer_.channels}
    assert detector.contributions(canonical_graph_set([30], *ring_ends(1, 30)))["size"][0] > 0.1


def ring_ends(count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    nodes = np.arange(count * size)
    return nodes, nodes - nodes % size + (nodes + 1) % size


@pytest.fixture(scope="module")
def fitted() -> GLASS:
    return GraphGlass().fit(flows(80, 1))


def test_amounts_and_directions_change_the_score(fitted: GLASS) -> None:
    normal = flows(30, 2)
    usual = fitted.decision_function(normal)
    dear = replace(normal, edge_attributes=normal.edge_attributes * 1e6)
    assert fitted.decision_function(dear).min() > usual.max()
    assert fitted.decision_function(reversed_edges(normal)).min() > usual.max()


@given(st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_renumbering_nodes_changes_nothing(fitted: GLASS, reordered: Callable[..., GraphSet], seed: int) -> None:
    graphs = flows(3, 5)
    scores = fitted.decision_function(graphs)
    np.testing.assert_allclose(fitted.decision_function(reordered(graphs, seed)), scores, rtol=0, atol=1e-9)


def test_reversing_an_undirected_set_changes_nothing() -> None:
    graphs = flows(5, 3, directed=False)
    assert reversed_edges(graphs).content_hashes() == graphs.content_hashes()


def test_a_graph_and_its_reverse_differ_where_a_motif_differs() -> None:
    graphs = measure_graphs(flows(2, 4))
    back = measure_graphs(reversed_edges(graphs.graphs))
    start = DirectionStart()
    assert start.fit(graphs)
    assert not np.array_equal(start.names(graphs)[1], start.names(back)[1])
    assert not np.array_equal(*(table_of(EdgeKindMap(), graphs, one) for one in (graphs, back)))
    assert not np.array_equal(*(table_of(EdgeValueMap(), graphs, one) for one in (graphs, back)))
    cycle = canonical_graph_set([3], [0, 1, 2], [1, 2, 0], directed=True)
    assert np.array_equal(cycle.outgoing, ~reversed_edges(cycle).outgoing)


def table_of(features, references, queries):
    features.fit(references)
    return features.table(queries)


def test_edges_are_named_by_quantiles_and_by_their_count() -> None:
    graphs = measure_graphs(flows(40, 6))
    start = EdgeValueStart(4, 0)
    assert start.fit(graphs)
    shares = np.bincount(start.names(graphs)[1] % 4, minlength=4) / len(graphs.graphs.neighbours)
    np.testing.assert_allclose(shares, 0.25, atol=0.03)
    assert not EdgeValueStart(4, 1).fit(graphs)
    count = EdgeValueStart(4, None)
    assert not count.fit(graphs)  # every edge counts once: it would repeat another channel
    assert set((count.names(graphs)[1] % 4).tolist()) == {0}


def test_a_saved_model_keeps_what_edges_carry(fitted: GLASS, tmp_path) -> None:
    queries = flows(10, 7)
    fitted.save(tmp_path / "model")
    loaded = ReferenceDetector.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(queries), fitted.decision_function(queries))
    assert loaded.references_.graphs.edge_attribute_names == ("amount",)
    assert loaded.references_.graphs.directed


def test_counts_alone_are_edge_data() -> None:
    counts = replace(flows(40, 1, directed=False), edge_attribute_names=("count",))
    detector = GraphGlass().fit(counts)
    one = replace(flows(4, 2, directed=False, amounts=False))
    assert np.isfinite(detector.decision_function(one)).all()


def test_queries_are_brought_into_the_form_of_the_references(fitted: GLASS) -> None:
    queries = flows(4, 8)
    more = replace(
        queries,
        edge_attributes=np.column_stack([np.ones(len(queries.neighbours)), queries.edge_attributes]),
        edge_attribute_names=("memo", "amount"),
    )
    np.testing.assert_array_equal(fitted.decision_function(more), fitted.decision_function(queries))
    plain = GraphGlass().fit(flows(40, 1, directed=False, amounts=False))
    same = flows(4, 8, directed=False, amounts=False)
    np.testing.assert_array_equal(plain.decision_function(queries), plain.decision_function(same))
    with pytest.raises(ValueError, match="edge attributes amount"):
        fitted.decision_function(flows(2, 9, amounts=False))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("largest", [1e200, 1e308])
def test_the_largest_amounts_are_scored_and_explained_without_a_warning(directed: bool, largest: float) -> None:
    graphs = flows(30, 1, directed=directed)
    amounts = graphs.edge_attributes.copy()
    amounts[-10:] = largest
    huge = replace(graphs, edge_attributes=amounts)
    for references in (graphs, huge):
        model = GraphGlass().fit(references)
        assert np.isfinite(model.decision_function(huge)).all()
        assert np.isfinite(model.explain(huge[-1]).score)
