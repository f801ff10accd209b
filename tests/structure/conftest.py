"""Graphs to measure and plain dense references to measure them against."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet


def build(*graphs: nx.Graph) -> GraphSet:
    counts = [len(graph) for graph in graphs]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    ends = [np.array(list(graph.edges)).reshape(-1, 2) + at for graph, at in zip(graphs, offsets, strict=False)]
    edges = np.concatenate([np.zeros((0, 2), np.int64), *ends]).astype(np.int64)
    return canonical_graph_set(counts, edges[:, 0], edges[:, 1])


def eigenvalues(graph: nx.Graph) -> NDArray[np.float64]:
    adjacency = nx.to_numpy_array(graph, nodelist=range(len(graph)))
    degree = adjacency.sum(axis=1)
    scale = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return np.linalg.eigvalsh(np.diag((degree > 0).astype(float)) - scale[:, None] * adjacency * scale)


def named(name: str) -> nx.Graph:
    rng = np.random.default_rng(3)
    makers = {
        "one node": lambda: nx.empty_graph(1),
        "two nodes": lambda: nx.path_graph(2),
        "no edges": lambda: nx.empty_graph(12),
        "clique": lambda: nx.complete_graph(10),
        "large clique": lambda: nx.complete_graph(150),
        "star": lambda: nx.star_graph(12),
        "large star": lambda: nx.star_graph(300),
        "cycle": lambda: nx.cycle_graph(11),
        "large cycle": lambda: nx.cycle_graph(400),
        "bipartite": lambda: nx.complete_bipartite_graph(4, 7),
        "two cliques": lambda: nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(6)),
        "parts": lambda: nx.disjoint_union_all([nx.cycle_graph(60 + i) for i in range(5)] + [nx.empty_graph(2)]),
        "twelve parts": lambda: nx.disjoint_union_all([nx.path_graph(20)] * 12),
        "random 500": lambda: nx.gnm_random_graph(500, 2000, seed=1),
        "random 900": lambda: nx.gnm_random_graph(900, 1100, seed=2),
        "tree 1200": lambda: nx.from_edgelist([(i, int(rng.integers(i))) for i in range(1, 1200)]),
        "star-like 1000": lambda: nx.from_edgelist([(i, int(rng.integers(i) ** 2 // i)) for i in range(1, 1000)]),
        "grid 600": lambda: nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 30)),
        "path 700": lambda: nx.path_graph(700),
        "caveman": lambda: nx.connected_caveman_graph(40, 8),
        "regular": lambda: nx.random_regular_graph(4, 400, seed=4),
        "hypercube": lambda: nx.convert_node_labels_to_integers(nx.hypercube_graph(8)),
    }
    return makers[name]()


@pytest.fixture(scope="session", name="build")
def _build():
    return build


@pytest.fixture(scope="session", name="eigenvalues")
def _eigenvalues():
    return eigenvalues


@pytest.fixture(scope="session", name="named")
def _named():
    return named
