import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.glass.training.perturbation import KINDS, perturb
from graphglass.graphs.canonical import canonical_graph_set


def edges(graphs, index):
    one = graphs[index]
    return {(int(a), int(b)) for a, b in zip(one.end_nodes, one.neighbours, strict=True) if a < b}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), strength=st.sampled_from([0.1, 0.3, 1.0]), featured=st.booleans())
def test_each_kind_does_what_it_says(make_graphs, seed, strength, featured):
    graphs = make_graphs(count=20, seed=seed, labels=[1, 5] if featured else None, attributes=2 if featured else 0)
    done, kinds = perturb(graphs, strength=strength, seed=seed)
    assert np.array_equal(done.node_offsets, graphs.node_offsets)
    assert done.ids == graphs.ids
    for index in range(len(graphs)):
        before, after = edges(graphs, index), edges(done, index)
        share = max(1, round(strength * len(before)))
        kind = KINDS[kinds[index]]
        nodes = slice(graphs.node_offsets[index], graphs.node_offsets[index + 1])
        if kind == "addition":
            assert before <= after
            assert len(after) <= len(before) + share
        elif kind == "removal":
            assert after < before or not before
            assert len(after) == max(0, len(before) - share)
        elif kind == "rewiring":
            assert len(before - after) <= share
            assert len(after - before) <= share
        else:
            assert before == after
        if featured and kind != "noise":
            assert np.array_equal(graphs.node_labels[nodes], done.node_labels[nodes])
            assert np.array_equal(graphs.attributes[nodes], done.attributes[nodes])
        elif featured:
            assert not np.array_equal(graphs.attributes[nodes], done.attributes[nodes])
            assert set(done.node_labels[nodes]) <= {1, 5}


def test_seeds_repeat_and_differ(make_graphs):
    graphs = make_graphs(count=30, labels=[0, 1], attributes=1)
    hashes = [perturb(graphs, seed=seed)[0].content_hashes() for seed in (4, 4, 5)]
    assert hashes[0] == hashes[1]
    assert hashes[0] != hashes[2]


def test_the_input_stays_as_it_was(make_graphs):
    graphs = make_graphs(count=30, labels=[0, 1], attributes=1)
    before = graphs.content_hashes()
    perturb(graphs, strength=1.0)
    assert graphs.content_hashes() == before


def test_most_graphs_change(make_graphs):
    graphs = make_graphs(count=200, largest=30)
    changed = np.array(perturb(graphs)[0].content_hashes()) != np.array(graphs.content_hashes())
    assert changed[graphs.edge_counts > 3].mean() > 0.9
    assert len(set(perturb(graphs)[1].tolist())) == 3


@pytest.mark.parametrize("seed", range(6))
def test_complete_graphs_lose_and_empty_graphs_gain(seed):
    pairs = np.array([(a, b) for a in range(6) for b in range(a)])
    graphs = canonical_graph_set([6, 6], pairs[:, 0], pairs[:, 1])
    done, kinds = perturb(graphs, seed=seed)
    assert [KINDS[kind] for kind in kinds] == ["removal", "addition"]
    assert done.edge_counts.tolist() == [12, 1]


def test_a_lone_node_stays():
    graphs = canonical_graph_set([1, 1], [], [])
    assert perturb(graphs)[0].content_hashes() == graphs.content_hashes()
