import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.glass.network.graph_batch import GraphBatch, budget_batches, epoch_batches

COSTS = st.lists(st.integers(1, 50), min_size=1, max_size=60).map(np.array)


def test_cuts_by_hand():
    batches = budget_batches(np.arange(6), np.array([4, 4, 4, 30, 1, 1]), graphs=3, budget=9)
    assert [batch.tolist() for batch in batches] == [[0, 1], [2], [3], [4, 5]]
    assert [len(batch) for batch in budget_batches(np.arange(7), np.ones(7, int), graphs=3, budget=99)] == [3, 3, 1]


@settings(max_examples=50, deadline=None)
@given(cost=COSTS, graphs=st.integers(1, 8), budget=st.integers(1, 120))
def test_every_graph_once_within_the_limits(cost, graphs, budget):
    batches = budget_batches(np.arange(len(cost)), cost, graphs=graphs, budget=budget)
    assert np.concatenate(batches).tolist() == list(range(len(cost)))
    for batch in batches:
        assert len(batch) <= graphs
        assert len(batch) == 1 or cost[batch].sum() <= budget


@settings(max_examples=30, deadline=None)
@given(cost=COSTS, seed=st.integers(0, 99))
def test_epochs_are_complete_and_repeatable(cost, seed):
    options = {"graphs": 8, "budget": 100, "seed": seed}
    first = [batch.tolist() for batch in epoch_batches(cost, epoch=3, **options)]
    assert first == [batch.tolist() for batch in epoch_batches(cost, epoch=3, **options)]
    assert sorted(graph for batch in first for graph in batch) == list(range(len(cost)))


def test_epochs_differ_and_a_lonely_graph_joins():
    options = {"graphs": 8, "budget": 100, "seed": 0}
    orders = [epoch_batches(np.ones(17, int), epoch=epoch, **options) for epoch in (0, 1)]
    assert orders[0][0].tolist() != orders[1][0].tolist()
    assert [len(batch) for batch in orders[0]] == [8, 9]


def batch_of(graphs):
    return GraphBatch.of(graphs, torch.from_numpy(graphs.node_labels[:, None].astype(np.float32)))


def test_a_selection_holds_the_chosen_graphs_in_order(make_graphs):
    graphs = make_graphs(count=6, labels=[0, 1, 2])
    chosen = np.array([4, 1, 5])
    batch, expected = batch_of(graphs).take(torch.from_numpy(chosen)), graphs[chosen]
    n = expected.node_count
    dense = np.zeros((n, n))
    dense[expected.end_nodes, expected.global_neighbours] = 1
    np.testing.assert_array_equal(batch.adjacency.to_dense().numpy(), dense)
    np.testing.assert_array_equal(batch.node_offsets.numpy(), expected.node_offsets)
    np.testing.assert_array_equal(batch.features[:, 0].numpy(), expected.node_labels)
    np.testing.assert_array_equal(batch.graph_of.numpy(), expected.node_graph)
    root = 1 / np.sqrt(dense.sum(1) + 1)
    np.testing.assert_allclose(batch.normalised.to_dense().numpy(), dense * root[:, None] * root, rtol=1e-6)


def test_keeping_edges_drops_the_rest(make_graphs):
    batch = batch_of(make_graphs(count=2, labels=[0, 1]))
    kept = (batch.sources + batch.targets) % 2 == 0
    dense = batch.adjacency.to_dense()
    odd = (torch.arange(len(dense))[:, None] + torch.arange(len(dense))) % 2 == 1
    torch.testing.assert_close(batch.keep_edges(kept).adjacency.to_dense(), dense.masked_fill(odd, 0.0))


def test_pieces_cover_every_graph_within_the_budget(make_graphs):
    graphs = make_graphs(count=7, labels=[0, 1])
    batch = batch_of(graphs)
    budget = int(batch.cost().max()) + 10
    pieces = list(batch.pieces(budget))
    assert torch.cat([chosen for chosen, _ in pieces]).tolist() == list(range(7))
    assert torch.cat([part.sizes for _, part in pieces]).tolist() == graphs.sizes.tolist()
    assert all(len(part) == 1 or part.cost().sum() <= budget for _, part in pieces)
    assert 1 < len(pieces)
    assert [chosen.tolist() for chosen, _ in batch.pieces(10**9, np.array([3, 1]))] == [[3, 1]]
