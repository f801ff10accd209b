import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.embedding.training.batches import budget_batches, epoch_batches

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
