"""The spectral sketch: the small end of the spectrum of L_sym, and how a random probe sees the whole.

L_sym = I - D^(-1/2) A D^(-1/2) with 0 on the diagonal of an isolated node, so every connected component
contributes one eigenvalue 0. Eigenvalues are sorted upwards and counted with multiplicity: lambda_1 = 0 always,
lambda_2 > 0 only if the graph is connected. A graph with fewer than nine nodes repeats its largest eigenvalue: the
sequence stays sorted and no value enters that is not in the spectrum (0 would read as a further component).

Twins are collapsed first (exactly). The quotient goes to a dense solver up to :data:`DENSE_CLASSES` classes and to
filtered subspace iteration above, which stops at an error bound of 1e-8; should it run out of work above 1e-6, the
graph is marked as estimated. Above about 130,000 edges of the quotient a few Lanczos steps give estimates, always
marked. Zeros come from the count of components and are exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.kernel import Counts, Ends, Floats, kernel
from graphglass.structure.kernels.dense_eigenvalues import sort_values, symmetric_eigenvalues
from graphglass.structure.kernels.hashing import mix, structural_keys
from graphglass.structure.kernels.rayleigh import DRAWN_NODES, drawn_quantiles, laplacian_traces, moment_quantiles
from graphglass.structure.kernels.sparse_eigenvalues import (
    BLOCK,
    LEAST_STEPS,
    MULTIPLY_ADDS,
    estimated_eigenvalues,
    largest_eigenvalues,
)
from graphglass.structure.kernels.twins import quotient

SKETCH_NAMES = (*(f"lambda_{j}" for j in range(2, 10)), "rayleigh_q10", "rayleigh_q50", "rayleigh_q90")
SMALL = 9  # eigenvalues looked at, lambda_1 among them
DENSE_CLASSES = 192  # at least DRAWN_NODES, whose whole spectrum is needed
ACCURACY = 1e-6


@kernel
def sketch_graphs(
    chosen: Counts,
    node_offsets: Counts,
    neighbour_offsets: Counts,
    neighbours: Ends,
    squares: Floats,
    sums: Floats,
    limit: int,
    sketch: Floats,
    estimated: NDArray[np.bool_],
    large: NDArray[np.bool_],
) -> None:
    """Write the eleven numbers of eq:spectral_sketch for the chosen graphs, given the squares of the probes.

    Where the quotient is too large for the dense solver, the eigenvalues are left to :func:`iterate_graphs` and the
    graph is marked in ``large``. Listing triangles for the third moment is given up above ``limit`` steps.
    """
    for g in chosen:
        indptr = neighbour_offsets[node_offsets[g] : node_offsets[g + 1] + 1]
        n = len(indptr) - 1
        zeros = component_of(indptr, neighbours)[1]
        solved = False
        if zeros < SMALL or n <= DRAWN_NODES:
            heads, _, rows, columns, weights, values, counts = quotient(indptr, neighbours)
            if len(heads) <= DENSE_CLASSES:
                spectrum = whole_spectrum(n, zeros, rows, columns, weights, values, counts)
                for j in range(1, SMALL):
                    sketch[g, j - 1] = spectrum[min(j, n - 1)]
                if n <= DRAWN_NODES:
                    drawn_quantiles(spectrum, squares, sums, sketch[g, SMALL - 1 :])
                else:
                    first, second, third = 0.0, 0.0, 0.0
                    for value in spectrum:
                        first += value
                        second += value * value
                        third += value * value * value
                    moment_quantiles(n, first, second, third, sketch[g, SMALL - 1 :])
                solved = True
            else:
                large[g] = True
        if not solved:
            first, second, third, complete = laplacian_traces(indptr, neighbours, limit)
            moment_quantiles(n, first, second, third, sketch[g, SMALL - 1 :])
            estimated[g] |= not complete


@kernel
def whole_spectrum(
    n: int, zeros: int, rows: Counts, columns: Ends, weights: Floats, values: Floats, counts: Counts
) -> Floats:
    """All n eigenvalues of L_sym (eq:laplacian), sorted: the quotient's, the twins' and the isolated nodes'."""
    q = len(rows) - 1
    matrix = np.zeros((q, q))
    for i in range(q):
        for e in range(rows[i], rows[i + 1]):
            matrix[i, columns[e]] = weights[e]
    found = symmetric_eigenvalues(matrix)
    spectrum = np.zeros(n)
    for i in range(q):
        spectrum[i] = min(max(1 - found[i], 0.0), 2.0)
    at = q
    for k in range(len(values)):
        for _ in range(counts[k]):
            spectrum[at] = values[k]
            at += 1
    sort_values(spectrum)
    spectrum[:zeros] = 0.0  # known exactly; the solver leaves them at rounding level
    return spectrum


@kernel
def iterate_graphs(
    chosen: Counts,
    node_offsets: Counts,
    neighbour_offsets: Counts,
    neighbours: Ends,
    sketch: Floats,
    estimated: NDArray[np.bool_],
) -> None:
    """Write lambda_2 to lambda_9 by iteration; of a graph with nine components or more they are all 0."""
    for g in chosen:
        indptr = neighbour_offsets[node_offsets[g] : node_offsets[g + 1] + 1]
        component, zeros = component_of(indptr, neighbours)
        sketch[g, : min(zeros, SMALL) - 1] = 0.0
        if zeros >= SMALL:
            continue
        heads, mass, rows, columns, weights, values, counts = quotient(indptr, neighbours)
        null = null_vectors(component, zeros, heads, mass)
        keys = structural_keys(indptr, neighbours)
        if BLOCK * len(columns) * LEAST_STEPS > MULTIPLY_ADDS:
            start = first_block(keys, heads, 1)[0]
            top = estimated_eigenvalues(rows, columns, weights, null, start, SMALL - zeros)
            estimated[g] = True
        else:
            start = first_block(keys, heads, BLOCK)
            top, bound = largest_eigenvalues(rows, columns, weights, null, start, SMALL - zeros)
            estimated[g] |= bound > ACCURACY
        merge_known(top, values, counts, sketch[g, zeros - 1 : SMALL - 1])


@kernel
def null_vectors(component: Counts, zeros: int, heads: Counts, mass: Floats) -> Floats:
    """Orthonormal null vectors of the quotient, one per component that has an edge, (c, q)."""
    slot, total = np.full(zeros, -1, np.int64), np.zeros(zeros)
    used = 0
    for i in range(len(heads)):
        c = component[heads[i]]
        if slot[c] < 0:
            slot[c] = used
            used += 1
        total[c] += mass[i]
    null = np.zeros((used, len(heads)))
    for i in range(len(heads)):
        c = component[heads[i]]
        null[slot[c], i] = np.sqrt(mass[i] / total[c])
    return null


@kernel
def first_block(keys: NDArray[np.uint64], heads: Counts, count: int) -> Floats:
    """Start vectors, (count, n), that follow the nodes when they are renumbered."""
    block = np.empty((count, len(heads)))
    for b in range(count):
        for i in range(len(heads)):
            block[b, i] = mix(keys[heads[i]] + np.uint64(b)) / 2.0**63 - 1.0
    return block


@kernel
def merge_known(top: Floats, values: Floats, counts: Counts, out: Floats) -> None:
    """The smallest of the quotient's eigenvalues 1 - ``top`` and the twins' eigenvalues, sorted."""
    merged = np.full(len(top) + len(values) * SMALL, 2.0)
    at = len(top)
    for i in range(at):
        merged[i] = min(max(1 - top[i], 0.0), 2.0)
    for k in range(len(values)):
        for _ in range(min(counts[k], SMALL)):
            merged[at] = values[k]
            at += 1
    merged.sort()
    out[:] = merged[: len(out)]


@kernel
def component_of(indptr: Counts, neighbours: Ends) -> tuple[Counts, int]:
    """Component number of each node, counted from 0 in order of first node, and how many there are."""
    n = len(indptr) - 1
    component = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    count = 0
    for root in range(n):
        if component[root] >= 0:
            continue
        component[root] = count
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(indptr[v], indptr[v + 1]):
                u = neighbours[e]
                if component[u] < 0:
                    component[u] = count
                    queue[tail] = u
                    tail += 1
        count += 1
    return component, count
