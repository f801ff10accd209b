import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from graphglass.structure.profile import AGGREGATE_NAMES, profile


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 24), st.floats(0, 1), st.integers(0, 2**20))
def test_every_aggregate_equals_a_plain_computation(build, n, p, seed):
    graph = nx.gnp_random_graph(n, p, seed=seed)
    measured = profile(build(graph))
    got = dict(zip(AGGREGATE_NAMES, measured.aggregates[0], strict=True))
    degree = np.array([d for _, d in graph.degree])
    clustering = np.array(list(nx.clustering(graph).values()))
    triangles = sum(nx.triangles(graph).values()) / 3
    adjacency = nx.to_numpy_array(graph)
    common = np.triu(adjacency @ adjacency, 1)
    cycles = (common * (common - 1) / 2).sum() / 2  # a cycle has two pairs of opposite corners
    expected = {
        "nodes": n, "edges": graph.number_of_edges(), "density": nx.density(graph),
        "components": nx.number_connected_components(graph),
        "degree_mean": degree.mean(), "degree_std": degree.std(), "degree_entropy": entropy(np.bincount(degree)),
        "degree_q25": np.quantile(degree, 0.25), "degree_q50": np.median(degree),
        "degree_q75": np.quantile(degree, 0.75),
        "clustering_mean": clustering.mean(), "clustering_std": clustering.std(),
        "transitivity": nx.transitivity(graph), "triangles": triangles, "four_cycles": cycles,
        "motif_density": (triangles + cycles) / n, "core_max": max(nx.core_number(graph).values()),
    }  # fmt: skip
    for name in AGGREGATE_NAMES:
        np.testing.assert_allclose(got[name], expected[name], atol=1e-7, err_msg=name)
