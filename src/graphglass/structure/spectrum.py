"""The small end of the spectrum of the symmetric normalised Laplacian.

L_sym = I - D^(-1/2) A D^(-1/2) with 0 on the diagonal of an isolated node, so that every connected component
contributes one eigenvalue 0. Eigenvalues are sorted upwards and counted with multiplicity: lambda_1 = 0 always,
lambda_2 > 0 only if the graph is connected. A graph with fewer than nine nodes repeats its largest eigenvalue: the
sequence stays sorted and no value enters that is not in the spectrum (0 would read as a further component).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.rayleigh import rayleigh_quantiles

SKETCH_NAMES = (*(f"lambda_{j}" for j in range(2, 10)), "rayleigh_q10", "rayleigh_q50", "rayleigh_q90")


def spectral_sketch(graphs: GraphSet) -> NDArray[np.float64]:
    """The eleven numbers of eq:spectral_sketch for every graph, (graphs, 11)."""
    sketch = np.zeros((len(graphs), len(SKETCH_NAMES)))
    for i in range(len(graphs)):
        first, last = graphs.node_offsets[i], graphs.node_offsets[i + 1]
        spectrum = dense_spectrum(graphs.neighbour_offsets[first : last + 1], graphs.neighbours)
        small = spectrum[np.minimum(np.arange(1, 9), len(spectrum) - 1)]
        sketch[i] = np.concatenate([small, rayleigh_quantiles(spectrum)])
    return sketch


def dense_spectrum(indptr: NDArray[np.int64], neighbours: NDArray[np.int32]) -> NDArray[np.float64]:
    """All eigenvalues of one graph's L_sym (eq:laplacian), sorted, from a dense solver."""
    degree = np.diff(indptr)
    n = len(degree)
    laplacian = np.diag((degree > 0).astype(np.float64))
    rows = np.repeat(np.arange(n), degree)
    columns = neighbours[indptr[0] : indptr[-1]]
    laplacian[rows, columns] = -1.0 / np.sqrt(degree[rows] * degree[columns])
    return np.clip(np.linalg.eigvalsh(laplacian), 0.0, 2.0)
