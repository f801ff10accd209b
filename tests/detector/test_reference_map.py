"""The map: places that follow the distances, and abnormal graphs outside."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from graphglass import GraphGlass
from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.detector.reference_map import _outward


@pytest.fixture(scope="module")
def detector(normals):
    return GraphGlass().fit(normals)


def test_places_follow_the_fused_distances(detector, queries):
    references, places = detector.map_positions(queries)
    fused = detector.scorer_.fused_distances(measure_graphs(queries), np.arange(len(references)))
    drawn = np.linalg.norm(places[:, None] - references[None], axis=2)
    assert spearmanr(fused.ravel(), drawn.ravel()).statistic > 0.5


def test_what_scores_above_the_references_lies_outside(detector, mutag):
    graphs = mutag.without_labels()
    references, places = detector.map_positions(graphs)
    bound = np.quantile(detector.decision_scores_, 0.95)
    high = detector.decision_function(graphs) > bound
    assert high.any()
    centre = np.median(references, axis=0)
    radius = np.quantile(np.linalg.norm(references - centre, axis=1), 0.9)
    assert (np.linalg.norm(places[high] - centre, axis=1) > radius).mean() > 0.9


def test_a_place_does_not_depend_on_the_other_graphs(detector, queries):
    together = detector.map_positions(queries)[1]
    assert np.array_equal(detector.map_positions(queries[2])[1][0], together[2])


def test_points_move_outward_alone_and_by_their_excess():
    points = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 9.0], [0.3, 0.4]])
    moved = _outward(points, np.array([1.0, 2.0, 1.0, -1.0]), radius=3.0)
    assert np.allclose(moved, [[4, 0], [5, 0], [0, 9], [0.3, 0.4]])
