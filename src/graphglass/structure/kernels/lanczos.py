"""Estimates of the largest eigenvalues of matrices that are too large for subspace iteration.

Twenty-four Lanczos steps from one start vector, without reorthogonalisation: three vectors of memory and time linear
in the edges. The values lie inside the spectrum and below the true ones, and a multiple eigenvalue is found once.
"""

from __future__ import annotations

import numpy as np

from graphglass.structure.kernels.chebyshev import vector_dot
from graphglass.structure.kernels.compiled import Counts, Ends, Floats, kernel
from graphglass.structure.kernels.dense_eigenvalues import tridiagonal_eigenvalues

STEPS = 24


@kernel
def estimated_eigenvalues(
    rows: Counts, columns: Ends, weights: Floats, null: Floats, start: Floats, wanted: int
) -> Floats:
    """The ``wanted`` largest Ritz values outside the span of ``null``, downwards; ``start`` is overwritten."""
    n = len(rows) - 1
    current, previous, image = start, np.zeros(n), np.empty(n)
    diagonal, off = np.zeros(STEPS), np.zeros(STEPS)
    clear(null, current)
    norm = np.sqrt(vector_dot(current, current))
    done = 0
    while done < STEPS and norm > 1e-12:
        if done > 0:
            off[done] = norm
        current /= norm
        for i in range(n):
            total = 0.0
            for e in range(rows[i], rows[i + 1]):
                total += weights[e] * current[columns[e]]
            image[i] = total - off[done] * previous[i]
        clear(null, image)
        diagonal[done] = vector_dot(current, image)
        image -= diagonal[done] * current
        norm = np.sqrt(vector_dot(image, image))
        previous, current, image = current, image, previous
        done += 1
    values = diagonal[:done]
    tridiagonal_eigenvalues(values, off[:done])
    values.sort()
    out = np.empty(wanted)
    for j in range(wanted):
        out[j] = values[max(done - 1 - j, 0)]
    return out


@kernel
def clear(null: Floats, x: Floats) -> None:
    """Take the null vectors out of ``x``."""
    for c in range(len(null)):
        x -= vector_dot(null[c], x) * null[c]
