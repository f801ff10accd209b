"""Which patterns of a query its nearest references lack, and how surprising that is among all references."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.patterns.counts import Counts
from graphglass.channels.unmatched import ROUNDING, Nearest
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.ragged import offsets, ranges

SAMPLED = 20_000  # references that frequencies are counted among; of more, evenly spaced ones
OFTEN = 24  # classes of how often a graph holds a pattern, half-octaves
_RARITY: WeakKeyDictionary[Counts, tuple[Counts, NDArray[np.float64]]] = WeakKeyDictionary()


def unmatched_keys(
    counts: Counts, keys: NDArray[np.int64], near: Nearest, shared: Counts | None = None
) -> tuple[NDArray[np.float64], float]:
    """The weight of every occurrence of a key in one graph, (occurrences,), and the weight of what is missing.

    What each nearest reference has less often is in excess, averaged by their weights. The surprise of that is
    -log p, where p is the share of the references' own patterns that are as rare and as often repeated. What all
    nearest references have and the graph lacks weighs by how few references lack it.

    Parameters
    ----------
    counts : Counts
        Of all references.
    keys : int64 (occurrences,)
    near : Nearest
    shared : Counts, optional
        Of one other graph: keys that it lacks weigh nothing.
    """
    kinds, inverse, own = np.unique(keys, return_inverse=True, return_counts=True)
    found, table = held(counts, near.places)
    excess = near.weights @ np.maximum(own - at(found, table, kinds), 0) / own
    sample, rare = _rarity(counts)
    excess[excess < ROUNDING] = 0
    weights = -excess * np.log(rare[_often(own), holders(sample, kinds, own)])
    if shared is not None:
        weights[~np.isin(kinds, shared.keys)] = 0
    lacking = np.maximum(table.min(axis=0) - at(kinds, own, found), 0)
    lost = np.flatnonzero(lacking)
    share = holders(sample, found[lost], np.ones(len(lost))) / (len(sample) + 1)
    return weights[inverse], float(-(lacking[lost] * np.log1p(-share)).sum())


def over_radius(graph: GraphSet, weights: NDArray[np.float64], radius: int) -> NDArray[np.float64]:
    """Weights of patterns around the nodes of one graph, spread over what patterns of this radius cover.

    Once per step, each node keeps half and passes half to its neighbours, by the symmetrically normalised adjacency: a
    node that many strange neighbourhoods share gets the more. The sum stays.
    """
    degrees = np.diff(graph.neighbour_offsets)
    shares = 1 / np.sqrt(np.maximum(degrees, 1))
    spread = weights
    for _ in range(radius):
        passed = shares * np.bincount(graph.global_neighbours, (spread * shares)[graph.end_nodes], len(weights))
        spread = (spread + np.where(degrees > 0, passed, spread)) / 2
    return np.asarray(spread * (weights.sum() / max(spread.sum(), 1e-300)))


def held(counts: Counts, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The patterns that some graphs hold, ascending, and how often each graph does, (graphs, patterns)."""
    sizes = counts.offsets[places + 1] - counts.offsets[places]
    entries = ranges(counts.offsets[places], sizes)
    found, place = np.unique(counts.keys[entries], return_inverse=True)
    table = np.zeros((len(places), len(found)))
    table[np.repeat(np.arange(len(places)), sizes), place] = counts.values[entries]
    return found, table


def at(known: NDArray[np.int64], values: NDArray[Any], keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values by key, along the last axis, 0 for keys that are not known; known keys ascend."""
    if not len(known):
        return np.zeros((*values.shape[:-1], len(keys)))
    place = np.searchsorted(known, keys).clip(max=len(known) - 1)
    return np.where(known[place] == keys, values[..., place], 0.0)


def holders(counts: Counts, keys: NDArray[np.int64], least: NDArray[Any]) -> NDArray[np.int64]:
    """How many graphs hold each key at least so often."""
    postings = counts.postings
    place = np.searchsorted(postings.keys, keys).clip(max=max(len(postings.keys) - 1, 0))
    known = postings.keys[place] == keys if len(postings.keys) else np.zeros(len(keys), dtype=bool)
    first = postings.offsets[place]
    size = np.where(known, postings.offsets[place + known] - first, 0)
    owner = np.repeat(np.arange(len(keys)), size)
    enough = postings.values[ranges(first, size)] >= least[owner]
    return np.bincount(owner[enough], minlength=len(keys))


def _often(values: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(np.minimum(2 * np.log2(values), OFTEN - 1), np.int64)


def _rarity(counts: Counts) -> tuple[Counts, NDArray[np.float64]]:
    """The graphs that frequencies are counted among; the share of patterns at least so often and held by so few.

    (classes of how often, number of other graphs with as many): the share of the occurrences of all patterns.
    """
    if counts not in _RARITY:
        sample = counts
        if len(counts) > SAMPLED:
            chosen = np.linspace(0, len(counts) - 1, SAMPLED).astype(np.int64)
            sizes = counts.offsets[chosen + 1] - counts.offsets[chosen]
            entries = ranges(counts.offsets[chosen], sizes)
            sample = Counts(offsets(sizes), counts.keys[entries], counts.values[entries])
        postings = sample.postings
        key = np.repeat(np.arange(len(postings.keys)), np.diff(postings.offsets))
        order = np.lexsort((-postings.values, key))
        key, values = key[order], postings.values[order]
        step = np.append(np.flatnonzero((np.diff(key) != 0) | (np.diff(values) != 0)), len(key) - 1)
        last = np.repeat(step, np.diff(step, prepend=-1))  # of those with as many, the place of the last
        others = last - postings.offsets[key]
        table = np.zeros((OFTEN, len(sample) + 1))
        np.add.at(table, (_often(values), others), values)
        below = np.cumsum(np.cumsum(table[::-1], axis=0)[::-1], axis=1)
        _RARITY[counts] = sample, (1 + below) / (1 + below[0, -1])
    return _RARITY[counts]
