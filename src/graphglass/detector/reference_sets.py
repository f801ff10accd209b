"""Sets of normal graphs before they become references: read, named, joined."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.patterns.wl import graph_hashes
from graphglass.channels.profiled_graphs import GraphsLike, ProfiledGraphs
from graphglass.errors import GraphError, InputError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_schema import counted_names, with_edge_attributes
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_graphs
from graphglass.graphs.reading import ReadingOptions
from graphglass.structure.profile import profile

LEAST_REFERENCES = 2  # each is scored against the others, which calibrates the scores
_DEEP = 16  # rounds of refinement, enough to see across most molecules
_SAME_SPECTRUM = 1e-5  # more than rounding changes in the spectrum of a graph whose nodes are reordered
_SHAPES: WeakKeyDictionary[GraphSet, NDArray[np.uint64]] = WeakKeyDictionary()  # sets are frozen


def graph_set(graphs: GraphsLike, reading: ReadingOptions | None = None, *, strict: bool = True) -> GraphSet:
    """The graphs as a set, read as others were.

    Of objects in memory none may be left out where strict: an array of scores matches them by place.
    """
    if isinstance(graphs, GraphSet):
        return graphs
    return read_graphs(graphs, strict=strict and not isinstance(graphs, str | PathLike), reading=reading)


def refuse_too_few(normals: int) -> None:
    """Refuse to fit on fewer normal graphs than scores can be calibrated with."""
    if normals < LEAST_REFERENCES:
        raise InputError(f"A fit needs at least {LEAST_REFERENCES} normal graphs, found {normals}. Add normal graphs.")


def warn_of_other_types(queries: GraphSet, references: GraphSet) -> None:
    """Warn of labels that are text here and numbers there: spelled alike, they still differ."""
    for kind, mine in queries.distinct_labels.items():
        theirs = references.distinct_labels.get(kind, mine)
        new = np.setdiff1d(mine, theirs)
        if not len(new):
            continue
        found, missed = (
            {str(graphs.label_names.get(code, code)) for code in codes.tolist()}
            for graphs, codes in ((queries, new), (references, np.setdiff1d(theirs, mine)))
        )
        if alike := sorted(found & missed):
            warnings.warn(
                f"The {kind} labels of references and queries differ in type: {alike[0]!r} is text in one and a number "
                "in the other, which do not match. Labels of CSV files that look like numbers are numbers. Read both "
                "from the same format, or write the labels as numbers.",
                stacklevel=1,  # the same place for every caller: shown once
            )


def new_ids(ids: Sequence[str], taken: set[str], kind: str) -> tuple[str, ...]:
    """Ids for further graphs: generated names get a numeric suffix on collision, given names must be new."""
    fresh = []
    for name in ids:
        made_up = re.fullmatch(r"(line|graph|row)-\d+", name)
        if name in taken and not made_up:
            raise GraphError(f"{kind.capitalize()} id {name!r} is taken already. Give the new graph another id.")
        others = (f"{name}.{number}" for number in itertools.count(2))
        fresh.append(name if name not in taken else next(other for other in others if other not in taken))
        taken.add(fresh[-1])
    return tuple(fresh)


def with_new_ids(added: ProfiledGraphs, present: ProfiledGraphs, kind: str) -> ProfiledGraphs:
    """Graphs with ids that none of those present has, which are of this kind; see :func:`new_ids`."""
    ids = new_ids(added.graphs.ids, set(present.graphs.ids), kind)
    return replace(added, graphs=replace(added.graphs, ids=ids))


def equal_places(graphs: GraphSet, others: GraphSet) -> NDArray[np.int64]:
    """Place of the one of the others that a graph equals, labels and attributes included; -1 for none. (graphs,)

    Of several that are equal it is the one with the graph's id, or else the first. The order of nodes does not matter:
    a molecule has many SMILES.
    """
    shapes, other_shapes = _shape(graphs), _kept_shape(others)
    near = np.flatnonzero(np.isin(other_shapes, shapes))
    left = np.flatnonzero(np.isin(shapes, other_shapes[near]))
    places = np.full(len(graphs), -1, dtype=np.int64)
    if not len(near):
        return places
    mine, theirs = graphs[left], others[near]
    if names := counted_names(others):
        mine, theirs = with_edge_attributes(mine, names), with_edge_attributes(theirs, names)
    found = _same_key(mine.content_hashes(), mine.ids, theirs.content_hashes(), theirs.ids)
    fresh = np.flatnonzero(found < 0)
    if len(fresh):
        keys, other_keys = _order_free_keys(mine[fresh], theirs)
        found[fresh] = _same_key(keys, mine[fresh].ids, other_keys, theirs.ids)
    places[left] = np.where(found < 0, -1, near[found])
    return places


def distinct_places(graphs: GraphSet) -> NDArray[np.int64]:
    """Places of the first of every group of equal graphs, whatever the order of their nodes; in linear time."""
    keys = graphs.content_hashes()
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    places = np.array(sorted(first.values()), dtype=np.int64)
    shapes = _shape(graphs)[places]
    found, counts = np.unique(shapes, return_counts=True)
    near = np.flatnonzero(np.isin(shapes, found[counts > 1]))  # only these can be equal
    if not len(near):
        return places
    deep = _order_free_keys(graphs[places[near]])[0]
    kept = {key: place for place, key in reversed(list(enumerate(deep)))}
    again = np.setdiff1d(np.arange(len(near)), list(kept.values()))
    return np.delete(places, near[again])


def copies_count_once(graphs: GraphSet) -> bool:
    """Whether equal graphs are copies of one record: molecules, and graphs with real-valued attributes."""
    real = any(
        values is not None and not (values == np.rint(values)).all()
        for values in (graphs.attributes, graphs.edge_attributes)
    )
    return real or graphs.atom_environments is not None


def _order_free_keys(*sets: GraphSet) -> list[list[str]]:
    """For each set a key per graph; equal graphs have equal ones, whatever the order of their nodes.

    Refinement cannot tell some graphs apart, decalin and bicyclopentyl for example; their spectra differ.
    """
    keys = [graph_hashes(graphs, _DEEP) for graphs in sets]
    shared = set.intersection(*map(set, keys))
    spectra: dict[str, list[NDArray[np.float64]]] = {}
    for graphs, own in zip(sets, keys, strict=True):
        rows = [row for row, key in enumerate(own) if key in shared]
        for row, spectrum in zip(rows, profile(graphs[rows]).sketch, strict=True):
            seen = spectra.setdefault(own[row], [])
            alike = (i for i, other in enumerate(seen) if (np.abs(spectrum - other) <= _SAME_SPECTRUM).all())
            kind = next(alike, len(seen))
            if kind == len(seen):
                seen.append(spectrum)
            own[row] = f"{own[row]}/{kind}"
    return keys


def _same_key(
    keys: Sequence[str], ids: Sequence[str], other_keys: Sequence[str], other_ids: Sequence[str]
) -> NDArray[np.int64]:
    named = {pair: place for place, pair in enumerate(zip(other_keys, other_ids, strict=True))}
    first = {key: place for place, key in reversed(list(enumerate(other_keys)))}
    pairs = zip(keys, ids, strict=True)
    return np.array([named.get(pair, first.get(pair[0], -1)) for pair in pairs], dtype=np.int64)


def _kept_shape(graphs: GraphSet) -> NDArray[np.uint64]:
    """The shapes of a set that many graphs are compared with, one after the other."""
    if graphs not in _SHAPES:
        _SHAPES[graphs] = _shape(graphs)
    return _SHAPES[graphs]


def _shape(graphs: GraphSet) -> NDArray[np.uint64]:
    """A number per graph that equal graphs share, from labels, degrees and those of the neighbours.

    Cheap: it spares nearly all graphs the refinement that decides.
    """
    degrees = np.diff(graphs.neighbour_offsets)
    own = _mixed(degrees.astype(np.uint64))
    if graphs.node_labels is not None:
        own = _mixed(own + graphs.node_labels.astype(np.uint64))
    first = np.repeat(graphs.node_offsets[:-1], 2 * graphs.edge_counts)
    around = _sums(_mixed(own)[first + graphs.neighbours], graphs.neighbour_offsets)
    return _sums(_mixed(own + around), graphs.node_offsets)


def _sums(values: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Sums of consecutive runs, modulo 2**64; an empty run has 0."""
    totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    return np.asarray(totals[offsets[1:]] - totals[offsets[:-1]])


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread numbers over 64 bits (the finaliser of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (values ^ (values >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15)


def equal_graphs(graphs: GraphSet, others: GraphSet) -> list[tuple[str, str]]:
    """Ids of graphs that equal one of the others, with the other's id."""
    pairs = zip(graphs.ids, equal_places(graphs, others), strict=True)
    return [(identifier, others.ids[place]) for identifier, place in pairs if place >= 0]


def union(domains: Mapping[str, Any]) -> GraphSet:
    """Several domains as one set: ids that stay unique, and only the structure, which all domains share."""
    parts = []
    for name, given in domains.items():
        graphs = graph_set(given)
        ids = tuple(f"{name}/{identifier}" for identifier in graphs.ids)
        parts.append(replace(graphs, ids=ids, labels=None, node_names=None).structure_only())
    if not parts:
        raise InputError("A mapping of domains needs at least one set of normal graphs, found none.")
    return concatenate(parts)
