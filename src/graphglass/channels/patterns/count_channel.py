"""Channels that compare graphs by weighted Jaccard similarity of counted patterns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel, State
from graphglass.channels.patterns.counts import Counts, add_distances, count_keys, nearest_distances, overlap_each
from graphglass.channels.patterns.unmatched_patterns import at, held, holders, over_radius, unmatched_keys
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.unmatched import Nearest, Unmatched
from graphglass.graphs.chemistry import NO_ENVIRONMENT
from graphglass.graphs.ragged import offsets

_PARTS = ("offsets", "keys", "values")

Sightings = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class PatternRows:
    """Pattern counts of some graphs, at one or more levels."""

    levels: tuple[Counts, ...]

    def __len__(self) -> int:
        return len(self.levels[0])

    def __getitem__(self, key: slice) -> PatternRows:
        return PatternRows(tuple(level[key] for level in self.levels))


class CountChannel(Channel[PatternRows]):
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

    def distances(
        self, rows: PatternRows, also: Callable[[int, NDArray[np.float64]], None] | None = None
    ) -> NDArray[np.float64]:
        if also is not None:
            return super().distances(rows, also)
        postings = [level.postings for level in self.references.levels]
        best = nearest_distances(rows.levels, postings, self.reference_scales, self.k)
        return np.asarray(best.mean(axis=1))

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
        levels, count = self.references.levels, query.graphs.node_count
        nodes, missing = np.zeros(count), 0.0
        for owner, keys, level in self.occurrences(query):
            shared = None if known is None else known.levels[level]
            weights, lacking = unmatched_keys(levels[level], keys, near, shared)
            nodes += over_radius(query.graphs, np.bincount(owner, weights, count).astype(np.float64), level)
            missing += lacking
        return replace(Unmatched.whole(query.graphs), nodes=nodes, missing=missing if known is None else 0.0)

    def sightings(self, query: ProfiledGraphs, near: Nearest) -> Iterator[Sightings]:
        """For every level of the nodes' patterns: how often the graph and each nearest reference have them, (nodes,)
        and (near, nodes), and how many references do, (nodes,)."""
        for _, keys, level in self.occurrences(query):
            kinds, inverse, own = np.unique(keys, return_inverse=True, return_counts=True)
            counts = self.references.levels[level]
            often, holding = at(*held(counts, near.places), kinds), holders(counts, kinds, np.ones(len(kinds)))
            yield own[inverse], often[:, inverse].astype(np.int64), holding[inverse]

    @abstractmethod
    def occurrences(self, query: ProfiledGraphs) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], int]]:
        """Nodes of one graph, the patterns around them, and the level of these."""

    def state(self) -> State:
        levels = enumerate(self.references.levels)
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
