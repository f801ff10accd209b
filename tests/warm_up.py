"""Compile the kernels into numba's cache: `make test` runs this once, before two workers would each do it."""

import networkx as nx
import numpy as np

from graphglass import GraphGlass, load_dataset, profile, read_graphs
from graphglass.graphs.canonical import canonical_graph_set

molecules = load_dataset("MUTAG")
# Sizes on both sides of every switch between a dense and an iterative computation.
profile(read_graphs([nx.gnp_random_graph(n, p, seed=n) for n, p in ((8, 0.4), (60, 0.2), (300, 0.05), (600, 0.01))]))
random = np.random.default_rng(0)
ends = random.integers(0, 10, (2, 70, 20)) + 10 * np.arange(70)[:, None]
shaped = canonical_graph_set(
    np.full(70, 10), *ends.reshape(2, -1), directed=True, node_labels=random.integers(0, 3, 700),
    attributes=random.normal(size=(700, 3)), attribute_names=("x", "y", "z"),
    edge_attributes=random.normal(size=(1400, 1)), edge_attribute_names=("amount",),
)  # fmt: skip
for graphs in (molecules, molecules.structure_only(), shaped):
    fitted = GraphGlass().fit(graphs[:60])
    fitted.decision_function(graphs[60:])
    fitted.explain(graphs[60])
