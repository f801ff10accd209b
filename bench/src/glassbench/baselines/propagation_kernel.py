"""The propagation kernel's hash codes: label distributions spread along edges, binned by a random projection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.tables.feature_maps import neighbour_mean
from graphglass.graphs import GraphSet

_FARTHEST = 2.0**56  # a Cauchy direction can be arbitrarily large; bins beyond this are one

Projection = Callable[[NDArray[np.int64], int], NDArray[np.float64]]


def propagated_codes(
    graphs: GraphSet, projection: Projection, offsets: NDArray[np.float64], width: float = 0.01
) -> NDArray[np.uint64]:
    """Bins of the propagated label distributions (Neumann et al. 2016, total variation), (rounds, nodes).

    Round t hashes the row of ``T^t P`` of each node, where P is the one-hot label matrix and T the random walk. The
    hash is linear in the row before it is floored, so the scalar ``P u`` is propagated instead of the matrix:
    the label vocabulary never appears, and labels that no reference has need no special case. `projection` gives the
    random direction u of a round, read at each node's label; `offsets`, (rounds,), shift the bins, which have `width`.
    """
    labels = graphs.node_labels
    if labels is None:  # unlabelled graphs: the degree is the label
        labels = np.diff(graphs.neighbour_offsets)
    adjacency = graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours
    codes = np.empty((len(offsets), graphs.node_count), np.uint64)
    for t, shift in enumerate(offsets):
        values = projection(labels, t)
        for _ in range(t):
            values = neighbour_mean(values[:, None], *adjacency)[:, 0]
        bins = np.clip(np.floor((values + shift) / width), -_FARTHEST, _FARTHEST).astype(np.int64)
        codes[t] = (bins * len(offsets) + t).view(np.uint64)  # no two rounds share a code
    return codes


def cauchy_projection(seed: int) -> Projection:
    """Standard Cauchy directions that depend on (seed, round, label) alone, so any label can be projected any time."""

    def project(labels: NDArray[np.int64], t: int) -> NDArray[np.float64]:
        present, places = np.unique(labels, return_inverse=True)
        unsigned = present.astype(np.uint64).tolist()
        values = [np.random.default_rng([seed, t, label]).standard_cauchy() for label in unsigned]
        return np.array(values)[places]

    return project


def bin_offsets(seed: int, rounds: int, width: float) -> NDArray[np.float64]:
    """Uniform shifts in [0, width), one per round."""
    return np.random.default_rng([seed, 0x5EED]).uniform(0.0, width, rounds)
