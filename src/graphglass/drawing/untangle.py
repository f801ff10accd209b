"""Move the nodes of a drawing so edges cross less, and nodes keep away from edges that are not theirs."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Places = NDArray[np.float64]
Edges = NDArray[np.int64]

_ROOM = 0.35  # wanted distance of a node from other edges, where an edge has length 1
_ROUNDS = 60
_TESTS = 5e7  # pairs of edges compared, about: a quarter of a second
_compiled = njit(cache=True, nogil=True)


def crossings(places: Places, edges: Edges) -> int:
    """Pairs of edges that cross or overlap, where they share no node."""
    return int(_crossings(places, edges))


def clearance(places: Places, edges: Edges) -> float:
    """The least distance of a node from an edge that is not its own."""
    return float(_clearance(places, edges))


def untangled(places: Places, distance: Places, edges: Edges) -> Places:
    """Places with lower stress and more room around nodes, and at no node more crossings than before.

    Nodes move one at a time, towards lower stress or around where they stand.
    """
    ends = np.concatenate([edges, edges[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    offsets = np.searchsorted(ends[:, 0], np.arange(len(places) + 1))
    rounds = int(np.clip(_TESTS / (60 * len(edges) ** 2), 1, _ROUNDS))
    return np.asarray(_untangle(places.copy(), distance, edges, offsets, np.ascontiguousarray(ends[:, 1]), rounds))


@_compiled
def _side(px: float, py: float, qx: float, qy: float, rx: float, ry: float) -> int:
    turn = (qx - px) * (ry - py) - (qy - py) * (rx - px)
    return 0 if abs(turn) < 1e-9 else (1 if turn > 0 else -1)


@_compiled
def _cross(places: Places, a: int, b: int, c: int, d: int) -> bool:
    """Whether the edges ab and cd touch."""
    ax, ay, bx, by = places[a, 0], places[a, 1], places[b, 0], places[b, 1]
    cx, cy, dx, dy = places[c, 0], places[c, 1], places[d, 0], places[d, 1]
    if max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx) or max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by):
        return False
    return (
        _side(ax, ay, bx, by, cx, cy) * _side(ax, ay, bx, by, dx, dy) <= 0
        and _side(cx, cy, dx, dy, ax, ay) * _side(cx, cy, dx, dy, bx, by) <= 0
    )


@_compiled
def _distance(places: Places, node: int, a: int, b: int) -> float:
    """From a node to the edge ab."""
    x, y = places[b, 0] - places[a, 0], places[b, 1] - places[a, 1]
    u, v = places[node, 0] - places[a, 0], places[node, 1] - places[a, 1]
    share = min(max((u * x + v * y) / max(x * x + y * y, 1e-12), 0.0), 1.0)
    return np.sqrt((u - share * x) ** 2 + (v - share * y) ** 2)


@_compiled
def _crossings(places: Places, edges: Edges) -> int:
    count = 0
    for i in range(len(edges)):
        a, b = edges[i, 0], edges[i, 1]
        for j in range(i):
            c, d = edges[j, 0], edges[j, 1]
            if a != c and a != d and b != c and b != d and _cross(places, a, b, c, d):
                count += 1
    return count


@_compiled
def _clearance(places: Places, edges: Edges) -> float:
    least = np.inf
    for i in range(len(edges)):
        a, b = edges[i, 0], edges[i, 1]
        for node in range(len(places)):
            if node != a and node != b:
                least = min(least, _distance(places, node, a, b))
    return least


@_compiled
def _crossings_at(places: Places, node: int, edges: Edges, own: Edges) -> int:
    count = 0
    for i in range(len(edges)):
        c, d = edges[i, 0], edges[i, 1]
        if c != node and d != node:
            for other in own:
                if other != c and other != d and _cross(places, node, other, c, d):
                    count += 1
    return count


@_compiled
def _crowding(places: Places, node: int, edges: Edges, own: Edges) -> float:
    """A penalty where the node is close to another edge, or one of its edges to another node."""
    least = _ROOM
    for i in range(len(edges)):
        c, d = edges[i, 0], edges[i, 1]
        if c != node and d != node:
            least = min(least, _distance(places, node, c, d))
    for other in own:
        for third in range(len(places)):
            if third != node and third != other:
                least = min(least, _distance(places, third, node, other))
    return 2 * len(own) * np.log(_ROOM / max(least, 1e-9))


@_compiled
def _stress(places: Places, node: int, distance: Places) -> float:
    total = 0.0
    for other in range(len(places)):
        if other != node:
            drawn = np.sqrt((places[node, 0] - places[other, 0]) ** 2 + (places[node, 1] - places[other, 1]) ** 2)
            total += (drawn / distance[node, other] - 1) ** 2
    return total


@_compiled
def _untangle(places: Places, distance: Places, edges: Edges, offsets: Edges, neighbours: Edges, rounds: int) -> Places:
    nodes = len(places)
    step = 0.6
    for _ in range(rounds):
        moved = 0
        for node in range(nodes):
            own = neighbours[offsets[node] : offsets[node + 1]]
            before = places[node].copy()
            best = before.copy()
            fewest = _crossings_at(places, node, edges, own)
            least = _stress(places, node, distance) + _crowding(places, node, edges, own)
            target = np.zeros(2)  # of stress majorisation
            weights = 0.0
            for other in range(nodes):
                if other != node:
                    gap = before - places[other]
                    drawn = max(np.hypot(gap[0], gap[1]), 1e-9)
                    weight = 1 / distance[node, other] ** 2
                    target += weight * (places[other] + gap * distance[node, other] / drawn)
                    weights += weight
            target /= weights
            centre = np.array([places[own, 0].mean(), places[own, 1].mean()])
            for trial in range(51 if fewest else 27):
                if trial < 3:
                    places[node] = before + (target - before) * (1.0, 0.5, 0.2)[trial]
                else:  # around where the node is, or around its neighbours
                    length = (step, 0.3 * step, 0.1 * step, 0.3, 0.7, 1.1)[(trial - 3) // 8]
                    middle, angle = before if trial < 27 else centre, np.pi / 4 * trial
                    places[node, 0] = middle[0] + length * np.cos(angle)
                    places[node, 1] = middle[1] + length * np.sin(angle)
                cost = _stress(places, node, distance)
                count = _crossings_at(places, node, edges, own)
                if count > fewest or (count == fewest and cost >= least):
                    continue
                cost += _crowding(places, node, edges, own)
                if count < fewest or cost < least:
                    best, fewest, least = places[node].copy(), count, cost
            places[node] = best
            moved += int(np.abs(best - before).max() > 1e-3)
        if moved <= nodes // 10:
            step *= 0.6
        if step < 0.03:
            break
    return places
