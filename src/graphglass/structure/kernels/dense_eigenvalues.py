"""All eigenvalues of a small symmetric matrix: Householder reduction, then implicit QL."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.kernel import Floats, kernel


@kernel
def symmetric_eigenvalues(matrix: Floats) -> Floats:
    """Eigenvalues of a symmetric matrix, sorted; the matrix is overwritten.

    Compiled without LAPACK: many small problems run side by side, each on its own thread.
    """
    diagonal, off = tridiagonalise(matrix)
    tridiagonal_eigenvalues(diagonal, off)
    sort_values(diagonal)
    return diagonal


@kernel
def sort_values(x: NDArray[Any]) -> None:
    """Sort in place by falling gaps (Shell); NumPy's sort takes five times as long to compile."""
    gap = 1
    while gap < len(x) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, len(x)):
            value, j = x[i], i
            while j >= gap and x[j - gap] > value:
                x[j] = x[j - gap]
                j -= gap
            x[j] = value
        gap //= 3


@kernel
def tridiagonalise(a: Floats) -> tuple[Floats, Floats]:
    """Reduce to tridiagonal form by reflections, from the last row upwards so every vector is contiguous.

    Both triangles are kept up, which leaves no sum along a row: the loops run in vector registers in the order they
    are written. Reordered sums (fast-math) would round differently in freshly compiled and in cached code. One pass
    over the matrix applies a reflection and multiplies by the vector of the next one, two rows at a time.
    """
    n = len(a)
    off = np.zeros(n)
    u, p = np.zeros(n), np.zeros(n)  # of the reflection that rows above are still to be updated by
    v, product = np.empty(n), np.empty(n)
    for i in range(n - 1, 1, -1):
        for k in range(i + 1):
            a[i, k] -= u[i] * p[k] + p[i] * u[k]
        scale = 0.0
        for k in range(i - 1):
            scale += a[i, k] * a[i, k]
        pivot = a[i, i - 1]
        norm = np.sqrt(scale + pivot * pivot)
        alpha = -norm if pivot > 0 else norm
        for k in range(i):
            v[k], product[k] = a[i, k], 0.0
        off[i] = pivot
        if scale > 0.0:
            off[i] = alpha
            v[i - 1] = pivot - alpha
        for j in range(0, i - 1, 2):
            uj, pj, vj = u[j], p[j], v[j]
            ul, pl, vl = u[j + 1], p[j + 1], v[j + 1]
            for k in range(i):
                one = a[j, k] - (uj * p[k] + pj * u[k])
                two = a[j + 1, k] - (ul * p[k] + pl * u[k])
                a[j, k], a[j + 1, k] = one, two
                product[k] = (product[k] + one * vj) + two * vl
        if i % 2:
            uj, pj, vj = u[i - 1], p[i - 1], v[i - 1]
            for k in range(i):
                a[i - 1, k] -= uj * p[k] + pj * u[k]
                product[k] += a[i - 1, k] * vj
        u, v = v, u
        p, product = product, p
        if scale == 0.0:
            for k in range(i):
                u[k] = p[k] = 0.0
            continue
        h = norm * (norm + abs(pivot))  # half of |u|^2
        dot = 0.0
        for j in range(i):
            p[j] /= h
            dot += p[j] * u[j]
        shift = dot / (2 * h)
        for j in range(i):
            p[j] -= shift * u[j]
    for j in range(min(n, 2)):  # the last reflection
        for k in range(min(n, 2)):
            a[j, k] -= u[j] * p[k] + p[j] * u[k]
    if n > 1:
        off[1] = a[1, 0]
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = a[i, i]
    return diagonal, off


@kernel
def tridiagonal_eigenvalues(d: Floats, e: Floats) -> None:
    """Replace the diagonal ``d`` by the eigenvalues; ``e[i]`` lies between i - 1 and i and is overwritten."""
    n = len(d)
    if n == 0:  # a graph without edges has no class; e[-1] would be another array's memory
        return
    for i in range(1, n):
        e[i - 1] = e[i]
    e[n - 1] = 0.0
    for low in range(n):
        for _ in range(60):
            m = low
            while m < n - 1 and abs(e[m]) > 2.3e-16 * (abs(d[m]) + abs(d[m + 1])) + 1e-300:
                m += 1
            if m == low:
                break
            # Wilkinson's shift, from the leading 2 x 2 block of the unreduced part.
            g = (d[low + 1] - d[low]) / (2 * e[low])
            r = np.sqrt(g * g + 1)
            g = d[m] - d[low] + e[low] / (g + (r if g >= 0 else -r))
            sine, cosine, moved = 1.0, 1.0, 0.0
            split = False
            for i in range(m - 1, low - 1, -1):
                f, b = sine * e[i], cosine * e[i]
                r = np.sqrt(f * f + g * g)
                e[i + 1] = r
                if r == 0.0:
                    d[i + 1] -= moved
                    e[m] = 0.0
                    split = True
                    break
                sine, cosine = f / r, g / r
                g = d[i + 1] - moved
                r = (d[i] - g) * sine + 2 * cosine * b
                moved = sine * r
                d[i + 1] = g + moved
                g = cosine * r - b
            if split:
                continue
            d[low] -= moved
            e[low] = g
            e[m] = 0.0
