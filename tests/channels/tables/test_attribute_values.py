"""The channel that reads what values attributes take."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from graphglass import GraphGlass, read_graphs
from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.channels.tables.attribute_values import LEVELS, AttributeMap, are_positions, attribute_summary
from graphglass.channels.tables.table_channel import rounded
from graphglass.graphs.canonical import canonical_graph_set


def attributed(count, seed, change=lambda values: values):
    """Random trees whose nodes carry two amounts."""
    generator = np.random.default_rng(seed)
    graphs = []
    for index in range(count):
        tree = nx.random_labeled_tree(int(generator.integers(8, 20)), seed=seed * 1000 + index)
        values = change(generator.normal(size=(len(tree), 2)))
        for node, row in zip(tree, values, strict=True):
            tree.nodes[node]["amount"], tree.nodes[node]["age"] = map(float, row)
        graphs.append(tree)
    return read_graphs(graphs)


def test_columns_by_hand():
    graphs = canonical_graph_set([3, 1], [0, 1], [1, 2], attributes=[[1.0], [2.0], [6.0], [5.0]])
    found = AttributeMap().table(measure_graphs(graphs))
    around = [2.0, 3.5, 2.0], [0.0]  # means over the neighbours; an isolated node has none
    expected = [
        np.concatenate([np.quantile(values, LEVELS), np.quantile(means, LEVELS)])
        for values, means in zip(([1.0, 2.0, 6.0], [5.0]), around, strict=True)
    ]
    assert found == pytest.approx(np.array(expected))
    assert attribute_summary(graphs) == pytest.approx(np.array([[3, (14 / 3) ** 0.5, 1, 6], [5, 0, 5, 5]]))


def test_positions_in_space_have_no_values():
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(30, 3))
    chain = np.cumsum(1.5 * steps / np.linalg.norm(steps, axis=1, keepdims=True), axis=0)  # bonds of one length
    molecule = canonical_graph_set([30], np.arange(29), np.arange(1, 30), attributes=chain)
    assert are_positions(molecule)
    columns = AttributeMap()
    columns.fit(measure_graphs(molecule))
    assert columns.table(measure_graphs(molecule)).shape == (1, 0)
    restored = AttributeMap()
    restored.restore(columns.state())
    assert restored.table(measure_graphs(molecule)).shape == (1, 0)
    assert not are_positions(replace(molecule, attributes=rng.normal(size=(30, 3)).astype(np.float32)))
    one_column = replace(molecule, attributes=molecule.attributes[:, :1], attribute_names=("x",))
    assert not are_positions(one_column)


@pytest.mark.parametrize("kind", ["level", "spread", "one node"])
def test_the_default_detects_changed_values(kind):
    def change(values):
        if kind == "level":
            return values + np.array([1.5, 0])
        if kind == "spread":
            return values * np.array([2.5, 1])
        values[0, 0] += 8
        return values

    detector = GraphGlass().fit(attributed(120, 1))
    scores = [detector.decision_function(attributed(40, 2)), detector.decision_function(attributed(40, 3, change))]
    assert roc_auc_score(np.repeat([0, 1], 40), np.concatenate(scores)) > 0.9


def test_flags_are_no_positions():
    """Between the sides of a bipartite graph all edges have one length; the columns are still values."""
    count = 40
    sides = (np.arange(count) % 2)[:, None] == np.arange(2)
    ends = np.arange(count), (np.arange(count) + 1) % count
    ring = canonical_graph_set([count], *ends, attributes=sides.astype(float))
    assert not are_positions(ring)


def test_values_past_single_precision_stay_finite():
    assert np.isfinite(rounded(np.array([[1e300, -1e300, 2.5]]))).all()
