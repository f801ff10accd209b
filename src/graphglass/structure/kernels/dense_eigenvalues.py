"""All eigenvalues of small symmetric matrices: Householder reduction, then implicit QL.

Compiled without LAPACK: many small problems run side by side, each on its own thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.kernel import Counts, Floats, kernel

SWEEPS = 60  # for one eigenvalue; two are usual


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
def tridiagonalise(a: Floats, diagonal: Floats, off: Floats) -> None:
    """Reduce to tridiagonal form by reflections, from the last row upwards so every vector is contiguous.

    Writes the diagonal and what lies between i - 1 and i; the matrix is overwritten.

    Both triangles are kept up, which leaves no sum along a row: the loops run in vector registers in the order they
    are written. Reordered sums (fast-math) would round differently in freshly compiled and in cached code. One pass
    over the matrix applies a reflection and multiplies by the vector of the next one, two rows at a time.
    """
    n = len(a)
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
    for i in range(n):
        diagonal[i] = a[i, i]


@kernel
def tridiagonal_eigenvalues(d: Floats, e: Floats, starts: Counts, sizes: Counts) -> None:
    """Replace the diagonals of several matrices by their eigenvalues.

    Matrix ``r`` has ``sizes[r]`` places of ``d`` and ``e`` from ``starts[r]`` on; ``e[i]`` lies between i - 1 and i and
    is overwritten. A rotation waits for a root and two quotients of the rotation before it. The matrices therefore
    take turns: the processor works on a rotation of each at the same time. The numbers of a matrix do not depend on
    the others.
    """
    count = len(sizes)
    low, high, at = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    sweeps, busy, left = np.zeros(count, np.int64), np.zeros(count, np.int64), count
    shifted, sine, cosine, moved = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    for r in range(count):
        low[r], at[r], busy[r] = starts[r], starts[r] - 1, r
        for i in range(starts[r] + 1, starts[r] + sizes[r]):
            e[i - 1] = e[i]
        if sizes[r] > 0:
            e[starts[r] + sizes[r] - 1] = 0.0
    while left > 0:
        k = 0
        while k < left:
            r = busy[k]
            if at[r] < low[r]:  # between two sweeps
                end = starts[r] + sizes[r]
                m = low[r]
                while low[r] < end:
                    m = low[r]
                    while m < end - 1 and abs(e[m]) > 2.3e-16 * (abs(d[m]) + abs(d[m + 1])) + 1e-300:
                        m += 1
                    if m > low[r] and sweeps[r] < SWEEPS:
                        break
                    low[r] += 1
                    sweeps[r] = 0
                if low[r] >= end:
                    left -= 1
                    busy[k] = busy[left]
                    continue
                # Wilkinson's shift, from the leading 2 x 2 block of the unreduced part.
                first = low[r]
                g = (d[first + 1] - d[first]) / (2 * e[first])
                root = np.sqrt(g * g + 1)
                shifted[r] = d[m] - d[first] + e[first] / (g + (root if g >= 0 else -root))
                sine[r], cosine[r], moved[r] = 1.0, 1.0, 0.0
                sweeps[r] += 1
                high[r], at[r] = m, m - 1
            i, g = at[r], shifted[r]
            f, b = sine[r] * e[i], cosine[r] * e[i]
            root = np.sqrt(f * f + g * g)
            e[i + 1] = root
            if root == 0.0:  # the matrix falls in two
                d[i + 1] -= moved[r]
                e[high[r]] = 0.0
                at[r] = low[r] - 1
                k += 1
                continue
            s, c = f / root, g / root
            g = d[i + 1] - moved[r]
            root = (d[i] - g) * s + 2 * c * b
            d[i + 1] = g + s * root
            sine[r], cosine[r], moved[r], shifted[r] = s, c, s * root, c * root - b
            at[r] = i - 1
            if i == low[r]:
                d[i] -= moved[r]
                e[i] = shifted[r]
                e[high[r]] = 0.0
            k += 1
