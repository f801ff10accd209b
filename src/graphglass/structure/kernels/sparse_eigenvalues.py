"""The largest eigenvalues of a large sparse symmetric matrix with spectrum in [-1, 1].

Chebyshev-filtered subspace iteration: a block of 16 vectors is multiplied by a polynomial that is large on the wanted
end of the spectrum and small on the rest, made orthonormal and rotated to its Ritz vectors, until the values
converge. A block, unlike a single Krylov sequence, sees eigenvalues with their multiplicity; the known null vectors of
the Laplacian are kept out of it.

A Ritz value theta of unit vector x with residual r = |Nx - theta x| lies within r of an eigenvalue, and the j largest
lie within |R_j|^2 / gap_j of theirs, R_j being their residuals and gap_j the distance to the next Ritz value. The
iteration stops when the better of the two bounds is below :data:`TOLERANCE` for every wanted value, or when its work is
used up: :data:`MULTIPLY_ADDS` in all. The bound reached tells how good the values are. ARPACK (SciPy's ``eigsh``) from
the same start vector takes two to three times as long and misses copies of multiple eigenvalues, as grids, cycles and
hypercubes have them.

A matrix too large for that gets an estimate: twenty-four Lanczos steps from one start vector, without
reorthogonalisation, in three vectors of memory and time linear in the edges. The values lie inside the spectrum and
below the true ones, and a multiple eigenvalue is found once.
"""

from __future__ import annotations

import numpy as np

from graphglass.kernel import Counts, Ends, Floats, kernel
from graphglass.structure.kernels.dense_eigenvalues import tridiagonal_eigenvalues

BLOCK = 16
TOLERANCE = 1e-8
ROUNDS = 60
AMPLIFICATION = 1e7  # of the best against the worst direction in one filter: keeps the block well conditioned
HIGHEST_DEGREE = 200
MULTIPLY_ADDS = 2**28
LANCZOS_STEPS = 24
LEAST_STEPS = 64  # a matrix that allows fewer is left to Lanczos steps


@kernel
def largest_eigenvalues(
    rows: Counts, columns: Ends, weights: Floats, null: Floats, start: Floats, wanted: int
) -> tuple[Floats, float]:
    """The ``wanted`` (at most 9) largest eigenvalues outside the span of ``null``, downwards, and their error bound.

    The matrix is given in CSR form, ``null`` as orthonormal eigenvectors, (c, n), and ``start``, a first guess, as
    (16, n); it is overwritten.
    """
    n = len(rows) - 1
    block, image, flat = start, np.empty((n, BLOCK)), np.empty((n, BLOCK))
    spare = np.empty((n, BLOCK))
    theta, bound = np.zeros(BLOCK), np.inf
    cut, top = 0.0, 1.0
    left = MULTIPLY_ADDS // (BLOCK * max(len(columns), 1))
    for turn in range(ROUNDS):
        if turn > 0:
            centre, radius = (cut - 1) / 2, (cut + 1) / 2
            rate = np.arccosh(max((top - centre) / radius, 1 + 1e-12))
            degree = min(max(int(np.log(2 * AMPLIFICATION) / rate), 2), HIGHEST_DEGREE, left)
            left -= degree
            _transpose(block, flat)
            # Rounding puts a little of the null vectors back, and they grow fastest: clear them in time.
            span = max(int(np.log(AMPLIFICATION) / np.arccosh((1 - centre) / radius)), 1)
            _filter(rows, columns, weights, null, flat, spare, centre, radius, degree, span)
            _transpose(flat, block)
        _orthonormalise(null, block)
        _transpose(block, flat)
        _multiply(rows, columns, weights, flat, image)
        theta, rotation = _jacobi(_inner(flat, image))
        residual = _rotate(flat, image, theta, rotation)
        _transpose(flat, block)
        bound = _error_bound(theta, residual, wanted)
        if bound < TOLERANCE or left <= 0:
            break
        # The largest eigenvalue may still hide above the largest Ritz value; too low a top would amplify it alone.
        cut, top = max(theta[BLOCK - 1], -0.9), min(theta[0] + 2 * residual[0], 1.0)
    return theta[:wanted], bound


@kernel
def _error_bound(theta: Floats, residual: Floats, wanted: int) -> float:
    """Bound on the error of the wanted Ritz values, given all residual norms."""
    best = 0.0
    for j in range(wanted):
        best = max(best, residual[j])
    total = 0.0
    for j in range(BLOCK - 1):
        total += residual[j] * residual[j]
        gap = theta[j] - theta[j + 1] - residual[j + 1]
        if j >= wanted - 1 and gap > 0:
            best = min(best, total / gap)
    return best


@kernel
def _filter(
    rows: Counts,
    columns: Ends,
    weights: Floats,
    null: Floats,
    x: Floats,
    y: Floats,
    centre: float,
    radius: float,
    degree: int,
    span: int,
) -> None:
    """Multiply ``x`` by the Chebyshev polynomial on the damped interval, clearing ``null`` every ``span`` steps."""
    n = len(rows) - 1
    total = np.empty(BLOCK)
    current, previous = x, y
    for step in range(degree):
        # The first step has no predecessor: T_1 = t, then T_k+1 = 2 t T_k - T_k-1, written over T_k-1.
        double, keep = (1 / radius, 0.0) if step == 0 else (2 / radius, 1.0)
        for i in range(n):
            own = current[i]
            for b in range(BLOCK):
                total[b] = -centre * own[b]
            for e in range(rows[i], rows[i + 1]):
                w, other = weights[e], current[columns[e]]
                for b in range(BLOCK):
                    total[b] += w * other[b]
            into = previous[i]
            for b in range(BLOCK):
                into[b] = double * total[b] - (keep * into[b] if step else 0.0)
        current, previous = previous, current
        if (step + 1) % span == 0:
            _clear(null, current)
            _clear(null, previous)
    if degree % 2:
        x[:] = y


@kernel
def _clear(null: Floats, x: Floats) -> None:
    """Take the null vectors out of a block that holds a node per row."""
    dot = np.empty(BLOCK)
    for c in range(len(null)):
        vector = null[c]
        dot[:] = 0.0
        for i in range(len(x)):
            for b in range(BLOCK):
                dot[b] += vector[i] * x[i, b]
        for i in range(len(x)):
            for b in range(BLOCK):
                x[i, b] -= vector[i] * dot[b]


@kernel
def _multiply(rows: Counts, columns: Ends, weights: Floats, x: Floats, out: Floats) -> None:
    total = np.empty(BLOCK)
    for i in range(len(rows) - 1):
        total[:] = 0.0
        for e in range(rows[i], rows[i + 1]):
            w, other = weights[e], x[columns[e]]
            for b in range(BLOCK):
                total[b] += w * other[b]
        out[i] = total


@kernel
def _transpose(source: Floats, into: Floats) -> None:
    """Copy (16, n), a vector per row, to (n, 16), a node per row, or back."""
    for i in range(len(into)):
        for j in range(len(source)):
            into[i, j] = source[j, i]


@kernel
def _normalise(x: Floats) -> None:
    x *= 1 / max(np.sqrt(vector_dot(x, x)), 1e-300)


@kernel
def vector_dot(x: Floats, y: Floats) -> float:
    """Inner product in sixteen interleaved sums: as fast as a reordered one, and always in the same order."""
    sums = np.zeros(BLOCK)
    whole = len(x) - len(x) % BLOCK
    for i in range(0, whole, BLOCK):
        for b in range(BLOCK):
            sums[b] += x[i + b] * y[i + b]
    for i in range(whole, len(x)):
        sums[i - whole] += x[i] * y[i]
    return float(sums.sum())


@kernel
def _orthonormalise(null: Floats, block: Floats) -> None:
    """Gram-Schmidt against the null vectors and one another, twice, which is enough."""
    for b in range(BLOCK):
        x = block[b]
        _normalise(x)
        for _ in range(2):
            for c in range(len(null) + b):
                onto = null[c] if c < len(null) else block[c - len(null)]
                dot = vector_dot(onto, x)
                for i in range(len(x)):
                    x[i] -= dot * onto[i]
            _normalise(x)


@kernel
def _inner(x: Floats, y: Floats) -> Floats:
    out = np.zeros((BLOCK, BLOCK))
    for i in range(len(x)):
        for a in range(BLOCK):
            w = x[i, a]
            for b in range(BLOCK):
                out[a, b] += w * y[i, b]
    for a in range(BLOCK):
        for b in range(a):
            out[a, b] = out[b, a] = (out[a, b] + out[b, a]) / 2
    return out


@kernel
def _rotate(x: Floats, image: Floats, theta: Floats, rotation: Floats) -> Floats:
    """Turn the block into its Ritz vectors and give the norm of each residual."""
    squares = np.zeros(BLOCK)
    turned, other = np.empty(BLOCK), np.empty(BLOCK)
    for i in range(len(x)):
        turned[:], other[:] = 0.0, 0.0
        for a in range(BLOCK):
            w, z = x[i, a], image[i, a]
            for b in range(BLOCK):
                turned[b] += w * rotation[a, b]
                other[b] += z * rotation[a, b]
        for b in range(BLOCK):
            x[i, b] = turned[b]
            squares[b] += (other[b] - theta[b] * turned[b]) ** 2
    return np.sqrt(squares)


@kernel
def _jacobi(matrix: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, downwards, and eigenvectors as columns, of a small symmetric matrix."""
    a, v = matrix, np.eye(BLOCK)
    for _ in range(30):
        rest = 0.0
        for p in range(BLOCK):
            for q in range(p):
                rest += a[p, q] * a[p, q]
        if rest < 1e-32:
            break
        for p in range(BLOCK - 1):
            for q in range(p + 1, BLOCK):
                if a[p, q] == 0.0:
                    continue
                ratio = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = (1.0 if ratio >= 0 else -1.0) / (abs(ratio) + np.sqrt(ratio * ratio + 1))
                c = 1 / np.sqrt(t * t + 1)
                s = t * c
                for k in range(BLOCK):
                    x, y = a[k, p], a[k, q]
                    a[k, p], a[k, q] = c * x - s * y, s * x + c * y
                for k in range(BLOCK):
                    x, y = a[p, k], a[q, k]
                    a[p, k], a[q, k] = c * x - s * y, s * x + c * y
                    x, y = v[k, p], v[k, q]
                    v[k, p], v[k, q] = c * x - s * y, s * x + c * y
    values = np.diag(a)
    order = np.argsort(-values, kind="mergesort")
    return values[order], v[:, order]


@kernel
def estimated_eigenvalues(
    rows: Counts, columns: Ends, weights: Floats, null: Floats, start: Floats, wanted: int
) -> Floats:
    """The ``wanted`` largest Ritz values outside the span of ``null``, downwards; ``start`` is overwritten."""
    n = len(rows) - 1
    current, previous, image = start, np.zeros(n), np.empty(n)
    diagonal, off = np.zeros(LANCZOS_STEPS), np.zeros(LANCZOS_STEPS)
    _clear_vector(null, current)
    norm = np.sqrt(vector_dot(current, current))
    done = 0
    while done < LANCZOS_STEPS and norm > 1e-12:
        if done > 0:
            off[done] = norm
        current /= norm
        for i in range(n):
            total = 0.0
            for e in range(rows[i], rows[i + 1]):
                total += weights[e] * current[columns[e]]
            image[i] = total - off[done] * previous[i]
        _clear_vector(null, image)
        diagonal[done] = vector_dot(current, image)
        image -= diagonal[done] * current
        norm = np.sqrt(vector_dot(image, image))
        previous, current, image = current, image, previous
        done += 1
    values = diagonal[:done]
    first, size = np.zeros(1, np.int64), np.zeros(1, np.int64)
    size[0] = done
    tridiagonal_eigenvalues(values, off, first, size)
    values.sort()
    out = np.empty(wanted)
    for j in range(wanted):
        out[j] = values[max(done - 1 - j, 0)]
    return out


@kernel
def _clear_vector(null: Floats, x: Floats) -> None:
    """Take the null vectors out of ``x``."""
    for c in range(len(null)):
        x -= vector_dot(null[c], x) * null[c]
