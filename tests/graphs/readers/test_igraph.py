"""igraph graphs."""

from __future__ import annotations

import igraph
import numpy as np

from graphglass.graphs.read import read_graphs, read_report


def test_names_labels_and_attributes() -> None:
    graph = igraph.Graph(edges=[(0, 1), (1, 2)], directed=True)
    graph["id"], graph["label"] = "g", 3
    graph.vs["name"] = ["a", "b", "c"]
    graph.vs["label"] = ["C", "C", "O"]
    graph.vs["charge"] = [0.5, 1.5, 2.5]
    graph.es["label"] = [1, 2]
    graphs = read_graphs(graph)
    assert graphs.ids == ("g",)
    assert graphs.node_names is not None
    assert graphs.node_names.tolist() == ["a", "b", "c"]
    assert graphs.attribute_names == ("charge",)
    np.testing.assert_array_equal(graphs.edge_labels, [1, 1, 2, 2])
    np.testing.assert_array_equal(graphs.labels, [3])
    assert graphs.outgoing.tolist() == [True, False, True, False]
    assert read_graphs(graph, directed=False).removed.tolist() == [[0, 0, 2]]


def test_an_empty_graph_is_left_out() -> None:
    result = read_report([igraph.Graph.Ring(4), igraph.Graph()])
    assert result.graphs.edge_counts.tolist() == [4]
    assert result.rejects[0].reason == "the graph has no nodes"
