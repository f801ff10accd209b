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
from graphglass.structure.kernels.dense_eigenvalues import (
    sort_values,
    tridiagonal_eigenvalues,
    tridiagonalise,
)
from graphglass.structure.kernels.hashing import mix, structural_keys
from graphglass.structure.kernels.rayleigh import (
    DRAWN_NODES,
    drawn_quantiles,
    laplacian_traces,
    moment_quantiles,
    probe_squares,
)
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
ABREAST = 8  # graphs whose eigenvalues are found at the same time


def write_sketches(
    chosen: Counts,
    flat: tuple[Counts, Counts, Ends],
    limit: int,
    components: Floats,
    sketch: Floats,
    estimated: NDArray[np.bool_],
) -> None:
    """Write the eleven numbers of eq:spectral_sketch for the chosen graphs.

    Parameters
    ----------
    components : float64 (graphs,)
        How many components every graph has.
    limit : int
        Steps above which triangles are not listed, and the graph is marked in ``estimated``.
    """
    left = np.zeros(len(chosen), np.bool_)
    sketch_graphs(chosen, *flat, np.ascontiguousarray(components), *probe_squares(), sketch, left)
    large = chosen[left]
    if not len(large):
        return
    trace_graphs(large, *flat, limit, sketch, estimated)
    connected = large[components[large] < SMALL]  # all eigenvalues of the others are 0
    if len(connected):
        iterate_graphs(connected, *flat, sketch, estimated)


@kernel
def sketch_graphs(
    chosen: Counts,
    node_offsets: Counts,
    neighbour_offsets: Counts,
    neighbours: Ends,
    components: Floats,
    squares: Floats,
    sums: Floats,
    sketch: Floats,
    left: NDArray[np.bool_],
) -> None:
    """Write the sketch of those of the chosen graphs that the dense solver can do, given the squares of the probes.

    The others are marked in ``left``, (chosen,): their whole spectrum is not needed, or their quotient is too large.
    """
    starts, sizes = np.zeros(ABREAST + 1, np.int64), np.zeros(ABREAST, np.int64)
    for first in range(0, len(chosen), ABREAST):
        some = min(ABREAST, len(chosen) - first)
        for r in range(some):
            g = chosen[first + r]
            starts[r + 1] = starts[r] + node_offsets[g + 1] - node_offsets[g]
        spectra, off = np.zeros(starts[some]), np.zeros(starts[some])
        for r in range(some):
            g = chosen[first + r]
            sizes[r] = -1
            if components[g] < SMALL or starts[r + 1] - starts[r] <= DRAWN_NODES:
                indptr = neighbour_offsets[node_offsets[g] : node_offsets[g + 1] + 1]
                sizes[r] = reduce_graph(indptr, neighbours, spectra[starts[r] : starts[r + 1]], off[starts[r] :])
            left[first + r] = sizes[r] < 0
        tridiagonal_eigenvalues(spectra, off, starts, sizes[:some])
        for r in range(some):
            g = chosen[first + r]
            if left[first + r]:
                continue
            n, spectrum = starts[r + 1] - starts[r], spectra[starts[r] : starts[r + 1]]
            finish_spectrum(spectrum, sizes[r], int(components[g]))
            for j in range(1, SMALL):
                sketch[g, j - 1] = spectrum[min(j, n - 1)]
            if n <= DRAWN_NODES:
                drawn_quantiles(spectrum, squares, sums, sketch[g, SMALL - 1 :])
            else:
                one, two, three = 0.0, 0.0, 0.0
                for i in range(n):
                    value = spectrum[i]
                    one += value
                    two += value * value
                    three += value * value * value
                moment_quantiles(n, one, two, three, sketch[g, SMALL - 1 :])


@kernel
def reduce_graph(indptr: Counts, neighbours: Ends, spectrum: Floats, off: Floats) -> int:
    """Write the quotient's matrix in tridiagonal form, and behind its diagonal the eigenvalues of L_sym known from the
    twins; the size of the quotient, or -1 and nothing written where it is too large for the dense solver."""
    heads, _, rows, columns, weights, values, counts = quotient(indptr, neighbours)
    q = len(heads)
    if q > DENSE_CLASSES:
        return -1
    matrix = np.zeros((q, q))
    for i in range(q):
        for e in range(rows[i], rows[i + 1]):
            matrix[i, columns[e]] = weights[e]
    tridiagonalise(matrix, spectrum, off)
    at = q
    for k in range(len(values)):
        for _ in range(counts[k]):
            spectrum[at] = values[k]
            at += 1
    return q


@kernel
def finish_spectrum(spectrum: Floats, q: int, zeros: int) -> None:
    """All eigenvalues of L_sym (eq:laplacian), sorted: the quotient's, the twins' and the isolated nodes'."""
    for i in range(q):
        spectrum[i] = min(max(1 - spectrum[i], 0.0), 2.0)
    sort_values(spectrum)
    for i in range(zeros):
        spectrum[i] = 0.0  # known exactly; the solver leaves them at rounding level


@kernel
def trace_graphs(
    chosen: Counts,
    node_offsets: Counts,
    neighbour_offsets: Counts,
    neighbours: Ends,
    limit: int,
    sketch: Floats,
    estimated: NDArray[np.bool_],
) -> None:
    """Write the quantiles of graphs without their spectrum; triangles are not listed above ``limit`` steps."""
    for g in chosen:
        indptr = neighbour_offsets[node_offsets[g] : node_offsets[g + 1] + 1]
        first, second, third, complete = laplacian_traces(indptr, neighbours, limit)
        moment_quantiles(len(indptr) - 1, first, second, third, sketch[g, SMALL - 1 :])
        estimated[g] |= not complete


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
    component, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    for v in range(n):
        component[v] = -1
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
