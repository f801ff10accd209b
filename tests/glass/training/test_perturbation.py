import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.glass.training.perturbation import AUTHORS_KINDS, KINDS, perturb, rewire_mask_or_shuffle
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


def test_the_authors_kinds_do_what_they_say(make_graphs):
    graphs = make_graphs(count=300, seed=5, labels=[1, 5], attributes=2, largest=40)
    done, kinds = rewire_mask_or_shuffle(graphs, seed=2)
    per_node = kinds[graphs.node_graph]
    same_label, same_values = done.node_labels == graphs.node_labels, done.attributes == graphs.attributes
    gained = {name: done.edge_counts[kinds == i].sum() / graphs.edge_counts[kinds == i].sum() - 1
              for i, name in enumerate(AUTHORS_KINDS)}  # fmt: skip
    # 30% of the edges are added, some of them present already or loops, and 2.25% removed.
    assert 0.1 < gained["rewiring"] < 0.29
    assert gained["masking"] == gained["shuffling"] == 0
    assert same_label[per_node == 0].all()
    assert same_values[per_node == 0].all()
    masked = per_node == 1
    assert set(done.node_labels[masked & ~same_label]) == {-1}
    assert not done.attributes[masked][~same_values[masked]].any()
    assert (~same_label)[masked].mean() == pytest.approx(0.2, abs=0.03)
    assert (~same_values)[masked].mean() == pytest.approx(0.2, abs=0.03)
    for index in np.flatnonzero(kinds == 2):
        nodes = slice(graphs.node_offsets[index], graphs.node_offsets[index + 1])
        before = np.column_stack([graphs.node_labels[nodes], graphs.attributes[nodes]])
        after = np.column_stack([done.node_labels[nodes], done.attributes[nodes]])
        assert sorted(map(tuple, before)) == sorted(map(tuple, after))
        assert (before != after).any(axis=1).sum() <= max(2, round(0.2 * len(before)))


def test_bare_graphs_are_rewired_and_seeds_repeat(make_graphs):
    graphs = make_graphs(count=40, largest=30)
    assert not rewire_mask_or_shuffle(graphs)[1].any()
    hashes = [rewire_mask_or_shuffle(graphs, seed=seed)[0].content_hashes() for seed in (4, 4, 5)]
    assert hashes[0] == hashes[1] != hashes[2]
