"""Which patterns of a query its nearest references lack, and how surprising that is among all references."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.patterns.counts import Counts
from graphglass.graphs.ragged import offsets, ranges

SAMPLED = 20_000  # references that frequencies are counted among; of more, evenly spaced ones
_RARITY: WeakKeyDictionary[Counts, tuple[Counts, NDArray[np.float64]]] = WeakKeyDictionary()


def unmatched_keys(
    counts: Counts, keys: NDArray[np.int64], places: NDArray[np.int64], shared: Counts | None = None
) -> tuple[NDArray[np.float64], float]:
    """The weight of every occurrence of a key in one graph, (occurrences,), and the weight of what is missing.

    A key is matched as often as the nearest reference that has most of it; the rest is in excess. The surprise of
    that is -log p, where p is the share of the references' own patterns that as few other references have. What all
    nearest references have and the graph lacks weighs by how few references lack it.

    Parameters
    ----------
    counts : Counts
        Of all references.
    keys : int64 (occurrences,)
    places : int64 (near,)
        The nearest references.
    shared : Counts, optional
        Of one other graph: keys that it lacks weigh nothing.
    """
    kinds, inverse, own = np.unique(keys, return_inverse=True, return_counts=True)
    found, table = _held(counts, places)
    most = _at(found, table.max(axis=0), kinds)
    sample, rare = _rarity(counts)
    having = holders(sample, kinds, np.where(most > 0, own, 1))
    surprise = -np.log(rare[np.minimum(having, len(rare) - 1)])
    weights = np.maximum(own - most, 0) / own * surprise
    if shared is not None:
        weights[~np.isin(kinds, shared.keys)] = 0
    lacking = np.maximum(table.min(axis=0) - _at(kinds, own, found), 0)
    lost = np.flatnonzero(lacking)
    share = holders(sample, found[lost], np.ones(len(lost))) / (len(sample) + 1)
    return weights[inverse], float(-(lacking[lost] * np.log1p(-share)).sum())


def _held(counts: Counts, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The patterns that some graphs hold, ascending, and how often each graph does, (graphs, patterns)."""
    sizes = counts.offsets[places + 1] - counts.offsets[places]
    entries = ranges(counts.offsets[places], sizes)
    found, place = np.unique(counts.keys[entries], return_inverse=True)
    table = np.zeros((len(places), len(found)))
    table[np.repeat(np.arange(len(places)), sizes), place] = counts.values[entries]
    return found, table


def _at(known: NDArray[np.int64], values: NDArray[Any], keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values by key, 0 for keys that are not known; known keys ascend."""
    if not len(known):
        return np.zeros(len(keys))
    place = np.searchsorted(known, keys).clip(max=len(known) - 1)
    return np.where(known[place] == keys, values[place], 0.0)


def holders(counts: Counts, keys: NDArray[np.int64], least: NDArray[Any]) -> NDArray[np.int64]:
    """How many graphs hold each key at least so often."""
    postings = counts.postings
    first, size = (
        _at(postings.keys, part, keys).astype(np.int64) for part in (postings.offsets[:-1], np.diff(postings.offsets))
    )
    owner = np.repeat(np.arange(len(keys)), size)
    enough = postings.values[ranges(first, size)] >= least[owner]
    return np.bincount(owner[enough], minlength=len(keys))


def _rarity(counts: Counts) -> tuple[Counts, NDArray[np.float64]]:
    """The graphs that frequencies are counted among; for h = 0, 1, ... the share of patterns h others hold at most."""
    if counts not in _RARITY:
        sample = counts
        if len(counts) > SAMPLED:
            chosen = np.linspace(0, len(counts) - 1, SAMPLED).astype(np.int64)
            sizes = counts.offsets[chosen + 1] - counts.offsets[chosen]
            entries = ranges(counts.offsets[chosen], sizes)
            sample = Counts(offsets(sizes), counts.keys[entries], counts.values[entries])
        postings = sample.postings
        others = np.diff(postings.offsets) - 1
        occurrences = np.bincount(np.repeat(np.arange(len(others)), others + 1), postings.values, len(others))
        below = np.cumsum(np.bincount(others, occurrences)) if len(others) else np.zeros(1)
        _RARITY[counts] = sample, (1 + below) / (1 + below[-1])
    return _RARITY[counts]
