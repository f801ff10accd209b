"""Feature tables in units of the references: normal scores with linear tails, and whitening."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import ndtri

from graphglass.graphs.attributes import rows_times

TAIL = 10.0  # how many reference deviations past the last reference still count
SHRINKAGE = 0.1
TILE = 16  # references compared with every row while they are in the processor's cache


class NormalScores:
    """Map each column to the normal score of its rank among the references, and go on linearly past their range.

    A column then has the same unit whatever its law among normal graphs; a value no reference reaches grows with its
    distance from them, in deviations, up to a bound.
    """

    def __init__(self, table: NDArray[np.float64]) -> None:
        self.known = np.sort(table, axis=0)  # (references, columns)
        low, high = np.quantile(self.known, [0.1, 0.9], axis=0)
        # The deviation of a normal law with the same central 80%; else the plain deviation; else, for a column that is
        # the same in every reference, a share of its value.
        scale = (high - low) / 2.5631
        scale = np.where(scale > 1e-12, scale, self.known.std(axis=0))
        self.scale = np.where(scale > 1e-12, scale, 1e-3 + 0.05 * np.abs(self.known[0]))

    def __call__(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        count = len(self.known)
        edge = 0.5 / (count + 1)
        share = (_places(self.known, table) / 2 + 0.5) / (count + 1)
        past = np.maximum(table - self.known[-1], 0) - np.maximum(self.known[0] - table, 0)
        return ndtri(np.clip(share, edge, 1 - edge)) + np.clip(past / self.scale, -TAIL, TAIL)


@njit(cache=True, nogil=True)
def _places(known: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many sorted references lie below each value plus how many do not lie above it, column by column."""
    out = np.empty(table.shape, np.int64)
    for column in range(table.shape[1]):
        for row in range(len(table)):
            value = table[row, column]
            first, last = 0, len(known)
            while first < last:
                middle = (first + last) // 2
                if known[middle, column] < value:
                    first = middle + 1
                else:
                    last = middle
            below, last = first, len(known)
            while first < last:
                middle = (first + last) // 2
                if known[middle, column] <= value:
                    first = middle + 1
                else:
                    last = middle
            out[row, column] = below + first
    return out


class Whitening:
    """Centre a table and give its principal directions equal spread, the covariance shrunk towards a sphere."""

    def __init__(self, table: NDArray[np.float64]) -> None:
        columns = table.shape[1]
        self.mean = table.mean(axis=0)
        centred = table - self.mean
        covariance = centred.T @ centred / max(len(table) - 1, 1)
        level = max(float(np.trace(covariance)) / columns, 1e-9)
        values, vectors = np.linalg.eigh((1 - SHRINKAGE) * covariance + SHRINKAGE * level * np.eye(columns))
        self.map = np.ascontiguousarray(vectors / np.sqrt(values))

    def __call__(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows_times(table - self.mean, self.map)


def unit_rows(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows on the unit sphere; a zero row stays zero."""
    norms = np.sqrt((table * table).sum(axis=1, keepdims=True))
    return table / np.where(norms > 0, norms, 1.0)


# Called from Python alone: compiled code that another compiled function calls may round differently once it is cached.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def squared_distances(rows: NDArray[np.float64], references: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared Euclidean distances, (rows, references), every row by itself."""
    out = np.empty((len(rows), len(references)))
    for first in range(0, len(references), TILE):
        last = min(first + TILE, len(references))
        for i in range(len(rows)):
            for r in range(first, last):
                total = 0.0
                for c in range(rows.shape[1]):
                    step = rows[i, c] - references[r, c]
                    total += step * step
                out[i, r] = total
    return out
