"""Quantiles of random Rayleigh quotients, from the spectrum alone.

For a Gaussian probe u the quotient u'Lu / u'u has the law of sum lambda_i g_i^2 / sum g_i^2, whatever the eigenvectors
are. Drawing the g_i in the eigenbasis therefore gives the same law as probing nodes and does not depend on their order.

The empirical quantile of 16 quotients still depends on which 16 were drawn. The sketch takes its expectation:

* up to :data:`DRAWN_NODES` nodes, as the mean over 64 sets of 16 quotients, drawn once from a fixed seed;
* above, from the first three moments of the quotient, which are exact polynomials in tr L, tr L^2 and tr L^3. The
  quotient is an average over so many nodes that mean, variance and skewness settle its quantiles (Cornish-Fisher), and
  no spectrum is needed. At the switch the two differ by a tenth of the quotient's own
  standard deviation, which is the error left by 64 sets.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from graphglass.kernel import Counts, Ends, Floats, kernel
from graphglass.structure.kernels.motifs import by_degree, wedge_work

PROBES = 16
SETS = 64
DRAWN_NODES = 128
LEVELS = (0.1, 0.5, 0.9)

# Expectation of the empirical 10, 50 and 90% quantile of 16 standard normals, and of the same quantile's square.
NORMAL_QUANTILES = np.array([-1.137507659596157, 0.0, 1.137507659596157])
NORMAL_SQUARES = np.array([1.470968601380620, 0.101694652082368, 1.470968601380620])


def _sorting_steps() -> Counts:
    """Pairs of places that, compared and swapped one after another, sort sixteen values (Batcher's network)."""
    pairs, span = [], 1
    while span < PROBES:
        width = span
        while width:
            for start in range(width % span, PROBES - width, 2 * width):
                for low in range(start, min(start + width, PROBES - width)):
                    if low // (2 * span) == (low + width) // (2 * span):
                        pairs.append((low, low + width))
            width //= 2
        span *= 2
    return np.array(pairs)


SORTING_STEPS = _sorting_steps()


@cache
def probe_squares() -> tuple[Floats, Floats]:
    """The fixed g_i^2 of every probe, (128, 1024), and their running sums over i; columns go through the sets first."""
    from scipy.special import ndtri  # not before the first call: a slow import

    # Raw words of this generator are guaranteed never to change between versions, unlike its normals.
    words = np.random.PCG64(20).random_raw(DRAWN_NODES * SETS * PROBES)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    squares = ndtri(uniform).reshape(DRAWN_NODES, SETS, PROBES) ** 2
    squares = np.ascontiguousarray(squares.transpose(0, 2, 1)).reshape(DRAWN_NODES, SETS * PROBES)
    return squares, np.cumsum(squares, axis=0)


@kernel
def drawn_quantiles(spectrum: Floats, squares: Floats, sums: Floats, out: Floats) -> None:
    """Expected quantiles of 16 quotients by drawing in the eigenbasis (eq:rayleigh, eq:spectral_sketch)."""
    n = len(spectrum)
    quotient = np.zeros(SETS * PROBES)
    whole = n - n % 4
    for i in range(0, whole, 4):  # four terms for each time that a sum is loaded and stored
        a, b, c, d = spectrum[i], spectrum[i + 1], spectrum[i + 2], spectrum[i + 3]
        for k in range(SETS * PROBES):
            total = quotient[k] + a * squares[i, k]
            total = total + b * squares[i + 1, k]
            total = total + c * squares[i + 2, k]
            quotient[k] = total + d * squares[i + 3, k]
    for i in range(whole, n):
        for k in range(SETS * PROBES):
            quotient[k] += spectrum[i] * squares[i, k]
    for k in range(SETS * PROBES):
        quotient[k] /= sums[n - 1, k]
    for step in range(len(SORTING_STEPS)):  # all sets side by side, in vector registers
        low, high = SORTING_STEPS[step, 0] * SETS, SORTING_STEPS[step, 1] * SETS
        for s in range(SETS):
            x, y = quotient[low + s], quotient[high + s]
            quotient[low + s] = x if x < y else y
            quotient[high + s] = y if x < y else x
    # 15 intervals: the 10, 50 and 90% points lie half way between neighbours.
    for k in range(3):
        below, total = (1 + 6 * k) * SETS, 0.0
        for s in range(SETS):
            total += (quotient[below + s] + quotient[below + SETS + s]) / 2
        out[k] = total / SETS


@kernel
def moment_quantiles(n: int, first: float, second: float, third: float, out: Floats) -> None:
    """Expected quantiles of 16 quotients from tr L, tr L^2 and tr L^3 of an n-node graph.

    For u uniform on the sphere, E rho = p1 / n, E rho^2 = (p1^2 + 2 p2) / (n (n + 2)) and
    E rho^3 = (p1^3 + 6 p1 p2 + 8 p3) / (n (n + 2) (n + 4)), p_k being tr L^k.
    """
    # Centred at the mean eigenvalue, where the first power sum vanishes and nothing cancels.
    mean = first / n
    spread = max(second - first * mean, 0.0)
    skewed = third - 3 * mean * second + 2 * first * mean * mean
    variance = 2 * spread / (n * (n + 2.0))
    deviation = np.sqrt(variance)
    skewness = 8 * skewed / (n * (n + 2.0) * (n + 4.0)) / (variance * deviation) if variance > 1e-30 else 0.0
    for k in range(3):
        shift = NORMAL_QUANTILES[k] + skewness / 6 * (NORMAL_SQUARES[k] - 1)
        out[k] = mean + deviation * shift


@kernel
def laplacian_traces(indptr: Counts, neighbours: Ends, limit: int) -> tuple[float, float, float, bool]:
    """tr L, tr L^2 and tr L^3, exactly, and whether the third is complete.

    With N = D^(-1/2) A D^(-1/2) and n' nodes that have a neighbour: tr L = n', tr L^2 = n' + tr N^2 and
    tr L^3 = n' + 3 tr N^2 - tr N^3, where tr N^2 sums 1 / (d_u d_v) over both directions of every edge and tr N^3 is
    six times the sum of 1 / (d_u d_v d_w) over triangles. Triangles are left out where listing them takes more than
    ``limit`` steps.
    """
    n = len(indptr) - 1
    complete = wedge_work(indptr, neighbours) <= limit
    _, rows, columns = by_degree(indptr, neighbours)
    mark = np.full(n, -1, np.int64)
    linked, pairs, triples = 0.0, 0.0, 0.0
    for v in range(n):
        degree = rows[v + 1] - rows[v]
        linked += degree > 0
        stop = rows[v]
        around = 0.0
        while stop < rows[v + 1] and columns[stop] < v:
            u = columns[stop]
            mark[u] = v
            around += 1.0 / (rows[u + 1] - rows[u])
            stop += 1
        pairs += 2 * around / max(degree, 1)
        if not complete:
            continue
        for e in range(rows[v], stop):
            u = columns[e]
            closed = 0.0
            for f in range(rows[u], rows[u + 1]):
                w = columns[f]
                if w >= u:
                    break
                if mark[w] == v:
                    closed += 1.0 / (rows[w + 1] - rows[w])
            triples += 6 * closed / (degree * (rows[u + 1] - rows[u]))
    return linked, linked + pairs, linked + 3 * pairs - triples, complete
