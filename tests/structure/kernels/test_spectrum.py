import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.structure.kernels.dense_eigenvalues import tridiagonal_eigenvalues, tridiagonalise
from graphglass.structure.kernels.rayleigh import probe_squares
from graphglass.structure.kernels.spectrum import (
    ABREAST,
    DENSE_CLASSES,
    component_of,
    finish_spectrum,
    iterate_graphs,
    reduce_graph,
    sketch_graphs,
)
from graphglass.structure.profile import profile

NAMES = [
    "one node", "two nodes", "no edges", "clique", "large clique", "star", "large star", "cycle", "large cycle",
    "bipartite", "two cliques", "parts", "twelve parts", "random 500", "random 900", "tree 1200", "star-like 1000",
    "grid 600", "path 700", "caveman", "regular", "hypercube",
]  # fmt: skip


def small(values):
    """lambda_2 to lambda_9, the largest repeated past the end."""
    return values[np.minimum(np.arange(1, 9), len(values) - 1)]


@pytest.mark.parametrize("name", NAMES)
def test_eigenvalues_equal_the_dense_solver(name, named, build, eigenvalues):
    graph = named(name)
    measured = profile(build(graph))
    np.testing.assert_allclose(measured.sketch[0, :8], small(eigenvalues(graph)), atol=1e-6)
    assert not measured.estimated[0]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 2**20), st.integers(0, 6))
def test_eigenvalues_of_random_graphs_with_twins(build, eigenvalues, n, p, seed, copies):
    graph = nx.gnp_random_graph(n, p, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(copies):  # a copy of a node, joined to it or not, makes a twin
        v, new = int(rng.integers(len(graph))), len(graph)
        graph.add_edges_from([(new, u) for u in list(graph[v])] + ([(new, v)] if rng.random() < 0.5 else []))
        graph.add_node(new)
    one, expected = build(graph), eigenvalues(graph)
    _, zeros = component_of(one.neighbour_offsets, one.neighbours)
    spectrum, off = np.zeros((2, len(graph)))
    classes = reduce_graph(one.neighbour_offsets, one.neighbours, spectrum, off)
    tridiagonal_eigenvalues(spectrum, off, np.zeros(1, np.int64), np.array([classes]))
    finish_spectrum(spectrum, classes, zeros)
    np.testing.assert_allclose(spectrum, expected, atol=1e-10)
    np.testing.assert_allclose(profile(one).sketch[0, :8], small(expected), atol=1e-10)


@pytest.mark.parametrize("name", ["random 500", "random 900", "parts", "tree 1200"])
def test_the_iterative_and_the_dense_route_agree(name, named, build, eigenvalues):
    graphs = build(named(name))
    sketch, estimated = np.zeros((1, 11)), np.zeros(1, np.bool_)
    arrays = graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours
    iterate_graphs(np.zeros(1, np.int64), *arrays, sketch, estimated)
    np.testing.assert_allclose(sketch[0, :8], small(eigenvalues(named(name))), atol=1e-6)
    assert not estimated[0]


def test_zero_eigenvalues_count_the_components_exactly(named, build):
    sketch = profile(build(named("parts"))).sketch[0]  # five cycles and two isolated nodes
    assert (sketch[:6] == 0).all()
    assert (sketch[6:8] > 1e-4).all()


def test_a_graph_of_fewer_than_nine_nodes_repeats_its_largest_eigenvalue(build):
    sketch = profile(build(nx.path_graph(4))).sketch[0]
    np.testing.assert_allclose(sketch[:3], [0.5, 1.5, 2.0], atol=1e-12)
    np.testing.assert_allclose(sketch[3:8], 2.0, atol=1e-12)
    assert (profile(build(nx.empty_graph(1))).sketch == 0).all()


def test_a_long_path_crosses_from_dense_to_iterative_without_a_step(build):
    below, above = (profile(build(nx.path_graph(DENSE_CLASSES + d))).sketch[0, :8] for d in (0, 1))
    exact = 1 - np.cos(np.arange(1, 9) * np.pi / (DENSE_CLASSES - 1))
    np.testing.assert_allclose(below, exact, atol=1e-10)
    np.testing.assert_allclose(above, 1 - np.cos(np.arange(1, 9) * np.pi / DENSE_CLASSES), atol=1e-8)


def test_the_sketch_kernel_leaves_what_needs_no_dense_spectrum(named, build):
    graphs = build(named("grid 600"), named("large star"), nx.empty_graph(200))
    arrays = graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours
    components, left = np.array([1.0, 1.0, 200.0]), np.zeros(3, np.bool_)
    sketch_graphs(np.arange(3), *arrays, components, *probe_squares(), np.zeros((3, 11)), left)
    assert left.tolist() == [True, False, True]  # 301 nodes, but a star has two classes


def test_an_empty_matrix_writes_nothing():
    memory = np.full(3, 7.0)
    tridiagonal_eigenvalues(memory[1:1], memory[1:1], np.zeros(1, np.int64), np.zeros(1, np.int64))
    assert memory.tolist() == [7.0, 7.0, 7.0]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=9), st.integers(0, 2**20), st.floats(0, 1))
def test_matrices_that_take_turns_have_the_eigenvalues_and_the_bits_of_each_alone(sizes, seed, joined):
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)
    diagonal, off = np.zeros(sum(sizes)), np.zeros(sum(sizes))
    alone = []
    for start, size in zip(starts, sizes, strict=True):
        matrix = rng.normal(size=(size, size)) * (rng.random((size, size)) < joined)  # without all, it falls in parts
        matrix = matrix + matrix.T
        part = slice(start, start + size)
        tridiagonalise(matrix.copy(), diagonal[part], off[part])
        own = diagonal[part].copy()
        tridiagonal_eigenvalues(own, off[part].copy(), np.zeros(1, np.int64), np.array([size]))
        np.testing.assert_allclose(np.sort(own), np.linalg.eigvalsh(matrix), atol=1e-12 * max(1, size))
        alone.append(own)
    tridiagonal_eigenvalues(diagonal, off, starts, np.array(sizes, np.int64))
    assert diagonal.tobytes() == np.concatenate(alone).tobytes()


def test_a_sketch_does_not_depend_on_the_graphs_beside_it(named, build):
    several = [nx.gnp_random_graph(5 + 3 * i, 0.3, seed=i) for i in range(2 * ABREAST + 1)] + [named("large star")]
    together = profile(build(*several)).sketch
    assert [profile(build(graph)).sketch[0].tolist() for graph in several] == together.tolist()
