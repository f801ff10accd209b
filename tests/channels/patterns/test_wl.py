"""Neighbourhood hashes: equal exactly where neighbourhoods are equal."""

from __future__ import annotations

import numpy as np
import pytest

from graphglass.channels.patterns.unmatched_patterns import over_radius
from graphglass.channels.patterns.wl import neighbourhood_keys
from graphglass.graphs.canonical import canonical_graph_set


def keys(count, edges, labels, edge_labels=None):
    sources, targets = zip(*edges, strict=True)
    graphs = canonical_graph_set([count], sources, targets, node_labels=labels, edge_labels=edge_labels)
    return neighbourhood_keys(graphs, graphs.node_labels, graphs.edge_labels)


def test_a_path_and_a_triangle_part_at_radius_one():
    path = keys(3, [(0, 1), (1, 2)], [0, 0, 0])
    triangle = keys(3, [(0, 1), (1, 2), (0, 2)], [0, 0, 0])
    assert set(path[0]) == set(triangle[0])
    assert path[1][0] == path[1][2] != path[1][1]
    assert path[1][1] == triangle[1][0]  # both see two neighbours of the same name
    assert len(set(triangle[3])) == 1
    assert path[2][1] != triangle[2][0]


def test_a_far_label_is_seen_at_its_radius():
    plain = keys(4, [(0, 1), (1, 2), (2, 3)], [0, 0, 0, 0])
    marked = keys(4, [(0, 1), (1, 2), (2, 3)], [0, 0, 0, 7])
    for radius in range(3):
        assert plain[radius][0] == marked[radius][0]
    assert plain[3][0] != marked[3][0]


def test_edge_names_count():
    single = keys(2, [(0, 1)], [0, 0], [1])
    double = keys(2, [(0, 1)], [0, 0], [2])
    assert np.array_equal(single[0], double[0])
    assert single[1][0] != double[1][0]


def test_swapping_edge_names_between_neighbours_counts():
    one = keys(3, [(0, 1), (0, 2)], [0, 1, 2], [5, 6])
    other = keys(3, [(0, 1), (0, 2)], [0, 1, 2], [6, 5])
    assert one[1][0] != other[1][0]


def test_negative_labels_are_names_like_any_other():
    assert keys(2, [(0, 1)], [-1, 3])[0][0] != keys(2, [(0, 1)], [1, 3])[0][0]


def test_the_weight_of_a_pattern_is_spread_over_its_radius():
    star = canonical_graph_set([6], [0, 0, 0, 0], [1, 2, 3, 4])  # and a node with no neighbour
    weights = np.array([0.0, 3, 3, 0, 0, 1])
    assert (over_radius(star, weights, 0) == weights).all()
    for radius in (1, 2, 3):
        spread = over_radius(star, weights, radius)
        assert spread.sum() == pytest.approx(7)
        assert spread[0] > spread[3] == spread[4]  # what both strange neighbourhoods share
        assert spread[1] == spread[2] > spread[3]
    assert not over_radius(star, np.zeros(6), 3).any()
