"""Channels that compare graphs by weighted Jaccard similarity of counted patterns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel, State
from graphglass.channels.patterns.counts import Counts, add_distances, count_keys, overlap_each
from graphglass.channels.patterns.unmatched_patterns import holders, unmatched_keys
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.unmatched import Nearest, Unmatched
from graphglass.graphs.chemistry import NO_ENVIRONMENT
from graphglass.graphs.ragged import offsets

_PARTS = ("offsets", "keys", "values")


@dataclass(frozen=True)
class PatternRows:
    """Pattern counts of some graphs, at one or more levels."""

    levels: tuple[Counts, ...]

    def __len__(self) -> int:
        return len(self.levels[0])

    def __getitem__(self, key: slice) -> PatternRows:
        return PatternRows(tuple(level[key] for level in self.levels))


class CountChannel(Channel):
    """Distance 1 - J, where J is the weighted Jaccard similarity of pattern counts, averaged over the levels.

    Parameters
    ----------
    name : str
    local_scaling : float
        See :class:`~graphglass.channels.channel.Channel`.
    """

    def __init__(self, name: str, local_scaling: float = 0.5) -> None:
        super().__init__(name, k_divisor=10.0, local_scaling=local_scaling)

    @property
    def bounded(self) -> bool:
        return True

    def compare(self, rows: PatternRows, others: PatternRows) -> NDArray[np.float64]:
        out = np.zeros((len(rows), len(others)))
        for query, other in zip(rows.levels, others.levels, strict=True):
            add_distances(query, other.postings, 1 / len(rows.levels), out)
        return out

    def compare_each(self, rows: PatternRows, others: PatternRows, places: NDArray[np.int64]) -> NDArray[np.float64]:
        out = np.zeros(places.shape)
        for query, other in zip(rows.levels, others.levels, strict=True):
            out += (1 - overlap_each(query, other, places)) / len(rows.levels)
        return out

    def similarity(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.clip(1 - distances, 0, 1)

    def unmatched(self, query: ProfiledGraphs, near: Nearest) -> Unmatched:
        return self.unshared(query, near, None)

    def unshared(self, query: ProfiledGraphs, near: Nearest, known: PatternRows | None) -> Unmatched:
        """As :meth:`unmatched`; with the rows of one other graph, what that graph and the query share alone."""
        levels, count = cast(PatternRows, self.references).levels, query.graphs.node_count
        nodes, missing, first = np.zeros(count), 0.0, np.full(count, len(levels))
        for owner, keys, level in self.occurrences(query):
            shared = None if known is None else known.levels[level]
            weights, lacking = unmatched_keys(levels[level], keys, near.places, shared)
            nodes += np.bincount(owner, weights, count)
            missing += lacking
            lost = owner[weights > 0]
            first[lost] = np.minimum(first[lost], level)
        return replace(
            Unmatched.whole(query.graphs), nodes=nodes, missing=missing if known is None else 0.0, levels=first
        )

    def holders(self, query: ProfiledGraphs, node: int, level: int) -> int:
        """How many references have the pattern of a node at a level."""
        counts = cast(PatternRows, self.references).levels[level]
        for owner, keys, at in self.occurrences(query):
            if at == level and len(found := keys[owner == node]):
                return int(holders(counts, found[:1], np.ones(1))[0])
        return 0

    @abstractmethod
    def occurrences(self, query: ProfiledGraphs) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], int]]:
        """Nodes of one graph, the patterns around them, and the level of these."""

    def state(self) -> State:
        levels = enumerate(cast(PatternRows, self.references).levels)
        return {f"{part}_{radius}": getattr(level, part) for radius, level in levels for part in _PARTS}

    def restore(self, state: State) -> None:
        count = sum(name.startswith("keys_") for name in state)
        levels = (Counts(*(state[f"{part}_{radius}"] for part in _PARTS)) for radius in range(count))
        self.references = PatternRows(tuple(levels))


class EnvironmentChannel(CountChannel):
    """Distance 1 - T, where T is the Tanimoto similarity of count fingerprints of radius 2.

    Tanimoto similarity of counts is their weighted Jaccard similarity. No data for graphs that were not read as
    molecules.
    """

    def learn(self, references: ProfiledGraphs) -> PatternRows | None:
        return None if references.graphs.atom_environments is None else self.encode(references)

    def encode(self, graphs: ProfiledGraphs) -> PatternRows:
        rows = graphs.graphs.atom_environments
        assert rows is not None  # queries without them are refused
        given = rows != NO_ENVIRONMENT
        ends = offsets(given.sum(axis=1))  # per atom
        return PatternRows((count_keys(ends[graphs.graphs.node_offsets], rows[given]),))

    def occurrences(self, query: ProfiledGraphs) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], int]]:
        rows = query.graphs.atom_environments
        assert rows is not None
        atoms, radii = np.nonzero(rows != NO_ENVIRONMENT)
        yield atoms, rows[atoms, radii], 0
