"""One very large graph: time and memory near linear, estimates marked."""

import time
import tracemalloc

import numpy as np
import pytest

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.structure.kernels.sparse_eigenvalues import estimated_eigenvalues
from graphglass.structure.profile import profile

NODES = 10**6


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["star", "path"])
def test_a_million_nodes(shape: str) -> None:
    def graph(nodes: int):
        sources = np.zeros(nodes - 1, int) if shape == "star" else np.arange(nodes - 1)
        return canonical_graph_set([nodes], sources, np.arange(1, nodes))

    profile(graph(150_000))  # compiles the kernels
    tracemalloc.start()
    started = time.process_time()
    measured = profile(graph(NODES))
    spent = time.process_time() - started
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert spent < 5
    assert peak < 1 << 30
    assert measured.estimated[0] == (shape == "path")
    assert measured.aggregates[0, 1] == NODES - 1
    assert (np.diff(measured.sketch[0, :8]) >= 0).all()


def test_estimates_lie_inside_the_spectrum_and_find_its_end() -> None:
    rng = np.random.default_rng(3)
    dense = np.triu(rng.random((300, 300)) < 0.05, 1)
    dense = (dense | dense.T).astype(float)
    degree = dense.sum(axis=1)
    matrix = dense / np.sqrt(np.outer(degree, degree))
    rows, columns = np.nonzero(matrix)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=300))])
    null = np.sqrt(degree / degree.sum())[None]
    start = rng.standard_normal(300)
    found = estimated_eigenvalues(offsets, columns.astype(np.int32), matrix[rows, columns], null, start, 8)
    exact = np.linalg.eigvalsh(matrix - np.outer(null[0], null[0]))[::-1]
    assert (np.diff(found) <= 0).all()
    assert (found <= exact[:8] + 1e-9).all()
    np.testing.assert_allclose(found[0], exact[0], atol=0.02)
