"""netlsd-knn: heat traces of the normalised Laplacian.

Paper: Tsitsulin et al., "NetLSD: Hearing the Shape of a Graph", KDD 2018.
Usage: ``NetLSDKNN().fit(normals).decision_function(graphs)``, or ``glassbench suite --methods netlsd-knn``.
Promise: training-free; a graph is scored alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, eigsh
from scipy.spatial.distance import cdist

from glassbench.baselines.knn import NearestNormals
from graphglass.graphs.graph_set import GraphSet

TIMES = np.logspace(-2, 2, 250)
EXACT = 1024  # nodes up to which every eigenvalue is computed
ENDS = 150  # eigenvalues computed at each end of a larger spectrum; those between are interpolated


class NetLSDKNN(NearestNormals):
    """Euclidean distance between heat traces h(t) = sum_i exp(-t lambda_i) at 250 times from 0.01 to 100."""

    def _remember(self, graphs: GraphSet) -> None:
        self._references = heat_traces(graphs)

    def _distances(self, graphs: GraphSet) -> NDArray[np.float64]:
        distances: NDArray[np.float64] = cdist(heat_traces(graphs), self._references)
        return distances


def heat_traces(graphs: GraphSet) -> NDArray[np.float64]:
    """The heat trace of every graph at :data:`TIMES`, (graphs, times)."""
    return np.stack([np.exp(-np.outer(TIMES, _spectrum(graphs, i))).sum(axis=1) for i in range(len(graphs))])


def _spectrum(graphs: GraphSet, place: int) -> NDArray[np.float64]:
    """Eigenvalues of I - D^-1/2 A D^-1/2, ascending; isolated nodes have the eigenvalue 0."""
    first, last = graphs.node_offsets[place], graphs.node_offsets[place + 1]
    offsets = graphs.neighbour_offsets[first : last + 1]
    columns = graphs.global_neighbours[offsets[0] : offsets[-1]] - first
    size, degrees = int(last - first), np.diff(offsets)
    roots = 1.0 / np.sqrt(np.maximum(degrees, 1))
    rows = np.repeat(np.arange(size), degrees)
    adjacency = csr_array((roots[rows] * roots[columns], (rows, columns)), shape=(size, size))
    identity = csr_array((np.ones(size), (np.arange(size), np.arange(size))), shape=(size, size))
    laplacian = identity.multiply(degrees > 0) - adjacency
    if size > EXACT:
        try:
            return _ends(laplacian, size)
        except ArpackError:  # a spectrum with few different values, as trees have, leaves the solver without a basis
            pass
    values: NDArray[np.float64] = eigvalsh(laplacian.toarray())
    return values


def _ends(laplacian: csr_array, size: int) -> NDArray[np.float64]:
    """Both ends of a spectrum, and values between them by interpolation."""
    start = np.linspace(1.0, 2.0, size)  # a fixed start makes the solver repeatable
    lower, upper = (
        np.sort(eigsh(laplacian, ENDS, which=end, v0=start, return_eigenvectors=False)) for end in ("SA", "LA")
    )
    between = np.linspace(lower[-1], upper[0], size - 2 * ENDS + 2)[1:-1]
    return np.concatenate([lower, between, upper])
