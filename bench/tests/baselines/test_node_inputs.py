"""Features are what the schema says."""

import numpy as np
import pytest
import torch

from glassbench.baselines.node_inputs import InputSchema, degree_bucket
from graphglass.errors import SchemaError
from graphglass.graphs.canonical import canonical_graph_set


def test_an_unseen_label_has_its_own_column():
    schema = InputSchema.of(canonical_graph_set([3], [0, 1], [1, 2], node_labels=[7, 9, 7]), "degree", 0)
    found = schema.features(canonical_graph_set([4], [0], [1], node_labels=[9, 8, 7, 100]))
    assert found.argmax(1).tolist() == [1, 2, 0, 2]


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
