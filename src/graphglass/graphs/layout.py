"""Where to put the nodes of one graph on paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet

_ROUNDS = 150


def stress_layout(graph: GraphSet) -> NDArray[np.float64]:
    """Positions in the unit square that keep drawn distances close to path lengths, (nodes, 2).

    Classical scaling of the path lengths, then stress majorisation. Deterministic. Components stand beside each other
    at slightly more than the largest distance inside one.
    """
    if len(graph) != 1:
        raise GraphError(f"One graph is laid out at a time, found {len(graph)}.")
    nodes = graph.node_count
    if nodes == 1:
        return np.full((1, 2), 0.5)
    ends = np.ones(len(graph.neighbours))
    adjacency = csr_array((ends, graph.neighbours, graph.neighbour_offsets), shape=(nodes, nodes))
    distance = shortest_path(adjacency, method="D", unweighted=True)
    reachable = np.isfinite(distance)
    distance[~reachable] = distance[reachable].max() + 1.5
    places = _classical_scaling(distance)
    # Ties in the scaling put twin leaves on one spot; a fixed nudge per node lets the stress pull them apart.
    angles = 2.399963 * np.arange(nodes)
    places += 0.05 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    weights = 1 / np.where(distance > 0, distance, np.inf) ** 2
    total = weights.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        difference = places[:, None, :] - places[None, :, :]  # (nodes, nodes, 2)
        drawn = np.maximum(np.sqrt((difference**2).sum(axis=2)), 1e-9)
        pull = weights * distance / drawn
        places = (weights @ places + (pull[:, :, None] * difference).sum(axis=1)) / total
    places -= places.min(axis=0)
    extent = places.max()
    places /= extent if extent > 0 else 1
    return np.asarray(places + (1 - places.max(axis=0)) / 2)


def breadth_first(graph: GraphSet, start: int) -> NDArray[np.int64]:
    """All nodes in the order of a walk outward from ``start``, then from the lowest node not yet seen."""
    order: list[int] = []
    seen = np.zeros(graph.node_count, dtype=bool)
    for root in (start, *range(graph.node_count)):
        if seen[root]:
            continue
        seen[root] = True
        queue = [root]
        for node in queue:
            others = graph.neighbours[graph.neighbour_offsets[node] : graph.neighbour_offsets[node + 1]]
            fresh = others[~seen[others]]
            seen[fresh] = True
            queue.extend(fresh.tolist())
        order.extend(queue)
    return np.asarray(order, dtype=np.int64)


def _classical_scaling(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    squared = distance**2
    centred = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean())
    values, vectors = np.linalg.eigh(centred)
    return np.asarray(vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0)))
