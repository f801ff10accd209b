"""From a metric to a channel's distance: mean over the k nearest references, relative to their local scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphglass.kernel import kernel

BLOCK = 64  # queries per block of the distance matrix: one that stays near the processor's cache
TILE = 512  # references compared with each other at a time
KEPT = 4096  # references whose distances to each other stay in memory for the second pass
HALF_SCALING = 64  # references at which half of the local scaling asked for is used


class Rows(Protocol):
    """Graphs as a channel reads them; only the channel knows what else its rows are."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: slice, /) -> Self: ...


R = TypeVar("R", bound=Rows)
Candidates = NDArray[np.int64] | None  # (queries, candidates) places to compare with; None: all references
Metric = Callable[[int, int], NDArray[np.float64]]  # distances of rows first..last to every reference


@dataclass(frozen=True, eq=False)
class CandidateSearch:
    """Places of the references that a reference is compared with, where there are too many to compare with all."""

    around: NDArray[np.int32]  # (references, few): other references near each reference, for its local scale
    calibrated: NDArray[np.int64]  # (calibrated,): the references that get a leave-one-out distance
    left_out: NDArray[np.int64]  # (calibrated, candidates): the candidates of each of those, without itself


def neighbourhood(references: int, k_divisor: float) -> int:
    """How many nearest references to average: sqrt(references) / k_divisor, at least one.

    The k of a nearest-neighbour density grows with the number of points. A handful of references leaves only the
    nearest one local; among thousands a single neighbour is noise.
    """
    return int(max(1, round(references**0.5 / k_divisor)))


def nearest_means(metric: Metric, count: int, k: int, scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean distance of ``count`` queries to their k nearest references, (count,).

    ``scales[r]`` divides every distance to reference ``r``, so a reference in a sparse region is as close to its
    surroundings as one in a dense region. With fewer than k references all of them count.
    """
    k = min(k, len(scales))
    means = np.empty(count)
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        means[first:last] = smallest_mean(metric(first, last) / scales, k)
    return means


def left_out_means(
    compare: Callable[[R, R], NDArray[np.float64]], rows: R, k: int, local_scaling: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same mean for every reference against the others (eq:loo_score), and the local scales that divide them.

    A scale is the distance around its reference to the power ``local_scaling``, less of it the fewer references there
    are: the distance to one neighbour among eight is a poor estimate of a region. A single reference has no others: 0.
    ``compare`` is symmetric, so each pair of references is compared once.
    """
    count = len(rows)
    scales = np.ones(count)
    if count < 2:
        return np.zeros(count), scales
    k = min(k, count - 1)
    parts = [slice(first, min(first + TILE, count)) for first in range(0, count, TILE)]
    tiles = [rows[part] for part in parts]
    kept: dict[tuple[int, int], NDArray[np.float64]] = {}

    def means() -> NDArray[np.float64]:
        best = np.full((count, k), np.inf)
        for i, j in combinations_with_replacement(range(len(parts)), 2):
            block = kept[i, j] if (i, j) in kept else compare(tiles[i], tiles[j])
            if count <= KEPT:
                kept[i, j] = block
            others = block / scales[parts[j]]
            if i == j:
                np.fill_diagonal(others, np.inf)
            else:
                _insert_smallest(best[parts[j]], np.ascontiguousarray((block / scales[parts[i], None]).T))
            _insert_smallest(best[parts[i]], others)
        return np.asarray(best.mean(axis=1))

    plain = means()
    if local_scaling == 0:
        return plain, scales
    scales = local_scales(plain, shrunk_scaling(local_scaling, count))
    return means(), scales


def shrunk_scaling(local_scaling: float, references: int) -> float:
    """The local scaling asked for, less of it the fewer references there are."""
    return local_scaling * references / (references + HALF_SCALING)


def smallest_mean(block: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Mean of the k smallest entries of every row, or of all where there are fewer."""
    best = np.full((len(block), min(k, block.shape[1])), np.inf)
    _insert_smallest(best, block)
    return np.asarray(best.mean(axis=1))


@kernel
def _insert_smallest(best: NDArray[np.float64], block: NDArray[np.float64]) -> None:
    """Keep the smallest entries of every row, seen so far or in the block, in ascending order."""
    last = best.shape[1] - 1
    for row in range(len(block)):
        for value in block[row]:
            if value < best[row, last]:
                place = last
                while place > 0 and best[row, place - 1] > value:
                    best[row, place] = best[row, place - 1]
                    place -= 1
                best[row, place] = value


def local_scales(left_out: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """The distance between references around each reference, relative to the median, to the given power.

    Power 0 gives plain distances, 1 full local scaling, which overrates queries near tight clusters; 0.5 is the
    default compromise. References with exact twins keep a tenth of the median as their scale.
    """
    middle = float(np.median(left_out)) if len(left_out) else 0.0
    if power == 0 or middle <= 0:
        return np.ones(len(left_out))
    return np.maximum(left_out / middle, 0.1) ** power
