import dataclasses

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphglass
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import (
    AGGREGATE_NAMES,
    LTD_NAMES,
    SKETCH_NAMES,
    StructureProfile,
    measure,
    profile,
    run,
    split,
)

LARGE = ["tree 1200", "grid 600", "random 900", "parts", "caveman", "regular", "large cycle"]


def renumbered(graph: nx.Graph, seed: int) -> tuple[nx.Graph, np.ndarray]:
    order = np.random.default_rng(seed).permutation(len(graph))
    moved = nx.empty_graph(len(graph))
    moved.add_edges_from((int(order[a]), int(order[b])) for a, b in graph.edges)
    return moved, order


def check_same(one: StructureProfile, other: StructureProfile, order: np.ndarray) -> None:
    np.testing.assert_array_equal(one.descriptors, other.descriptors[order])
    np.testing.assert_array_equal(one.aggregates, other.aggregates)
    np.testing.assert_allclose(one.sketch, other.sketch, atol=1e-7)
    assert one.estimated.tolist() == other.estimated.tolist()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 2**20))
def test_renumbering_nodes_changes_nothing(build, n, p, seed):
    graph = nx.gnp_random_graph(n, p, seed=seed)
    moved, order = renumbered(graph, seed)
    check_same(profile(build(graph)), profile(build(moved)), order)


@pytest.mark.parametrize("name", LARGE)
def test_renumbering_nodes_of_large_graphs_changes_nothing(name, named, build):
    moved, order = renumbered(named(name), 1)
    check_same(profile(build(named(name))), profile(build(moved)), order)


def test_batch_mates_change_nothing(named, build):
    graphs = build(*(named(name) for name in [*LARGE, "one node", "clique", "star", "no edges"]))
    together = profile(graphs)
    backwards = profile(graphs[np.arange(len(graphs))[::-1]])
    for i in range(len(graphs)):
        alone = profile(graphs[i])
        for whole in (together[i], backwards[len(graphs) - 1 - i]):
            for field in dataclasses.fields(alone):
                np.testing.assert_array_equal(getattr(alone, field.name), getattr(whole, field.name))


def test_shapes_names_and_frozen_arrays(build):
    graphs = build(nx.path_graph(3), nx.complete_graph(4))
    measured = profile(graphs, progress=True)
    assert measured.descriptors.shape == (7, len(LTD_NAMES)) == (7, 9)
    assert measured.aggregates.shape == (2, len(AGGREGATE_NAMES)) == (2, 17)
    assert measured.sketch.shape == (2, len(SKETCH_NAMES)) == (2, 11)
    assert len(measured) == 2
    assert repr(measured) == "StructureProfile(2 graphs, 7 nodes)"
    with pytest.raises(ValueError, match="read-only"):
        measured.descriptors[0, 0] = 1
    assert graphglass.profile is profile
    assert graphglass.StructureProfile is StructureProfile


def test_selection_by_integer_slice_indices_and_mask(build):
    measured = profile(build(*(nx.path_graph(n) for n in (2, 3, 4, 5))))
    for key, sizes in [
        (2, [4]), (-1, [5]), (slice(1, None), [3, 4, 5]), ([3, 0], [5, 2]), (slice(0, 0), []), ([], []),
        (np.array([True, False, True, False]), [2, 4]),
    ]:  # fmt: skip
        chosen = measured[key]
        assert np.diff(chosen.node_offsets).tolist() == sizes
        assert chosen.aggregates[:, 0].tolist() == sizes
        assert len(chosen.descriptors) == sum(sizes)
    assert measured[[3, 0]].descriptors[:5, 0].tolist() == [1, 2, 2, 2, 1]
    with pytest.raises(IndexError):
        measured[4]


def test_an_empty_set_has_an_empty_profile():
    empty = profile(concatenate([]))
    assert len(empty) == 0
    assert isinstance(empty.node_offsets, np.ndarray)


def test_estimates_are_marked_deterministic_and_near(build):
    graph = nx.gnm_random_graph(400, 24_000, seed=9)
    graphs: GraphSet = build(graph)
    exact, rough = measure(graphs, 10**12), measure(graphs, 600_000)
    assert rough.estimated.tolist() == [True]
    assert exact.estimated.tolist() == [False]
    np.testing.assert_array_equal(rough.descriptors[:, :5], exact.descriptors[:, :5])
    for column in (13, 14):  # triangles, 4-cycles in the graph
        assert rough.aggregates[0, column] == pytest.approx(exact.aggregates[0, column], rel=0.1)
    moved, order = renumbered(graph, 2)
    again = measure(build(moved), 600_000)
    np.testing.assert_allclose(again.descriptors[order], rough.descriptors, rtol=1e-12)


def test_portions_hold_every_graph_once_and_balance():
    costs = np.random.default_rng(0).pareto(1.5, 5000)
    portions = split(costs, 32)
    assert sorted(np.concatenate(portions).tolist()) == list(range(5000))
    assert max(costs[p].sum() for p in portions if len(p) > 1) < 3 * costs.sum() / 32
    assert split(np.zeros(0), 4) == []
    assert sum(map(len, split(np.zeros(3), 4))) == 3


def test_an_error_on_a_thread_reaches_the_caller():
    def fail(chosen: np.ndarray) -> None:
        raise RuntimeError(f"{len(chosen)} graphs")

    with pytest.raises(RuntimeError, match="graphs"):
        run(fail, np.full(10, 1e7))
