"""Bags of hashed patterns per graph, and how much two bags overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.ragged import offsets as offsets_of
from graphglass.kernel import kernel

FREQUENT = 8  # patterns that one graph in so many has are stored as a row


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
        rows = np.zeros((len(frequent), len(self)), np.float32)
        for row, pattern in enumerate(frequent):
            part = slice(offsets[pattern], offsets[pattern + 1])
            rows[row, graphs[part]] = values[part]
        return Postings(keys, offsets, graphs, values, self.totals, row_of, rows)

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
    graphs = len(node_offsets) - 1
    owner = np.repeat(np.arange(graphs), np.diff(node_offsets))
    order = np.lexsort((keys, owner))
    sorted_keys, sorted_owner = keys[order], owner[order]
    first = np.ones(len(keys), bool)
    first[1:] = (sorted_keys[1:] != sorted_keys[:-1]) | (sorted_owner[1:] != sorted_owner[:-1])
    starts = np.flatnonzero(first)
    values = np.diff(np.append(starts, len(keys))).astype(np.float32)
    offsets = offsets_of(np.bincount(sorted_owner[starts], minlength=graphs))
    return Counts(offsets, sorted_keys[starts], values)


def add_distances(queries: Counts, references: Postings, share: float, out: NDArray[np.float64]) -> None:
    """Add ``share`` of the distance 1 - J of query bags to reference bags to ``out``, (queries, references).

    J = sum min(a, b) / sum max(a, b) is the weighted Jaccard similarity: 1 for equal bags, 0 for bags without a common
    pattern. The sizes of the bags count, so a graph is not close to a multiple of itself.
    """
    found = np.searchsorted(references.keys, queries.keys)
    known = found < len(references.keys)
    known[known] = references.keys[found[known]] == queries.keys[known]
    _add_distances(
        queries.offsets, np.where(known, found, -1), queries.values, queries.totals,
        references.offsets, references.graphs, references.values, references.totals,
        references.row_of, references.rows, np.float32(share), out,
    )  # fmt: skip


@kernel
def _add_distances(
    offsets: NDArray[np.int64],
    patterns: NDArray[np.int64],
    values: NDArray[np.float32],
    totals: NDArray[np.float64],
    posting_offsets: NDArray[np.int64],
    posting_graphs: NDArray[np.int32],
    posting_values: NDArray[np.float32],
    reference_totals: NDArray[np.float64],
    row_of: NDArray[np.int64],
    rows: NDArray[np.float32],
    share: np.float32,
    out: NDArray[np.float64],
) -> None:
    common = np.empty(len(reference_totals), np.float32)
    for query in range(len(offsets) - 1):
        common[:] = 0
        for entry in range(offsets[query], offsets[query + 1]):
            pattern, count = patterns[entry], values[entry]
            if pattern < 0:
                continue
            if row_of[pattern] >= 0:  # most references have it: straight through memory, zeros included
                row = rows[row_of[pattern]]
                for graph in range(len(common)):
                    common[graph] += min(count, row[graph])
                continue
            for position in range(posting_offsets[pattern], posting_offsets[pattern + 1]):
                common[posting_graphs[position]] += min(count, posting_values[position])
        for graph in range(len(common)):
            either = max(totals[query] + reference_totals[graph] - common[graph], 1e-12)
            out[query, graph] += (np.float32(1) - np.float32(common[graph] / either)) * share


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
    for row in range(len(places)):
        first, last = offsets[row], offsets[row + 1]
        size = 8
        while size < 4 * (last - first):
            size *= 2
        slots = np.zeros(size, np.int64)  # a hash table of the query's entries, counted from 1; keys are hashes already
        for mine in range(first, last):
            slot = keys[mine] & (size - 1)
            while slots[slot] > 0:
                slot = (slot + 1) & (size - 1)
            slots[slot] = mine - first + 1
        for column in range(places.shape[1]):
            total = np.float32(0)
            for theirs in range(reference_offsets[places[row, column]], reference_offsets[places[row, column] + 1]):
                slot = reference_keys[theirs] & (size - 1)
                while slots[slot] > 0:
                    mine = first + slots[slot] - 1
                    if keys[mine] == reference_keys[theirs]:
                        total += min(values[mine], reference_values[theirs])
                        break
                    slot = (slot + 1) & (size - 1)
            out[row, column] = total
    return out
