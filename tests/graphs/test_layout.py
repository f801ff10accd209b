import numpy as np
import pytest

from graphglass.errors import GraphError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.layout import breadth_first, stress_layout


def ring(size):
    return canonical_graph_set([size], range(size), [(i + 1) % size for i in range(size)])


def test_a_ring_is_drawn_as_a_circle():
    places = stress_layout(ring(12))
    assert places.min() >= 0
    assert places.max() <= 1
    radii = np.linalg.norm(places - places.mean(axis=0), axis=1)
    assert radii.std() / radii.mean() < 0.05


def test_neighbours_stand_closer_than_strangers():
    path = canonical_graph_set([9], range(8), range(1, 9))
    places = stress_layout(path)
    gaps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert gaps.max() < np.linalg.norm(places[0] - places[-1]) / 3


def test_components_and_single_nodes():
    apart = canonical_graph_set([4], [0, 2], [1, 3])
    places = stress_layout(apart)
    assert len({tuple(np.round(place, 3)) for place in places}) == 4
    assert stress_layout(canonical_graph_set([1], [], [])).tolist() == [[0.5, 0.5]]
    with pytest.raises(GraphError, match="One graph is laid out at a time, found 2"):
        stress_layout(canonical_graph_set([1, 1], [], []))


def test_breadth_first_visits_everything_once_and_nearest_first():
    order = breadth_first(ring(7), 3)
    assert sorted(order) == list(range(7))
    assert order[0] == 3
    assert set(order[1:3]) == {2, 4}
    assert breadth_first(canonical_graph_set([4], [0, 2], [1, 3]), 2).tolist() == [2, 3, 0, 1]
