"""Where to draw the nodes of one graph: drawn distances follow path lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet

_ROUNDS = 120
_Places = NDArray[np.float64]


def layout_graph(graph: GraphSet) -> _Places:
    """Positions in the unit square, (nodes, 2); the longer side has length 1.

    Every component is laid out by stress majorisation: drawn distances are close to path lengths. Deterministic.
    """
    if len(graph) != 1:
        raise GraphError(f"One graph is laid out at a time, found {len(graph)}.")
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    nodes = graph.node_count
    ends = np.ones(len(graph.neighbours))
    adjacency = csr_array((ends, graph.neighbours, graph.neighbour_offsets), shape=(nodes, nodes))
    count, component = connected_components(adjacency, directed=False)
    parts = [np.flatnonzero(component == number) for number in range(count)]
    drawn = [_wide(_component_places(adjacency[part][:, part])) for part in parts]
    places = np.zeros((nodes, 2))
    for part, corner, own in zip(parts, _corners([own.max(axis=0) for own in drawn]), drawn, strict=True):
        places[part] = corner + own
    extent = places.max()
    return places / extent if extent > 0 else np.full((nodes, 2), 0.5)


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


def _component_places(adjacency: Any) -> _Places:
    """Places of one component, given its sparse adjacency."""
    from scipy.sparse.csgraph import shortest_path

    nodes = adjacency.shape[0]
    if nodes == 1:
        return np.zeros((1, 2))
    distance = shortest_path(adjacency, method="D", unweighted=True)
    weights = 1 / np.where(distance > 0, distance, np.inf) ** 2
    # Ties put twin leaves on one spot; a fixed nudge per node lets the stress separate them.
    angles = 2.399963 * np.arange(nodes)
    places = classical_scaling(distance) + 0.05 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for _ in range(_ROUNDS):
        places = stress_step(places, distance, weights)
    return places


def classical_scaling(distance: _Places) -> _Places:
    """Torgerson's solution: the two principal axes of the doubly centred squared distances, (points, 2)."""
    squared = distance**2
    centred = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean())
    values, vectors = np.linalg.eigh(centred)
    axes = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    # The sign of an eigenvector is arbitrary; fixing it keeps places the same from run to run.
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    axes = axes * np.where(signs == 0, 1, signs)
    return np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))


def stress_step(places: _Places, distance: _Places, weights: _Places) -> _Places:
    """Where one step of majorisation moves every point: the mean of where each other point wants it."""
    difference = places[:, None, :] - places[None, :, :]  # (points, points, 2)
    drawn = np.maximum(np.sqrt((difference**2).sum(axis=2)), 1e-9)
    pull = weights * distance / drawn
    moved = weights @ places + np.einsum("ij,ijk->ik", pull, difference)
    return np.asarray(moved / weights.sum(axis=1, keepdims=True))


def _wide(places: _Places) -> _Places:
    """Turned so the long side lies horizontally, from the corner at 0."""
    centred = places - places.mean(axis=0)
    if len(places) > 1:
        centred = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
        # Directions of a decomposition have no sign: node 0 comes out on the left and on top.
        centred *= np.where(centred[0] > 1e-9, -1, 1)
    return np.asarray(centred - centred.min(axis=0))


def _corners(extents: list[_Places]) -> list[_Places]:
    """Where each component goes: side by side, the largest first, in rows about as wide as the whole is high."""
    gap = 1.0
    sizes = np.array(extents) + gap
    width = max(float(sizes[:, 0].max()), 1.3 * float(np.sqrt(sizes.prod(axis=1).sum())))
    corners = [np.zeros(2)] * len(extents)
    x = y = height = 0.0
    for number in np.argsort(-sizes.sum(axis=1), kind="stable"):
        if x and x + sizes[number, 0] > width + 1e-9:
            x, y, height = 0.0, y + height, 0.0
        corners[number] = np.array([x, y])
        x, height = x + sizes[number, 0], max(height, sizes[number, 1])
    return corners
