import numpy as np
import pytest

from graphglass.baselines import BagKNN
from graphglass.graphs import canonical_graph_set


def test_features_by_hand():
    graphs = canonical_graph_set(
        [3, 2], [0, 1, 3], [1, 2, 4], node_labels=[5, 5, 7, 5, 5], attributes=[[0.0], [2.0], [4.0], [1.0], [1.0]]
    )
    rows = BagKNN()
    rows.fit(graphs)
    path, pair = rows._features(graphs)
    assert path[:2] == pytest.approx(np.log1p([3, 2]))
    assert path[2:13] == pytest.approx([0, 2 / 3, 1 / 3] + [0] * 8)  # degrees
    assert path[13:16] == pytest.approx([2 / 3, 1 / 3, 0])  # labels 5, 7 and others
    assert path[16:] == pytest.approx([2.0, np.sqrt(8 / 3), 0.0, 4.0])
    assert pair[16:] == pytest.approx([1.0, 0.0, 1.0, 1.0])


def test_a_graph_of_other_content_scores_higher():
    rng = np.random.default_rng(0)
    sizes = np.full(30, 6)
    ring = np.arange(180)
    target = np.where(ring % 6 == 5, ring - 5, ring + 1)
    values = rng.normal(size=(180, 1))
    values[-6:] += 8
    graphs = canonical_graph_set(sizes, ring, target, attributes=values)
    scores = BagKNN().fit(graphs[:25]).decision_function(graphs[25:])
    assert scores.argmax() == 4
