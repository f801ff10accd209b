"""Feature tables in units of the references: normal scores with linear tails, and whitening."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.attributes import rows_times
from graphglass.kernel import kernel

Column = NDArray[np.float64]

TAIL = 10.0  # how many reference deviations past the last reference still count
SHRINKAGE = 0.1  # at least
FARTHEST = 10.0  # deviations at which a standardised column is cut off
RANKED = 20_000  # references that ranks are counted among; of more, evenly spaced ones
ROWS = 20_000  # read at a time
ENTRIES = 32_000_000  # of a table in double precision at a time
ABREAST = 32  # rows looked up at a time
TILE = 16  # references compared with every row while they are in the processor's cache
PRODUCTS = 250_000  # products of rows and references at a time


class NormalScores:
    """Map each column to the normal score of its rank among the references, and continue linearly past their range.

    A column then has the same unit whatever its distribution among normal graphs; a value no reference reaches grows
    with its distance from them, in deviations, up to a bound.
    """

    def __init__(self, table: NDArray[np.float32]) -> None:
        count = min(len(table), RANKED)
        kept = np.linspace(0, len(table) - 1, count).round().astype(np.int64)
        known, scale = [], []
        for columns in _column_blocks(table):
            block = np.sort(columns, axis=0)[kept]
            low, high = np.quantile(block, [0.1, 0.9], axis=0)
            scale.append(_deviation(low, high, block.std(axis=0), block[0]))
            known.append(block.T.astype(np.float32))
        self._scale = np.concatenate(scale)  # (columns,)
        self._known = np.ascontiguousarray(np.concatenate(known))  # (columns, references), a column in one piece
        self._normal = _normal_quantiles(count)
        self._runs = _run_ends(self._known)

    def __call__(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        return _normal_scores(self._known, self._runs, self._normal, self._scale, table)

    @staticmethod
    def left_out(table: NDArray[np.float32]) -> NDArray[np.float32]:
        """Every reference scored as a new graph among the others: its rank and how far past their range it lies."""
        rest, columns = len(table) - 1, []
        normal = _normal_quantiles(rest)
        for block in _column_blocks(table):
            ordered, scores = np.sort(block, axis=0), np.empty(block.shape)
            deviation = _left_out_deviation(block)
            for c, known in enumerate(ordered.T):
                values = block[:, c]
                below, upto = np.searchsorted(known, values), np.searchsorted(known, values, side="right")
                low, high = (known[place + (place >= below)] for place in (0, rest - 1))
                scale = _deviation(*_quantiles_without(known, below), deviation[:, c], low)
                past = np.maximum(values - high, 0) - np.maximum(low - values, 0)
                scores[:, c] = normal[below + upto - 1] + np.clip(past / scale, -TAIL, TAIL)
            columns.append(scores.astype(np.float32))
        return np.concatenate(columns, axis=1)


def _run_ends(ordered: NDArray[np.float32]) -> NDArray[np.int32]:
    """The place after the last of the equal values of every entry, in rows that ascend."""
    count = ordered.shape[1]
    ends = np.full(ordered.shape, count, np.int32)
    ends[:, :-1] = np.where(ordered[:, 1:] != ordered[:, :-1], np.arange(1, count), count)
    return np.ascontiguousarray(np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1])


def _normal_quantiles(count: int) -> NDArray[np.float64]:
    """The score of a value above a half-whole number of `count` references: looked up instead of computed."""
    from scipy.special import ndtri

    share = (np.arange(2 * count + 1) / 2 + 0.5) / (count + 1)
    edge = 0.5 / (count + 1)
    return np.asarray(ndtri(np.clip(share, edge, 1 - edge)))


def _deviation(low: Column, high: Column, plain: Column, least: Column) -> Column:
    """The deviation of a normal law with the same central 80%; else the plain deviation; else a share of the value."""
    deviation = (high - low) / 2.5631
    deviation = np.where(deviation > 1e-12, deviation, plain)
    return np.where(deviation > 1e-12, deviation, 1e-3 + 0.05 * np.abs(least))


def _left_out_deviation(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The deviation of every column without each of its rows."""
    rows = len(table)
    off = table - table.mean(axis=0)
    variance = table.var(axis=0)
    without = (rows * variance - off**2 * rows / (rows - 1)) / (rows - 1)
    return np.asarray(
        np.sqrt(np.where(without > 1e-12 * variance, without, 0.0))
    )  # rounding where the others are equal


def _quantiles_without(known: Column, left_out: NDArray[np.int64]) -> tuple[Column, Column]:
    """The 10% and 90% quantile of sorted values without the one at each of some places."""

    def quantile(share: float) -> Column:
        position = share * (len(known) - 2)
        below = int(position)
        one, two = (known[place + (place >= left_out)] for place in (below, min(below + 1, len(known) - 2)))
        return np.asarray(one + (position - below) * (two - one))

    return quantile(0.1), quantile(0.9)


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
        self._least = min_scales
        self._scale = _positive(deviation + min_scales)

    def __call__(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        scaled: NDArray[np.float64] = np.clip((table - self._mean) / self._scale, -FARTHEST, FARTHEST)
        return scaled.astype(np.float32)

    def left_out(self, table: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Factors and shifts, (references, columns) each, from these units to those of all references but one."""
        blocks = [_left_out_deviation(columns) for columns in _column_blocks(table)]
        scale = _positive(np.concatenate(blocks, axis=1) + self._least)
        shift = (table - self._mean) / (len(table) - 1) / scale
        return (self._scale / scale).astype(np.float32), shift.astype(np.float32)


def _positive(scale: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(scale > 1e-12, scale, 1.0)


@kernel
def _normal_scores(
    known: NDArray[np.float32],
    runs: NDArray[np.int32],
    normal: NDArray[np.float64],
    scale: NDArray[np.float64],
    table: NDArray[np.float32],
) -> NDArray[np.float32]:
    out = np.empty(table.shape, np.float32)
    count = known.shape[1]
    values, places, steps = np.empty(ABREAST, np.float32), np.empty(ABREAST, np.uint64), np.zeros(2, np.uint64)
    for column in range(table.shape[1]):  # outermost: one column of the references stays in the processor's cache
        for first in range(0, len(table), ABREAST):
            some = min(ABREAST, len(table) - first)
            for i in range(some):
                values[i], places[i] = table[first + i, column], np.uint64(0)
            left = count
            # Halves of what is left. The step is looked up: the processor would have to guess a branch, and would
            # guess half of them wrong. No search waits for another.
            while left > 1:
                half = left // 2
                steps[1], last = np.uint64(half), np.uint64(half - 1)
                for i in range(some):
                    places[i] += steps[np.uint64(known[column, places[i] + last] < values[i])]
                left -= half
            for i in range(some):
                value, below = values[i], np.int64(places[i])
                below += known[column, below] < value
                upto = below
                if below < count and known[column, below] == value:
                    upto = runs[column, below]
                wide = np.float64(value)
                past = max(wide - known[column, count - 1], 0.0) - max(known[column, 0] - wide, 0.0)
                out[first + i, column] = normal[below + upto] + min(max(past / scale[column], -TAIL), TAIL)
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


def squared_lengths(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("rc,rc->r", rows, rows, dtype=np.float64))


def nearest_distances(
    rows: NDArray[np.float32],
    references: NDArray[np.float32],
    lengths: NDArray[np.float64],
    scales: NDArray[np.float64],
    k: int,
    *,
    whitened: bool,
) -> NDArray[np.float64]:
    """Distances of every row to its k nearest references in units of their scales, ascending, (rows, k).

    The bits are those of :func:`squared_distances` to all references. A matrix product in single precision gives a
    lower bound, error included, of every distance; only references that it does not rule out are compared.
    ``lengths`` are the :func:`squared_lengths` of the references.
    """
    best = np.full((len(rows), min(k, len(references))), np.inf)
    own = squared_lengths(rows)
    # A sum of n products is off by at most n roundings of its terms' lengths, the product's and the comparison's alike.
    slack = (4 * rows.shape[1] + 32) * float(np.finfo(np.float32).eps) / 2
    factors = 1 / (scales if whitened else scales**2)
    step = max(1, PRODUCTS // len(references))
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        _keep_nearest(
            rows[part] @ references.T, rows[part], references, (own[part] * (1 - slack)).astype(np.float32),
            (lengths * (1 - slack)).astype(np.float32), factors.astype(np.float32), scales, whitened, best[part],
        )  # fmt: skip
    return best


@kernel(fastmath={"reassoc", "contract"})
def _keep_nearest(
    products: NDArray[np.float32],
    rows: NDArray[np.float32],
    references: NDArray[np.float32],
    own: NDArray[np.float32],
    lengths: NDArray[np.float32],
    factors: NDArray[np.float32],
    scales: NDArray[np.float64],
    whitened: bool,
    best: NDArray[np.float64],
) -> None:
    least, last = np.empty(len(references), np.float32), best.shape[1] - 1
    for i in range(len(rows)):
        for r in range(len(references)):
            least[r] = (own[i] + lengths[r] - np.float32(2) * products[i, r]) * factors[r]
        limit = np.float32(np.inf)
        for r in range(len(references)):
            if least[r] >= limit:
                continue
            total = np.float32(0)
            for c in range(rows.shape[1]):
                step = rows[i, c] - references[r, c]
                total += step * step
            distance = (np.float64(total) / 2 if whitened else np.sqrt(np.float64(total))) / scales[r]
            if distance < best[i, last]:
                place = last
                while place > 0 and best[i, place - 1] > distance:
                    best[i, place] = best[i, place - 1]
                    place -= 1
                best[i, place] = distance
                worst = best[i, last] * (1 + 1e-6)
                limit = np.float32(2 * worst if whitened else worst * worst)


@kernel(fastmath={"reassoc", "contract"})
def left_out_squares(
    rows: NDArray[np.float32], factors: NDArray[np.float32], shifts: NDArray[np.float32], first: int, last: int
) -> NDArray[np.float32]:
    """Squared distances of some standardised references to all, each in the units without it, (last - first, all)."""
    out = np.empty((last - first, len(rows)), np.float32)
    far = np.float32(FARTHEST)
    for i in range(first, last):
        for r in range(len(rows)):
            total = np.float32(0)
            for c in range(rows.shape[1]):
                own = min(max(rows[i, c] * factors[i, c] + shifts[i, c], -far), far)
                other = min(max(rows[r, c] * factors[i, c] + shifts[i, c], -far), far)
                total += (own - other) * (own - other)
            out[i - first, r] = total
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
