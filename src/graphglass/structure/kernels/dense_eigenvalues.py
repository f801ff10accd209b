"""All eigenvalues of a small symmetric matrix: Householder reduction, then implicit QL."""

from __future__ import annotations

import numpy as np

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
def sort_values(x: Floats) -> None:
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
    are written. Reordered sums (fast-math) would round differently in freshly compiled and in cached code.
    """
    n = len(a)
    off = np.zeros(n)
    p = np.empty(n)
    for i in range(n - 1, 1, -1):
        u = a[i]
        scale = 0.0
        for k in range(i - 1):
            scale += u[k] * u[k]
        pivot = u[i - 1]
        if scale == 0.0:
            off[i] = pivot
            continue
        norm = np.sqrt(scale + pivot * pivot)
        alpha = -norm if pivot > 0 else norm
        off[i] = alpha
        u[i - 1] = pivot - alpha
        h = norm * (norm + abs(pivot))  # half of |u|^2
        for j in range(i):
            p[j] = 0.0
        for j in range(i):
            row, uj = a[j], u[j]
            for k in range(i):
                p[k] += row[k] * uj
        dot = 0.0
        for j in range(i):
            p[j] /= h
            dot += p[j] * u[j]
        shift = dot / (2 * h)
        for j in range(i):
            p[j] -= shift * u[j]
        for j in range(i):
            row = a[j]
            uj, pj = u[j], p[j]
            for k in range(i):
                row[k] -= uj * p[k] + pj * u[k]
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
