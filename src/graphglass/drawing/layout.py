"""Where to draw the nodes of one graph: drawn distances follow path lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet

_ROUNDS = 120
_SMALL = 30  # nodes: in a larger planar graph of nested faces a few crossings are easier to read than thin triangles
_SMALL_TREE = 100
_Places = NDArray[np.float64]
_Edges = NDArray[np.int64]


def layout_graph(graph: GraphSet) -> _Places:
    """Positions in the unit square, (nodes, 2); the longer side has length 1.

    Every component is laid out by stress majorisation: drawn distances are close to path lengths. A small planar graph
    or tree in which this leaves crossings is drawn without, if NetworkX is installed. Deterministic.
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
    rows, columns = adjacency.nonzero()
    edges = np.stack([rows, columns], axis=1)[rows < columns].astype(np.int64)
    weights = 1 / np.where(distance > 0, distance, np.inf) ** 2
    # Ties put twin leaves on one spot; a fixed nudge per node lets the stress separate them.
    angles = 2.399963 * np.arange(nodes)
    places = classical_scaling(distance) + 0.05 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for _ in range(_ROUNDS):
        places = stress_step(places, distance, weights)
    if nodes > (_SMALL_TREE if len(edges) == nodes - 1 else _SMALL) or not crossings(places, edges):
        return places
    start = _planar_places(nodes, edges)
    if start is None:
        return places
    start *= np.sqrt((distance**2).mean() / 2) / start.std(axis=0).max()
    for _ in range(_ROUNDS):
        step = stress_step(start, distance, weights) - start
        shares = (share for share in (1.0, 0.3, 0.1, 0.03) if not crossings(start + share * step, edges))
        share = next(shares, 0.0)
        if not share:
            break
        start = start + share * step
    return start


def crossings(places: _Places, edges: _Edges) -> int:
    """Pairs of edges that cross or overlap, where they share no node."""
    one, two = np.triu_indices(len(edges), 1)
    ends = np.concatenate([edges[one], edges[two]], axis=1)  # a, b, c, d of the edges ab and cd
    ends = ends[(ends[:, :2, None] != ends[:, None, 2:]).all(axis=(1, 2))]
    a, b, c, d = places[ends].transpose(1, 0, 2)

    def side(p: _Places, q: _Places, r: _Places) -> _Places:
        turn = (q[:, 0] - p[:, 0]) * (r[:, 1] - p[:, 1]) - (q[:, 1] - p[:, 1]) * (r[:, 0] - p[:, 0])
        return np.asarray(np.sign(np.where(np.abs(turn) < 1e-9, 0, turn)))

    boxes = (np.maximum(a, b) >= np.minimum(c, d)) & (np.maximum(c, d) >= np.minimum(a, b))
    crossed = (side(a, b, c) * side(a, b, d) <= 0) & (side(c, d, a) * side(c, d, b) <= 0)
    return int((boxes.all(axis=1) & crossed).sum())


def _planar_places(nodes: int, edges: _Edges) -> _Places | None:
    """Tutte's drawing: the largest face outside, every other node in the middle of its neighbours.

    None if the graph is not planar, or if NetworkX, which finds the faces, is not installed.
    """
    try:
        from networkx import Graph, check_planarity, combinatorial_embedding_to_pos
        from networkx.algorithms.planar_drawing import triangulate_embedding
    except ImportError:
        return None
    planar, embedding = check_planarity(Graph(edges.tolist()))
    if not planar:
        return None
    triangles, outside = triangulate_embedding(embedding, fully_triangulate=False)
    joined = np.zeros((nodes, nodes))
    joined[tuple(zip(*triangles.edges, strict=True))] = 1
    angles = np.linspace(0, 2 * np.pi, len(outside), endpoint=False)
    places, inside = np.zeros((nodes, 2)), np.setdiff1d(np.arange(nodes), outside)
    places[outside] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    pulls = np.diag(joined.sum(axis=1)) - joined
    places[inside] = np.linalg.solve(pulls[np.ix_(inside, inside)], (joined @ places)[inside])
    if crossings(places, edges):  # nodes without their own triangle can fall together
        found = combinatorial_embedding_to_pos(embedding)
        places = np.array([found[node] for node in range(nodes)], dtype=np.float64)
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
