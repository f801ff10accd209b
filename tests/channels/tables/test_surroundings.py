"""The untrained network behind the channel `surroundings`, recomputed with NetworkX and dense products."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.channels.tables import surroundings
from graphglass.channels.tables.surroundings import BIAS, GAIN, LAYERS, WIDTH, RandomLayersMap
from graphglass.graphs.canonical import canonical_graph_set


def dense(graph: nx.Graph, numbers: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    """The same network for one graph; `numbers` are standardised, `labels` columns of the vocabulary."""
    adjacency = nx.to_numpy_array(graph, nodelist=range(len(graph)), weight=None)
    means = adjacency / np.maximum(adjacency.sum(axis=1, keepdims=True), 1)
    entries = numbers.shape[1] + (labels is not None)
    values = numbers @ surroundings._weights("numbers", numbers.shape[1]) / entries**0.5
    if labels is not None:
        values += surroundings._weights("labels", surroundings.VOCABULARY + 1)[labels] / entries**0.5
    found = []
    for layer, bias in enumerate(surroundings._weights("bias", LAYERS)):
        raised = GAIN * values + BIAS * bias
        nodes = raised / (1 + np.abs(raised))
        found += [nodes.mean(axis=0), nodes.min(axis=0), nodes.max(axis=0)]
        if layer + 1 < LAYERS:
            own, near = surroundings._layers()[layer].reshape(2, WIDTH, WIDTH)
            values = nodes @ own + means @ nodes @ near
    return np.concatenate(found)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), nodes=st.integers(1, 12), labelled=st.booleans())
def test_the_compiled_network_equals_dense_products(seed: int, nodes: int, labelled: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(nodes, 0.3, seed=seed)
    ends = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    values = rng.normal(size=(nodes, 2))
    names = rng.integers(0, 3, nodes) if labelled else None
    profiled = measure_graphs(
        canonical_graph_set([nodes], ends[:, 0], ends[:, 1], attributes=values, node_labels=names)
    )
    columns = RandomLayersMap()
    columns.fit(profiled)
    descriptors = [dict(graph.degree), nx.clustering(graph), nx.core_number(graph)]
    shape = np.log1p(np.array([[table[node] for table in descriptors] for node in range(nodes)], dtype=float))
    numbers = np.concatenate([shape, values.astype(np.float32)], axis=1)
    deviation = numbers.std(axis=0)
    numbers = (numbers - numbers.mean(axis=0)) / np.where(deviation > 1e-9, deviation, 1)
    places = None if names is None else np.unique(names, return_inverse=True)[1]
    np.testing.assert_allclose(columns.table(profiled)[0], dense(graph, numbers, places), atol=1e-9)


def test_a_label_that_no_reference_has_shares_one_column() -> None:
    def ring(labels: list[int]) -> object:
        return measure_graphs(canonical_graph_set([3], [0, 1, 2], [1, 2, 0], node_labels=labels))

    columns = RandomLayersMap()
    columns.fit(ring([0, 1, 1]))
    seen, new, other = (columns.table(ring(labels)) for labels in ([0, 1, 1], [0, 1, 7], [0, 1, 9]))
    assert np.array_equal(new, other)
    assert not np.allclose(seen, new)
