"""Channels that compare graphs by weighted Jaccard similarity of counted patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel, State
from graphglass.channels.patterns.counts import Counts, add_distances, overlap_each

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
    locality : float
        See :class:`~graphglass.channels.channel.Channel`.
    """

    def __init__(self, name: str, locality: float = 0.5) -> None:
        super().__init__(name, spread=10.0, locality=locality)

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

    def state(self) -> State:
        levels = enumerate(cast(PatternRows, self.references).levels)
        return {f"{part}_{radius}": getattr(level, part) for radius, level in levels for part in _PARTS}

    def restore(self, state: State) -> None:
        count = sum(name.startswith("keys_") for name in state)
        levels = (Counts(*(state[f"{part}_{radius}"] for part in _PARTS)) for radius in range(count))
        self.references = PatternRows(tuple(levels))
