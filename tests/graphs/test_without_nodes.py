import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import GraphError
from graphglass.graphs.canonical import canonical_graph_set


@settings(max_examples=90, deadline=None)
@given(st.integers(3, 12), st.integers(0, 10_000))
def test_matches_networkx(nodes, seed):
    graph = nx.gnp_random_graph(nodes, 0.4, seed=seed)
    edges = np.asarray(graph.edges, dtype=np.int64).reshape(-1, 2)
    labels = np.arange(nodes) * 10
    ours = canonical_graph_set([nodes], edges[:, 0], edges[:, 1], node_labels=labels)
    rng = np.random.default_rng(seed)
    group = rng.choice(nodes, rng.integers(1, nodes), replace=False)
    rest = ours.without_nodes(group)
    kept = [node for node in range(nodes) if node not in set(group.tolist())]
    assert rest.node_labels.tolist() == [node * 10 for node in kept]
    assert rest.edge_count == graph.subgraph(kept).number_of_edges()


def test_nothing_left_and_several_graphs_are_refused():
    triangle = canonical_graph_set([3], [0, 1, 2], [1, 2, 0])
    with pytest.raises(GraphError, match="leaves no graph"):
        triangle.without_nodes(np.arange(3))
    with pytest.raises(GraphError, match="one graph at a time, found 2"):
        canonical_graph_set([1, 1], [], []).without_nodes(np.array([0]))
