"""Where to draw the nodes of one graph: few crossings, and none in a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet

_ROUNDS = 120
# Past this many edges every pair of edges is too much to compare, and a drawing without crossings is unlikely.
_MOST_COMPARED = 600
_Places = NDArray[np.float64]


def layout_graph(graph: GraphSet) -> _Places:
    """Positions in the unit square, (nodes, 2); the longer side has length 1.

    Every component is laid out by stress majorisation, so that drawn distances are close to path lengths. A tree never
    gets a crossing: where stress alone leaves one, it starts from a radial drawing and moves nodes only as far as none
    appears. In other graphs single nodes then move to where they cause fewer crossings. Deterministic.
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


def crossings(places: _Places, edges: NDArray[np.int64]) -> int:
    """Pairs of edges that cross or overlap, where they share no node."""
    return int(_crossing(places, edges, edges).sum()) // 2


def _component_places(adjacency: csr_array) -> _Places:
    nodes = adjacency.shape[0]
    if nodes == 1:
        return np.zeros((1, 2))
    distance = shortest_path(adjacency, method="D", unweighted=True)
    rows, columns = adjacency.nonzero()
    edges = np.stack([rows, columns], axis=1)[rows < columns].astype(np.int64)
    places = _stressed(_classical_scaling(distance), distance)
    if len(edges) > _MOST_COMPARED or not (tangled := crossings(places, edges)):
        return places
    radial = _tree_places(distance, edges)
    if len(edges) == nodes - 1:
        return _stressed_without_crossings(radial, distance, edges)
    other = _stressed(radial, distance)
    places = _untangled(other if crossings(other, edges) < tangled else places, edges)
    tangled = crossings(places, edges)
    planar = _planar_places(distance, edges, tangled) if tangled else None
    return places if planar is None else planar


def _planar_places(distance: _Places, edges: NDArray[np.int64], tangled: int) -> _Places | None:
    """A drawing without crossings that is easier to read than one with ``tangled`` of them.

    None if there is none, or if NetworkX, which finds it, is not installed.
    """
    try:
        from networkx import Graph, check_planarity, combinatorial_embedding_to_pos
    except ImportError:
        return None
    planar, embedding = check_planarity(Graph(edges.tolist()))
    if not planar:
        return None
    found = combinatorial_embedding_to_pos(embedding)
    start = np.array([found[node] for node in range(len(distance))], dtype=np.float64)
    places = _stressed_without_crossings(start / np.median(_lengths(start, edges)), distance, edges)
    usual = float(np.median(_lengths(places, edges)))
    # A planar graph of many nested faces has long thin triangles: a few crossings are easier to read.
    even = _lengths(places, edges).max() < 4 * usual and _clearance(places, edges) > 0.2 * usual
    return places if even or 2 * tangled > len(edges) else None


def _clearance(places: _Places, edges: NDArray[np.int64]) -> float:
    """The least distance of a node from an edge that is not its own."""
    start, along = places[edges[:, 0]], places[edges[:, 1]] - places[edges[:, 0]]
    offset = places[:, None] - start  # (nodes, edges, 2)
    share = np.clip((offset * along).sum(axis=2) / np.maximum((along**2).sum(axis=1), 1e-12), 0, 1)
    gaps = np.linalg.norm(offset - share[..., None] * along, axis=2)
    gaps[edges.T, np.arange(len(edges))] = np.inf
    return float(gaps.min())


def _lengths(places: _Places, edges: NDArray[np.int64]) -> _Places:
    return np.asarray(np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1))


def _classical_scaling(distance: _Places) -> _Places:
    squared = distance**2
    centred = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean())
    values, vectors = np.linalg.eigh(centred)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    # Ties put twin leaves on one spot; a fixed nudge per node lets the stress pull them apart.
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


def _stressed_without_crossings(places: _Places, distance: _Places, edges: NDArray[np.int64]) -> _Places:
    """Stress majorisation, one node at a time, that never lets an edge cross another or a node touch another."""
    places, incident = places.copy(), _incident(len(places), edges)
    for _ in range(_ROUNDS // 6):
        moved = False
        for node, target in enumerate(_stress_step(places, distance)):
            before = places[node].copy()
            for share in (1.0, 0.5, 0.2):
                places[node] = before + share * (target - before)
                if _gap(places, node) > 0.3 and not _crossing(places, incident[node], edges).any():
                    moved = moved or bool(np.abs(places[node] - before).max() > 1e-3)
                    break
            else:
                places[node] = before
        if not moved:
            break
    return places


def _untangled(places: _Places, edges: NDArray[np.int64]) -> _Places:
    """Move single nodes of few neighbours around these wherever that leaves fewer crossings."""
    places, incident = places.copy(), _incident(len(places), edges)
    turns = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    ring = np.concatenate([length * np.stack([np.cos(turns), np.sin(turns)], axis=1) for length in (0.0, 0.6, 1.1)])[7:]
    for _ in range(3):
        busy = np.unique(edges[_crossing(places, edges, edges).any(axis=1)])
        before = len(busy)
        for node in busy:
            if not 0 < len(incident[node]) <= 4:
                continue
            best, count = places[node].copy(), int(_crossing(places, incident[node], edges).sum())
            centre = places[incident[node][incident[node] != node]].mean(axis=0)
            for offset in ring if count else ():
                places[node] = centre + offset
                if _gap(places, node) > 0.4 and (fewer := int(_crossing(places, incident[node], edges).sum())) < count:
                    best, count = places[node].copy(), fewer
            places[node] = best
        if len(np.unique(edges[_crossing(places, edges, edges).any(axis=1)])) == before:
            break
    return places


def _incident(nodes: int, edges: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [edges[(edges == node).any(axis=1)] for node in range(nodes)]


def _gap(places: _Places, node: int) -> float:
    """The distance to the nearest other node."""
    gaps = np.linalg.norm(places - places[node], axis=1)
    gaps[node] = np.inf
    return float(gaps.min())


def _crossing(places: _Places, some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of ``some`` edges cross which of ``others``, (some, others)."""
    a, b = places[some[:, 0]][:, None], places[some[:, 1]][:, None]
    c, d = places[others[:, 0]][None], places[others[:, 1]][None]

    def side(p: _Places, q: _Places, r: _Places) -> _Places:
        turn = (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
        return np.where(np.abs(turn) < 1e-9, 0, np.sign(turn))

    across = (side(a, b, c) * side(a, b, d) <= 0) & (side(c, d, a) * side(c, d, b) <= 0)
    boxes = (np.maximum(a, b) >= np.minimum(c, d)).all(axis=2) & (np.maximum(c, d) >= np.minimum(a, b)).all(axis=2)
    shared = (some[:, None, :, None] == others[None, :, None, :]).any(axis=(2, 3))
    return across & boxes & ~shared


def _tree_places(distance: _Places, edges: NDArray[np.int64]) -> _Places:
    """A breadth-first tree around the centre: every branch has a sector of its own, as wide as it has leaves."""
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
    """Turned so that the long side lies horizontally, from the corner at 0."""
    centred = places - places.mean(axis=0)
    if len(places) > 1:
        centred = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
        # Directions of a decomposition have no sign of their own: node 0 comes out on the left and on top.
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
