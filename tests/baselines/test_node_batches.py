"""Batches are the chosen graphs, and features are what the schema says."""

import numpy as np
import pytest
import torch

from graphglass.baselines import node_batches as batches
from graphglass.baselines.node_batches import Inputs, InputSchema, degree_bucket
from graphglass.errors import SchemaError
from graphglass.graphs.canonical import canonical_graph_set


def test_a_batch_holds_the_chosen_graphs_in_order(make_graphs):
    graphs = make_graphs(6, "ring", 0)
    chosen = np.array([4, 1, 5])
    batch = Inputs(graphs, InputSchema.of(graphs, "degree", 0)).batch(chosen)
    expected = graphs[chosen]
    n = expected.node_count
    dense = np.zeros((n, n))
    dense[np.repeat(np.arange(n), np.diff(expected.neighbour_offsets)), expected.global_neighbours] = 1
    np.testing.assert_array_equal(batch.adjacency.to_dense().numpy(), dense)
    np.testing.assert_array_equal(batch.offsets.numpy(), expected.node_offsets)
    np.testing.assert_array_equal(batch.features.argmax(1).numpy(), expected.node_labels)
    root = 1 / np.sqrt(dense.sum(1) + 1)
    np.testing.assert_allclose(batch.normalised.to_dense().numpy(), dense * root[:, None] * root, rtol=1e-6)


def test_keeping_edges_drops_the_rest(make_graphs):
    graphs = make_graphs(2, "clique", 0)
    batch = Inputs(graphs, InputSchema.of(graphs, "degree", 0)).batch(np.arange(2))
    kept = (batch.rows + batch.columns) % 2 == 0
    dense = batch.adjacency.to_dense()
    odd = (torch.arange(len(dense))[:, None] + torch.arange(len(dense))) % 2 == 1
    torch.testing.assert_close(batch.keep_edges(kept).adjacency.to_dense(), dense.masked_fill(odd, 0.0))


def test_batches_in_order_cover_every_graph_within_the_node_budget(make_graphs, monkeypatch):
    monkeypatch.setattr(batches, "NODES_PER_BATCH", 70)
    graphs = make_graphs(7, "ring", 1)
    parts = list(Inputs(graphs, InputSchema.of(graphs, "degree", 0)).in_order())
    assert np.concatenate([part.sizes.numpy() for part in parts]).tolist() == graphs.sizes.tolist()
    assert all(len(part) == 1 or part.sizes.sum() <= 70 for part in parts)
    assert 1 < len(parts) < 7


def test_an_unseen_label_has_its_own_column():
    schema = InputSchema.of(canonical_graph_set([3], [0, 1], [1, 2], node_labels=[7, 9, 7]), "degree", 0)
    found = schema.features(canonical_graph_set([4], [0], [1], node_labels=[9, 8, 7, 100]))
    assert found.argmax(1).tolist() == [1, 2, 0, 2]
    assert schema == InputSchema.from_json(schema.to_json())


def test_attributes_are_standardised_by_the_training_graphs_and_their_width_is_checked():
    train = canonical_graph_set([4], [0], [1], attributes=[[0.0, 5.0], [2.0, 5.0], [0.0, 5.0], [2.0, 5.0]])
    schema = InputSchema.of(train, "degree", 0)
    found = schema.features(canonical_graph_set([1], [], [], attributes=[[3.0, 6.0]]))
    torch.testing.assert_close(found, torch.tensor([[2.0, 1.0]]))
    with pytest.raises(SchemaError, match="2 attributes per node, found 0"):
        schema.features(canonical_graph_set([1], [], []))


def test_degree_buckets_are_exact_when_small_and_bounded_when_large():
    degrees = np.array([0, 1, 15, 16, 22, 23, 32, 100_000])
    assert degree_bucket(degrees).tolist() == [0, 1, 15, 16, 16, 17, 18, 31]


def test_attributes_are_standardised_in_double_precision():
    """Single precision loses the mean of a million values far from 0, and finds spread where there is none."""
    count = 1_000_000
    values = np.random.default_rng(0).normal(1000, 1, (count, 1))
    columns = np.hstack([values, np.full((count, 1), 0.1)])
    graphs = canonical_graph_set([count], [], [], ids=["many"], attributes=columns)
    schema = InputSchema.of(graphs, "degree", 0)
    assert schema.centre[0] == pytest.approx(1000, abs=0.01)
    assert schema.scale == pytest.approx((1.0, 1.0), abs=0.01)
