"""Weisfeiler-Lehman patterns: rooted neighbourhoods of radius 0 to 3, compared by weighted Jaccard similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphglass.channels.nearest_references import left_out_means, nearest_means, neighbourhood
from graphglass.channels.patterns.counts import Counts, count_keys, overlap, postings
from graphglass.channels.patterns.starts import Start
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.graphs.graph_set import GraphSet

LEVELS = 4
LOCALITY = 0.5  # see local_units


class PatternChannel:
    """Distance 1 - J, where J is the weighted Jaccard similarity of neighbourhood counts, averaged over radius 0 to 3.

    Parameters
    ----------
    name
    start : Start
        What nodes and edges are called at radius 0.
    spread : float
        Sets k, the neighbours averaged, see
        :func:`~graphglass.channels.nearest_references.neighbourhood`.
    """

    def __init__(self, name: str, start: Start, spread: float = 10.0) -> None:
        self.name = name
        self.start = start
        self.spread = spread
        self.k = 1
        self._left_out, self._units = np.zeros(0), np.ones(0)
        self._place([], 0)

    @property
    def silent(self) -> bool:
        """Whether the references lack what this channel reads."""
        return not self._levels

    def _place(self, levels: list[Counts], count: int) -> None:
        self._count = count
        self._levels = levels
        self._postings = [postings(level) for level in levels]

    def _counts(self, evidence: ProfiledGraphs) -> list[Counts]:
        names = self.start.names(evidence)
        if names is None:
            return []
        return [count_keys(evidence.graphs.node_offsets, keys) for keys in neighbourhood_keys(evidence.graphs, *names)]

    def _distances(self, queries: list[Counts], first: int, last: int) -> NDArray[np.float64]:
        out = np.zeros((last - first, self._count))
        for query, level in zip(queries, self._postings, strict=True):
            out += (1 - overlap(query, level, first, last)) / LEVELS
        return out

    def fit(self, references: ProfiledGraphs) -> None:
        self.start.fit(references)
        self.k = neighbourhood(len(references), self.spread)
        self._place(self._counts(references), len(references))
        self._left_out, self._units = left_out_means(
            lambda a, b: self._distances(self._levels, a, b), self.k, LOCALITY, len(references)
        )

    def distances(self, queries: ProfiledGraphs) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        counts = [] if self.silent else self._counts(queries)
        return nearest_means(lambda a, b: self._distances(counts, a, b), len(queries), self.k, self._units)

    def leave_one_out(self) -> NDArray[np.float64]:
        return self._left_out

    def state(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"left_out": self._left_out, "units": self._units, "cuts": self.start.cuts}
        for radius, level in enumerate(self._levels):
            arrays |= {
                f"offsets_{radius}": level.offsets,
                f"keys_{radius}": level.keys,
                f"values_{radius}": level.values,
            }
        return arrays

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self._left_out, self._units, self.start.cuts = state["left_out"], state["units"], state["cuts"]
        self.k = neighbourhood(len(self._units), self.spread)
        radii = [i for i in range(LEVELS) if f"keys_{i}" in state]
        self._place(
            [Counts(*(state[f"{part}_{i}"] for part in ("offsets", "keys", "values"))) for i in radii], len(self._units)
        )


def neighbourhood_keys(
    graphs: GraphSet, roots: NDArray[np.int64], edge_names: NDArray[np.int64] | None = None, levels: int = LEVELS
) -> list[NDArray[np.int64]]:
    """Hash the neighbourhood of every node at radius 0, 1, ..., levels - 1.

    Equal neighbourhoods hash alike in any graph, so nothing needs a vocabulary and unseen patterns no special case.
    """
    edges = edge_names if edge_names is not None else np.zeros(0, np.int64)
    keys = _mix_all(roots.astype(np.int64).view(np.uint64))
    out = [keys]
    for _ in range(levels - 1):
        keys = _look_around(keys, edges, graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours)
        out.append(keys)
    return [level.view(np.int64) for level in out]


@njit(inline="always")
def _mix(x):  # type: ignore[no-untyped-def]
    """A bijection of 64-bit words that spreads every bit (the splitmix64 finaliser)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def _mix_all(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    out = np.empty_like(words)
    for i in range(len(words)):
        out[i] = _mix(words[i] + np.uint64(0x9E3779B97F4A7C15))
    return out


@njit(cache=True, nogil=True)
def _look_around(
    keys: NDArray[np.uint64],
    edges: NDArray[np.int64],
    node_offsets: NDArray[np.int64],
    neighbour_offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
) -> NDArray[np.uint64]:
    """One round of refinement; the sum over neighbours makes the order of neighbours irrelevant."""
    out = np.empty_like(keys)
    for graph in range(len(node_offsets) - 1):
        start = node_offsets[graph]
        for node in range(start, node_offsets[graph + 1]):
            around = np.uint64(0)
            for position in range(neighbour_offsets[node], neighbour_offsets[node + 1]):
                word = keys[start + neighbours[position]]
                if len(edges) > 0:
                    word = word ^ _mix(np.uint64(edges[position]) + np.uint64(0xD1B54A32D192ED03))
                around += _mix(word + np.uint64(0x8CB92BA72F3D8DD7))
            out[node] = _mix(keys[node] * np.uint64(3) + around + np.uint64(0xAAAAAAAAAAAAAAAB))
    return out
