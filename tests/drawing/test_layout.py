import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.drawing.layout import breadth_first, crossings, layout_graph
from graphglass.errors import GraphError
from graphglass.graphs.canonical import canonical_graph_set


def ring(size):
    return canonical_graph_set([size], range(size), [(i + 1) % size for i in range(size)])


def edges_of(graph):
    edges = graph.edge_list()
    return np.stack([edges.sources, edges.targets], axis=1)


def test_a_ring_is_drawn_as_a_circle():
    places = layout_graph(ring(12))
    assert places.min() >= 0
    assert places.max() <= 1
    radii = np.linalg.norm(places - places.mean(axis=0), axis=1)
    assert radii.std() / radii.mean() < 0.05


def test_neighbours_stand_closer_than_strangers_and_the_long_side_lies_flat():
    places = layout_graph(canonical_graph_set([9], range(8), range(1, 9)))
    gaps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert gaps.max() < np.linalg.norm(places[0] - places[-1]) / 3
    assert np.ptp(places[:, 0]) > 5 * np.ptp(places[:, 1])


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.integers(2, 60), st.randoms(use_true_random=False))
def test_a_tree_has_no_crossing(size, random):
    parents = [random.randrange(max(0, node - 4), node) for node in range(1, size)]
    tree = canonical_graph_set([size], range(1, size), parents)
    assert crossings(layout_graph(tree), edges_of(tree)) == 0


def test_a_grid_has_no_crossing():
    side = 7
    down = [(row * side + column, (row + 1) * side + column) for row in range(side - 1) for column in range(side)]
    along = [(row * side + column, row * side + column + 1) for row in range(side) for column in range(side - 1)]
    grid = canonical_graph_set([side * side], *zip(*down, *along, strict=True))
    assert crossings(layout_graph(grid), edges_of(grid)) == 0


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.integers(4, 20), st.randoms(use_true_random=False))
def test_a_small_planar_graph_has_no_crossing(size, random):
    # Triangles glued to an edge of those before, and every third node put into a triangle: stacked and planar.
    edges, faces = [(0, 1), (1, 2), (0, 2)], [(0, 1, 2)]
    for node in range(3, size):
        face = faces.pop(random.randrange(len(faces)))
        corners = random.sample(face, random.choice((1, 2, 3)))
        edges += [(node, corner) for corner in corners]
        faces += [(node, *pair) for pair in combinations(face, 2)]
    graph = canonical_graph_set([size], *zip(*edges, strict=True))
    assert crossings(layout_graph(graph), edges_of(graph)) == 0


def test_a_planar_graph_without_networkx_is_drawn_with_few_crossings(monkeypatch):
    # Two hubs that share every leaf: planar, but stress puts the leaves into each other's way.
    leaves = range(2, 14)
    graph = canonical_graph_set([14], [0] * 12 + [1] * 12, [*leaves, *leaves])
    assert crossings(layout_graph(graph), edges_of(graph)) == 0
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert crossings(layout_graph(graph), edges_of(graph)) < 60


def test_crossings_are_counted():
    square = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
    assert crossings(square, np.array([[0, 1], [2, 3]])) == 1  # the diagonals
    assert crossings(square, np.array([[0, 2], [1, 3]])) == 0
    assert crossings(square, np.array([[0, 1], [1, 2], [2, 3]])) == 1  # edges that share a node do not cross


def test_components_stand_apart_and_single_nodes_in_the_middle():
    apart = canonical_graph_set([8], [0, 1, 2, 4, 5], [1, 2, 3, 5, 6])
    places = layout_graph(apart)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert gaps.min() > 0.1
    assert crossings(places, edges_of(apart)) == 0
    assert layout_graph(canonical_graph_set([1], [], [])).tolist() == [[0.5, 0.5]]
    with pytest.raises(GraphError, match="One graph is laid out at a time, found 2"):
        layout_graph(canonical_graph_set([1, 1], [], []))


def test_breadth_first_visits_everything_once_and_nearest_first():
    order = breadth_first(ring(7), 3)
    assert sorted(order) == list(range(7))
    assert order[0] == 3
    assert set(order[1:3]) == {2, 4}
    assert breadth_first(canonical_graph_set([4], [0, 2], [1, 3]), 2).tolist() == [2, 3, 0, 1]
