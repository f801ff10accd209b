"""Where to draw the nodes of one graph: few crossings, and none in a tree or a small planar graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from graphglass.drawing.untangle import clearance, crossings, untangled
from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet

_ROUNDS = 120
# Past this many edges every pair of edges is too much to compare, and a drawing without crossings is unlikely.
_MOST_COMPARED = 600
_TRIES = 6  # random starts, of graphs that are drawn fast
_SMALL = 20  # nodes: a planar graph of so few is always drawn without crossings
_Places = NDArray[np.float64]


def layout_graph(graph: GraphSet) -> _Places:
    """Positions in the unit square, (nodes, 2); the longer side has length 1.

    Every component is laid out by stress majorisation, so drawn distances are close to path lengths. Where this
    leaves crossings, it starts again from other places, and single nodes move to where they cause fewer. A tree starts
    from a radial drawing and never gets a crossing, nor does a small planar graph. Deterministic.
    """
    if len(graph) != 1:
        raise GraphError(f"One graph is laid out at a time, found {len(graph)}.")
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


def _component_places(adjacency: csr_array) -> _Places:
    nodes = adjacency.shape[0]
    if nodes == 1:
        return np.zeros((1, 2))
    distance = shortest_path(adjacency, method="D", unweighted=True)
    rows, columns = adjacency.nonzero()
    edges = np.stack([rows, columns], axis=1)[rows < columns].astype(np.int64)
    places = _stressed(_classical_scaling(distance), distance)
    if len(edges) > _MOST_COMPARED or not crossings(places, edges):
        return places
    radial = _tree_places(distance, edges)
    if len(edges) == nodes - 1:
        return untangled(radial, distance, edges)
    if len(edges) > 3 * nodes - 6:  # no planar graph has so many, and fewer crossings would cost the shape
        return places
    random = np.random.default_rng(0)
    tries = [radial, *random.normal(scale=distance.mean(), size=(_TRIES if nodes <= 60 else 0, nodes, 2))]
    starts = sorted([places, *(_stressed(start, distance) for start in tries)], key=lambda p: crossings(p, edges))
    tangled = crossings(places, edges)
    for start in starts[:2]:
        moved = untangled(start, distance, edges)
        left, lengths = crossings(moved, edges), _lengths(moved, edges)
        if left < tangled and lengths.max() < 3 * np.median(lengths):
            places, tangled = moved, left
        if not tangled:
            return places
    planar = _planar_places(distance, edges, tangled)
    return places if planar is None else planar


def _planar_places(distance: _Places, edges: NDArray[np.int64], tangled: int) -> _Places | None:
    """A drawing without crossings that is easier to read than one with ``tangled`` of them.

    None if there is none, or if NetworkX, which finds it, is not installed.
    """
    try:
        from networkx import Graph, check_planarity, combinatorial_embedding_to_pos
        from networkx.algorithms.planar_drawing import triangulate_embedding
    except ImportError:
        return None
    planar, embedding = check_planarity(Graph(edges.tolist()))
    if not planar:
        return None
    # Tutte's drawing: the largest face outside, every other node in the middle of its neighbours.
    triangles, outside = triangulate_embedding(embedding, fully_triangulate=False)
    joined = np.zeros((len(distance), len(distance)))
    joined[tuple(zip(*triangles.edges, strict=True))] = 1
    angles = np.linspace(0, 2 * np.pi, len(outside), endpoint=False)
    start, inside = np.zeros((len(distance), 2)), np.setdiff1d(np.arange(len(distance)), outside)
    start[outside] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    pulls = np.diag(joined.sum(axis=1)) - joined
    start[inside] = np.linalg.solve(pulls[np.ix_(inside, inside)], (joined @ start)[inside])
    if crossings(start, edges):  # nodes without their own triangle can fall together
        found = combinatorial_embedding_to_pos(embedding)
        start = np.array([found[node] for node in range(len(distance))], dtype=np.float64)
    start *= np.sqrt((distance**2).mean() / 2) / start.std(axis=0).max()
    places = untangled(start, distance, edges)
    usual = float(np.median(_lengths(places, edges)))
    # A large planar graph of many nested faces has long thin triangles: a few crossings are easier to read.
    even = _lengths(places, edges).max() < 4 * usual and clearance(places, edges) > 0.12 * usual
    return places if even or len(places) <= _SMALL or 2 * tangled > len(edges) else None


def _lengths(places: _Places, edges: NDArray[np.int64]) -> _Places:
    return np.asarray(np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1))


def _classical_scaling(distance: _Places) -> _Places:
    squared = distance**2
    centred = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean())
    values, vectors = np.linalg.eigh(centred)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    # Ties put twin leaves on one spot; a fixed nudge per node lets the stress separate them.
    angles = 2.399963 * np.arange(len(distance))
    return np.asarray(places + 0.05 * np.stack([np.cos(angles), np.sin(angles)], axis=1))


def _stress_step(places: _Places, distance: _Places) -> _Places:
    """Where one step of majorisation moves every node."""
    weights = 1 / np.where(distance > 0, distance, np.inf) ** 2
    difference = places[:, None, :] - places[None, :, :]  # (nodes, nodes, 2)
    drawn = np.maximum(np.sqrt((difference**2).sum(axis=2)), 1e-9)
    pull = weights * distance / drawn
    moved = weights @ places + np.einsum("ij,ijk->ik", pull, difference)
    return np.asarray(moved / weights.sum(axis=1, keepdims=True))


def _stressed(places: _Places, distance: _Places) -> _Places:
    for _ in range(_ROUNDS):
        places = _stress_step(places, distance)
    return places


def _tree_places(distance: _Places, edges: NDArray[np.int64]) -> _Places:
    """A breadth-first tree around the centre: every branch has its own sector, as wide as it has leaves."""
    nodes = len(distance)
    depth = distance[int(np.argmin(distance.max(axis=1)))].astype(np.int64)
    children: list[list[int]] = [[] for _ in range(nodes)]
    reached = depth == 0
    for one, two in edges[np.argsort(depth[edges].min(axis=1), kind="stable")]:
        parent, child = (one, two) if depth[one] < depth[two] else (two, one)
        if not reached[child] and depth[parent] < depth[child]:
            reached[child] = True
            children[parent].append(int(child))
    leaves = np.ones(nodes)
    for node in np.argsort(-depth, kind="stable"):
        if children[node]:
            leaves[node] = leaves[children[node]].sum()
    angle, start = np.zeros(nodes), np.zeros(nodes)
    for node in np.argsort(depth, kind="stable"):
        begin = start[node]
        for child in sorted(children[node], key=lambda item: -leaves[item]):
            start[child] = begin
            begin += leaves[child]
            angle[child] = (start[child] + leaves[child] / 2) * 2 * np.pi / leaves.max()
    return np.asarray(depth[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1))


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
