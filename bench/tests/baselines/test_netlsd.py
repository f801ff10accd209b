import networkx as nx
import numpy as np
import pytest

from glassbench.baselines import NetLSDKNN, netlsd
from glassbench.baselines.netlsd import TIMES, heat_traces
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.read import read_graphs


@pytest.fixture
def originals():
    lonely = nx.gnp_random_graph(9, 0.2, seed=3)
    lonely.add_node(9)
    return [nx.gnp_random_graph(12, 0.3, seed=1), nx.path_graph(5), nx.complete_graph(4), lonely]


def test_equals_the_spectrum_of_networkx(originals):
    traces = heat_traces(read_graphs(originals))
    for graph, trace in zip(originals, traces, strict=True):
        values = np.linalg.eigvalsh(nx.normalized_laplacian_matrix(graph).toarray())
        np.testing.assert_allclose(trace, np.exp(-np.outer(TIMES, values)).sum(axis=1), rtol=1e-8)


def test_large_graphs_are_interpolated_close_to_the_exact_trace(monkeypatch):
    graphs = read_graphs([nx.gnp_random_graph(120, 0.08, seed=4)])
    exact = heat_traces(graphs)
    monkeypatch.setattr(netlsd, "EXACT", 50)
    monkeypatch.setattr(netlsd, "ENDS", 20)
    np.testing.assert_allclose(heat_traces(graphs), exact, rtol=0.05)
    np.testing.assert_array_equal(heat_traces(graphs), heat_traces(graphs))


def test_another_spectrum_scores_higher():
    graphs = read_graphs([nx.cycle_graph(8 + i % 3) for i in range(12)] + [nx.complete_graph(9)])
    scores = NetLSDKNN().fit(graphs[:9]).decision_function(graphs[9:])
    assert scores.argmax() == 3


def test_a_large_graph_of_equal_stars_has_its_exact_trace():
    """Its spectrum has three values, which leaves the sparse solver without a basis."""
    nodes, leaves = 1200, 5
    hubs = np.repeat(np.arange(0, nodes, leaves + 1), leaves)
    graphs = canonical_graph_set(np.array([nodes]), hubs, hubs + np.tile(np.arange(1, leaves + 1), len(hubs) // leaves))
    expected = (nodes // (leaves + 1)) * (1 + (leaves - 1) * np.exp(-TIMES) + np.exp(-2 * TIMES))
    assert heat_traces(graphs)[0] == pytest.approx(expected)
