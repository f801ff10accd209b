import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

from graphglass.drawing.layout import breadth_first, layout_graph
from graphglass.errors import GraphError
from graphglass.graphs.canonical import canonical_graph_set


def ring(size):
    return canonical_graph_set([size], range(size), [(i + 1) % size for i in range(size)])


def adjacency(graph):
    ones = np.ones(len(graph.neighbours))
    return csr_array((ones, graph.neighbours, graph.neighbour_offsets), shape=(graph.node_count, graph.node_count))


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


@pytest.mark.parametrize("size", [4, 9, 20, 60])
def test_drawn_distances_follow_path_lengths(size):
    parents = [node // 3 for node in range(size - 1)]
    tree = canonical_graph_set([size], range(1, size), parents)
    paths = shortest_path(adjacency(tree), unweighted=True)
    drawn = squareform(pdist(layout_graph(tree)))
    assert spearmanr(squareform(paths), squareform(drawn)).statistic > 0.7


def test_components_stand_apart_and_single_nodes_in_the_middle():
    apart = canonical_graph_set([8], [0, 1, 2, 4, 5], [1, 2, 3, 5, 6])
    places = layout_graph(apart)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert gaps.min() > 0.1
    assert layout_graph(canonical_graph_set([1], [], [])).tolist() == [[0.5, 0.5]]
    with pytest.raises(GraphError, match="One graph is laid out at a time, found 2"):
        layout_graph(canonical_graph_set([1, 1], [], []))


def test_breadth_first_visits_everything_once_and_nearest_first():
    order = breadth_first(ring(7), 3)
    assert sorted(order) == list(range(7))
    assert order[0] == 3
    assert set(order[1:3]) == {2, 4}
    assert breadth_first(canonical_graph_set([4], [0, 2], [1, 3]), 2).tolist() == [2, 3, 0, 1]
