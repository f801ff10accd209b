"""Adjacency matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from graphglass.graphs.read import read_graphs, read_report

PATH = np.diag(np.ones(3), k=1)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix, sparse.csc_array, np.asarray])
def test_every_kind_of_matrix(kind: type) -> None:
    graphs = read_graphs([kind(PATH), kind(PATH + PATH.T)])
    assert graphs.edge_counts.tolist() == [3, 3]
    assert graphs.outgoing.tolist() == [True, False, True, False, True, False, *[True] * 6]
    assert graphs.edge_attributes is None  # all weights are 1
    plain = read_graphs([kind(PATH), kind(PATH + PATH.T)], directed=False)
    assert plain.removed.tolist() == [[0, 0, 3], [0, 0, 0]]
    assert read_graphs(kind(PATH)).edge_count == 3


def test_stored_zeros_are_no_edges() -> None:
    matrix = sparse.csr_array((np.array([0.0, 1.0]), (np.array([0, 1]), np.array([1, 2]))), shape=(3, 3))
    assert read_graphs(matrix).edge_count == 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (np.ones((2, 3)), "square, found shape (2, 3)"),
        (np.ones(3), "square"),
        (np.full((2, 2), np.nan), "NaN or infinite"),
        (sparse.csr_array((0, 0)), "no nodes"),
        (sparse.csr_array((10**9, 10**9)), "max_nodes_per_graph"),
    ],
)
def test_bad_matrices_are_left_out(bad: object, reason: str) -> None:
    result = read_report([PATH, bad])
    assert result.graphs.ids == ("graph-0",)
    assert reason in result.rejects[0].reason
