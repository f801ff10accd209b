"""Bags of hashed patterns per graph, and how much two bags overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.nearest_references import BLOCK
from graphglass.graphs.ragged import offsets as offsets_of
from graphglass.kernel import kernel
from graphglass.structure.kernels.dense_eigenvalues import sort_values

ROUNDING = 1e-5  # of a distance in single precision, with room to spare
FREQUENT = 8  # patterns that one graph in so many has are stored as a row
SLOTS = 4096  # of a table with the keys of one graph; both its columns stay in the processor's first caches


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each pattern occurs in each graph.

    Attributes
    ----------
    offsets : int64 (graphs + 1,)
    keys : int64 (entries,)
        Pattern hashes, ascending within a graph.
    values : float32 (entries,)
    totals : float64 (graphs,)
    """

    offsets: NDArray[np.int64]
    keys: NDArray[np.int64]
    values: NDArray[np.float32]

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        sums = np.concatenate([[0.0], np.cumsum(self.values, dtype=np.float64)])
        return np.asarray(sums[self.offsets[1:]] - sums[self.offsets[:-1]])

    @cached_property
    def postings(self) -> Postings:
        """The same counts by pattern."""
        owner = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))
        order = np.argsort(self.keys, kind="stable")
        keys, sizes = np.unique(self.keys, return_counts=True)
        offsets = offsets_of(sizes)
        graphs, values = owner[order], self.values[order]
        frequent = np.flatnonzero(sizes * FREQUENT > len(self))
        row_of = np.full(len(keys), -1)
        row_of[frequent] = np.arange(len(frequent))
        bits = max(len(keys).bit_length(), 1)
        limits = (np.arange(2**bits) - 2 ** (bits - 1)) << (64 - bits)
        starts = np.append(np.searchsorted(keys, limits), len(keys))
        rows = np.zeros((len(frequent), len(self)), np.float32)
        for row, pattern in enumerate(frequent):
            part = slice(offsets[pattern], offsets[pattern + 1])
            rows[row, graphs[part]] = values[part]
        return Postings(keys, starts, 64 - bits, offsets, graphs, values, self.totals, row_of, rows)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, key: slice) -> Counts:
        """Some consecutive graphs."""
        first, last, _ = key.indices(len(self))
        begin, end = self.offsets[first], self.offsets[last]
        return Counts(self.offsets[first : last + 1] - begin, self.keys[begin:end], self.values[begin:end])


@dataclass(frozen=True, eq=False)
class Postings:
    """For each pattern, the graphs that hold it."""

    keys: NDArray[np.int64]  # (patterns,) ascending
    starts: NDArray[np.int64]  # (2^bits + 1,) the first pattern with each of the possible leading bits
    shift: int  # 64 - bits
    offsets: NDArray[np.int64]  # (patterns + 1,)
    graphs: NDArray[np.int32]
    values: NDArray[np.float32]
    totals: NDArray[np.float64]  # (graphs,)
    row_of: NDArray[np.int64]  # (patterns,) the row below of a frequent pattern, else -1
    rows: NDArray[np.float32]  # (frequent patterns, graphs) counts, zeros included


def join_counts(parts: Sequence[Counts]) -> Counts:
    """The counts of several sets of graphs, one after another."""
    if len(parts) == 1:
        return parts[0]
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    keys, values = (np.concatenate([getattr(part, name) for part in parts]) for name in ("keys", "values"))
    return Counts(offsets_of(sizes), keys, values)


def count_keys(node_offsets: NDArray[np.int64], keys: NDArray[np.int64]) -> Counts:
    """Count equal keys within every graph."""
    ordered, values = keys.copy(), np.empty(len(keys), np.float32)
    node_offsets = node_offsets.view()
    node_offsets.flags.writeable = False  # always: another type of array would be compiled by itself
    sizes = _count_keys(node_offsets, ordered, values)
    offsets = offsets_of(sizes)
    return Counts(offsets, ordered[: offsets[-1]], values[: offsets[-1]])


@kernel
def _count_keys(offsets: NDArray[np.int64], keys: NDArray[np.int64], values: NDArray[np.float32]) -> NDArray[np.int64]:
    """Replace the keys of every graph by the distinct ones, all graphs in a row; how many each graph has."""
    sizes, at = np.zeros(len(offsets) - 1, np.int64), 0
    for graph in range(len(sizes)):
        sort_values(keys[offsets[graph] : offsets[graph + 1]])
        start = at
        for i in range(offsets[graph], offsets[graph + 1]):
            if at > start and keys[at - 1] == keys[i]:
                values[at - 1] += np.float32(1)
            else:
                keys[at], values[at] = keys[i], np.float32(1)
                at += 1
        sizes[graph] = at - start
    return sizes


def add_distances(queries: Counts, references: Postings, share: float, out: NDArray[np.float64]) -> None:
    """Add ``share`` of the distance 1 - J of query bags to reference bags to ``out``, (queries, references).

    J = sum min(a, b) / sum max(a, b) is the weighted Jaccard similarity: 1 for equal bags, 0 for bags without a common
    pattern. The sizes of the bags count, so a graph is not close to a multiple of itself.
    """
    common = np.empty((1, *out.shape), np.float32)
    _share(queries, references, 0, len(queries), common[0])
    _add_distances(common, queries.totals[None], references.totals[None], np.float32(share), out)


def nearest_distances(
    queries: Sequence[Counts], references: Sequence[Postings], scales: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    """Distances to the k nearest references in units of their scales, ascending, (queries, k).

    The distance is the mean of 1 - J over the levels, with the bits of :func:`add_distances`. It is computed for those
    references alone that a bound in single precision does not rule out.
    """
    count = len(queries[0])
    best = np.full((count, min(k, len(scales))), np.inf)
    theirs = np.stack([level.totals for level in references])
    share, factors = np.float32(1 / len(queries)), (1 / scales).astype(np.float32)
    common = np.empty((len(queries), min(BLOCK, count), len(scales)), np.float32)
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        for level, some, others in zip(common, queries, references, strict=True):
            _share(some, others, first, last, level)
        totals = np.stack([level.totals[first:last] for level in queries])
        _keep_nearest(common, totals, theirs, share, scales, factors, best[first:last])
    return best


def _share(queries: Counts, references: Postings, first: int, last: int, common: NDArray[np.float32]) -> None:
    """Write what the bags of some queries have in common with every reference, sum min(a, b), (queries, references)."""
    _count_common(
        queries.offsets[first : last + 1], queries.keys, queries.values, references.keys, references.starts,
        references.shift, references.offsets, references.graphs, references.values, references.row_of, references.rows,
        common,
    )  # fmt: skip


@kernel
def _count_common(
    offsets: NDArray[np.int64],
    keys: NDArray[np.int64],
    values: NDArray[np.float32],
    patterns: NDArray[np.int64],
    starts: NDArray[np.int64],
    shift: int,
    posting_offsets: NDArray[np.int64],
    posting_graphs: NDArray[np.int32],
    posting_values: NDArray[np.float32],
    row_of: NDArray[np.int64],
    rows: NDArray[np.float32],
    common: NDArray[np.float32],
) -> None:
    half = (len(starts) - 1) // 2
    for query in range(len(offsets) - 1):
        for graph in range(common.shape[1]):
            common[query, graph] = 0
        for entry in range(offsets[query], offsets[query + 1]):
            key, count = keys[entry], values[entry]
            # Hashes are spread evenly: their leading bits leave a pattern or two to look at.
            place = (key >> shift) + half
            pattern, last = starts[place], starts[place + 1]
            while pattern < last and patterns[pattern] < key:
                middle = (pattern + last) // 2
                if patterns[middle] < key:
                    pattern = middle + 1
                else:
                    last = middle
            if pattern == len(patterns) or patterns[pattern] != key:
                continue
            row = row_of[pattern]
            if row >= 0:  # most references have it: straight through memory, zeros included
                for graph in range(common.shape[1]):
                    common[query, graph] += min(count, rows[row, graph])
                continue
            for position in range(posting_offsets[pattern], posting_offsets[pattern + 1]):
                common[query, posting_graphs[position]] += min(count, posting_values[position])


@kernel
def _distance(common: np.float32, total: float, other: float, share: np.float32) -> np.float32:
    """The share of 1 - J of two bags, from what they have in common and their sizes."""
    either = max(total + other - float(common), 1e-12)
    return (np.float32(1) - np.float32(float(common) / either)) * share


@kernel
def _add_distances(
    common: NDArray[np.float32],
    totals: NDArray[np.float64],
    others: NDArray[np.float64],
    share: np.float32,
    out: NDArray[np.float64],
) -> None:
    for level in range(len(common)):
        for query in range(len(out)):
            for graph in range(out.shape[1]):
                out[query, graph] += _distance(
                    common[level, query, graph], totals[level, query], others[level, graph], share
                )


@kernel
def _keep_nearest(
    common: NDArray[np.float32],
    totals: NDArray[np.float64],
    others: NDArray[np.float64],
    share: np.float32,
    scales: NDArray[np.float64],
    factors: NDArray[np.float32],
    best: NDArray[np.float64],
) -> None:
    last, least = best.shape[1] - 1, np.empty(len(scales), np.float32)
    sizes = others.astype(np.float32)
    for query in range(len(best)):
        least[:] = np.float32(1 - ROUNDING)
        for level in range(len(common)):
            own = np.float32(totals[level, query])
            for graph in range(len(scales)):
                both = common[level, query, graph]
                least[graph] -= share * both / max(own + sizes[level, graph] - both, np.float32(1e-12))
        limit = np.inf
        for graph in range(len(scales)):
            if least[graph] * factors[graph] >= limit:
                continue
            distance = 0.0
            for level in range(len(common)):
                distance += float(
                    _distance(common[level, query, graph], totals[level, query], others[level, graph], share)
                )
            distance /= scales[graph]
            if distance < best[query, last]:
                place = last
                while place > 0 and best[query, place - 1] > distance:
                    best[query, place] = best[query, place - 1]
                    place -= 1
                best[query, place] = distance
                limit = best[query, last] * (1 + ROUNDING)


def overlap_each(queries: Counts, references: Counts, places: NDArray[np.int64]) -> NDArray[np.float32]:
    """Weighted Jaccard similarity of every query to the references at its own places, (queries, places per query)."""
    common = _common_each(
        queries.offsets, queries.keys, queries.values, references.offsets, references.keys, references.values, places
    )
    either = queries.totals[:, None] + references.totals[places] - common
    return (common / np.maximum(either, 1e-12)).astype(np.float32)


@kernel
def _common_each(
    offsets: NDArray[np.int64],
    keys: NDArray[np.int64],
    values: NDArray[np.float32],
    reference_offsets: NDArray[np.int64],
    reference_keys: NDArray[np.int64],
    reference_values: NDArray[np.float32],
    places: NDArray[np.int64],
) -> NDArray[np.float32]:
    out = np.zeros(places.shape, np.float32)
    held, often = np.zeros(SLOTS, np.int64), np.zeros(SLOTS, np.float32)
    for row in range(len(places)):
        first, last = offsets[row], offsets[row + 1]
        shift, mask = _lay_out(keys, values, first, last, held, often)
        for column in range(places.shape[1]):
            total, mine = np.float32(0), first
            for theirs in range(reference_offsets[places[row, column]], reference_offsets[places[row, column] + 1]):
                key, count = reference_keys[theirs], reference_values[theirs]
                if mask > 0:  # one look, and no branch that a processor could guess wrong
                    slot = (key >> shift) & mask
                    least = min(often[slot], count)
                    total += least if held[slot] == key else np.float32(0)
                    continue
                while mine < last and keys[mine] < key:
                    mine += 1
                if mine < last and keys[mine] == key:
                    total += min(values[mine], count)
            out[row, column] = total
    return out


@kernel
def _lay_out(
    keys: NDArray[np.int64],
    values: NDArray[np.float32],
    first: int,
    last: int,
    held: NDArray[np.int64],
    often: NDArray[np.float32],
) -> tuple[int, int]:
    """Give every key of a graph a slot of its own: the bits of a key, which is a hash, that say which one.

    Returns their shift and mask; the mask is 0 where there are too many keys for the slots.
    """
    size = 64
    while size < 16 * (last - first):
        size *= 2
    while size <= SLOTS:
        for shift in range(0, 48, 4):
            held[:size] = 0
            often[:size] = 0
            alone = True
            for mine in range(first, last):
                slot = (keys[mine] >> shift) & (size - 1)
                if often[slot] > 0:
                    alone = False
                    break
                held[slot], often[slot] = keys[mine], values[mine]
            if alone:
                return shift, size - 1
        size *= 2
    return 0, 0
