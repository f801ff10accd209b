"""Return probabilities against dense matrix powers."""

import numpy as np
import pytest

from glassbench.baselines.node_inputs import return_probabilities


@pytest.mark.parametrize("steps", [1, 2, 7, 16])
def test_they_are_the_diagonals_of_the_transition_matrix_powers(make_graphs, steps):
    graphs = make_graphs(4, "ring", 0)
    found = return_probabilities(graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours, steps)
    for i, graph in enumerate(graphs):
        n = graph.node_count
        dense = np.zeros((n, n))
        dense[graph.end_nodes, graph.neighbours] = 1
        move = dense / dense.sum(axis=1, keepdims=True)
        expected = np.stack([np.diag(np.linalg.matrix_power(move, k)) for k in range(1, steps + 1)], axis=1)
        rows = slice(graphs.node_offsets[i], graphs.node_offsets[i + 1])
        np.testing.assert_allclose(found[rows], expected, atol=1e-6)
