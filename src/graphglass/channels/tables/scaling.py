"""Feature tables in units of the references: normal scores with linear tails, and whitening."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.attributes import rows_times
from graphglass.kernel import kernel

TAIL = 10.0  # how many reference deviations past the last reference still count
SHRINKAGE = 0.1  # at least
FARTHEST = 10.0  # deviations at which a standardised column is cut off
RANKED = 20_000  # references that ranks are counted among; of more, evenly spaced ones
ROWS = 20_000  # read at a time
ENTRIES = 32_000_000  # of a table in double precision at a time
TILE = 16  # references compared with every row while they are in the processor's cache


class NormalScores:
    """Map each column to the normal score of its rank among the references, and continue linearly past their range.

    A column then has the same unit whatever its distribution among normal graphs; a value no reference reaches grows
    with its distance from them, in deviations, up to a bound.
    """

    def __init__(self, table: NDArray[np.float32]) -> None:
        from scipy.special import ndtri

        count = min(len(table), RANKED)
        kept = np.linspace(0, len(table) - 1, count).round().astype(np.int64)
        known, scale = [], []
        for columns in _column_blocks(table):
            block = np.sort(columns, axis=0)[kept]
            low, high = np.quantile(block, [0.1, 0.9], axis=0)
            # The deviation of a normal law with the same central 80%; else the plain deviation; else, for a column that
            # is the same in every reference, a share of its value.
            deviation = (high - low) / 2.5631
            deviation = np.where(deviation > 1e-12, deviation, block.std(axis=0))
            scale.append(np.where(deviation > 1e-12, deviation, 1e-3 + 0.05 * np.abs(block[0])))
            known.append(block.T.astype(np.float32))
        self._scale, self._known = np.concatenate(scale), np.concatenate(known)  # (columns,), (columns, references)
        # The score of a value above a half-whole number of references: looked up instead of computed.
        halves = np.arange(2 * count + 1)
        share = (halves / 2 + 0.5) / (count + 1)
        edge = 0.5 / (count + 1)
        self._normal = ndtri(np.clip(share, edge, 1 - edge))

    def __call__(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        return _normal_scores(self._known, self._normal, self._scale, table)


def _column_blocks(table: NDArray[np.float32]) -> Iterator[NDArray[np.float64]]:
    """Some columns at a time in double precision."""
    step = max(1, ENTRIES // len(table))
    for first in range(0, table.shape[1], step):
        yield table[:, first : first + step].astype(np.float64)


class Standardised:
    """Subtract the references' mean and divide by their deviation plus a least scale, up to a bound."""

    def __init__(self, table: NDArray[np.float32], min_scales: NDArray[np.float64]) -> None:
        blocks = [(columns.mean(axis=0), columns.std(axis=0)) for columns in _column_blocks(table)]
        self._mean, deviation = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        scale = deviation + min_scales
        self._scale = np.where(scale > 1e-12, scale, 1.0)

    def __call__(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(np.clip((table - self._mean) / self._scale, -FARTHEST, FARTHEST).astype(np.float32))


@kernel
def _normal_scores(
    known: NDArray[np.float32],
    normal: NDArray[np.float64],
    scale: NDArray[np.float64],
    table: NDArray[np.float32],
) -> NDArray[np.float32]:
    out = np.empty(table.shape, np.float32)
    count = known.shape[1]
    for column in range(table.shape[1]):  # outermost: one column of the references stays in the processor's cache
        for row in range(len(table)):
            value = table[row, column]
            first, last = 0, count
            while first < last:
                middle = (first + last) // 2
                if known[column, middle] < value:
                    first = middle + 1
                else:
                    last = middle
            below, last = first, count
            while first < last and known[column, first] == value:
                middle = (first + last) // 2
                if known[column, middle] <= value:
                    first = middle + 1
                else:
                    last = middle
            wide = np.float64(value)
            past = max(wide - known[column, count - 1], 0.0) - max(known[column, 0] - wide, 0.0)
            out[row, column] = normal[below + first] + min(max(past / scale[column], -TAIL), TAIL)
    return out


class Whitening:
    """Centre a table and give its principal directions equal variance, the covariance shrunk towards a sphere."""

    def __init__(self, table: NDArray[np.float32]) -> None:
        count, columns = table.shape
        self._mean = table.mean(axis=0, dtype=np.float64)
        products, total = np.zeros((columns, columns) if count > columns else 0), 0.0
        step = ROWS if count > columns else count  # a decomposition below needs all rows at once
        for first in range(0, count, step):
            centred = (table[first : first + step] - self._mean) / max(count - 1, 1) ** 0.5
            total += float((centred * centred).sum())
            if count > columns:
                products += centred.T @ centred
        level = max(total / columns, 1e-9)
        # With more columns than references a lesser shrinkage would push the references away from each other.
        share = max(SHRINKAGE, columns / (columns + count))
        self._rest = 0.0 if count > columns else (share * level) ** -0.5
        if count > columns:
            variances, directions = np.linalg.eigh(products)
        else:  # few references span few directions, found without a matrix of columns by columns
            _, lengths, transposed = np.linalg.svd(centred, full_matrices=False)
            variances, directions = lengths**2, transposed.T
        scales = ((1 - share) * variances + share * level) ** -0.5
        self._into = np.ascontiguousarray(directions * (scales - self._rest))
        self._back = np.ascontiguousarray(directions.T)

    def __call__(self, table: NDArray[np.float32]) -> NDArray[np.float64]:
        centred = table - self._mean
        along = rows_times(centred, self._into)
        # Directions that the references do not span all have the same scale.
        return rows_times(along, self._back) + self._rest * centred if self._rest else along


def unit_rows(table: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rows on the unit sphere; a zero row stays zero."""
    norms = np.sqrt((table * table).sum(axis=1, keepdims=True))
    return (table / np.where(norms > 0, norms, 1.0)).astype(np.float32)


# Called from Python alone: compiled code that another compiled function calls may round differently once it is cached.
@kernel(fastmath={"reassoc", "contract"})
def squared_distances(rows: NDArray[np.float32], references: NDArray[np.float32]) -> NDArray[np.float32]:
    """Squared Euclidean distances, (rows, references), every row by itself."""
    out = np.empty((len(rows), len(references)), np.float32)
    for first in range(0, len(references), TILE):
        last = min(first + TILE, len(references))
        for i in range(len(rows)):
            for r in range(first, last):
                total = np.float32(0)
                for c in range(rows.shape[1]):
                    step = rows[i, c] - references[r, c]
                    total += step * step
                out[i, r] = total
    return out


@kernel(fastmath={"reassoc", "contract"})
def squared_distances_each(
    rows: NDArray[np.float32], references: NDArray[np.float32], places: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Squared Euclidean distances of every row to the references at its own places, (rows, places per row)."""
    out = np.empty(places.shape, np.float32)
    for i in range(len(places)):
        for column in range(places.shape[1]):
            r = places[i, column]
            total = np.float32(0)
            for c in range(rows.shape[1]):
                step = rows[i, c] - references[r, c]
                total += step * step
            out[i, column] = total
    return out
