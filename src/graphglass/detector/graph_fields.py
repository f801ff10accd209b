"""What the nodes and edges of a graph carry, beside what those of the references carry: labels and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.tables.attribute_values import are_positions
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.molecule import edge_label_text, node_label_text

LEAST_SHARE = 0.01  # the unit of a label's share where no reference has the label, or all have as much of it


@dataclass(frozen=True, eq=False)
class Column:
    """One number of a graph and of every reference, and how to put it into words."""

    name: str
    value: float
    normal: NDArray[np.float64]  # (references,)
    share_of: str = ""  # "nodes" or "edges" if the number is a share of them
    least: float = 0.0  # the least unit a deviation is measured in, where the references hardly vary

    def words(self, low: float, median: float, high: float) -> str:
        if not self.share_of:
            said, show = f"{self.name.replace('_', ' ')} is {_number(self.value)}", _number
        else:
            said, show = f"{self.name} makes up {_percent(self.value)} of the {self.share_of}", _percent
        usual = f"normal graphs have {show(median)}, most between {show(low)} and {show(high)}"
        if self.share_of and not self.normal.any():
            usual = "no normal graph has it"
        if low <= self.value <= high:
            return f"{said}, as usual: {usual}"
        return f"{said}, {'higher' if self.value > high else 'lower'} than usual: {usual}"


def contents(query: GraphSet, references: GraphSet) -> Iterator[Column]:
    """Shares of labels and of joined labels, and mean, lowest and highest value of every attribute."""
    if references.node_labels is not None:
        yield from _node_labels(query, references)
    if references.node_labels is not None or references.edge_labels is not None:
        yield from _edges(query, references)
    if references.attributes is not None and not are_positions(references):
        yield from _attributes(query, references)


def _node_labels(query: GraphSet, references: GraphSet) -> Iterator[Column]:
    own, known = _given(query.node_labels), _given(references.node_labels)
    owner = np.repeat(np.arange(len(references)), references.sizes)
    kinds, place = np.unique(known, return_inverse=True)
    holders = np.bincount(np.unique(owner * len(kinds) + place) % len(kinds), minlength=len(kinds))
    # A label that the graph lacks can be missed only where nearly every reference has it.
    expected = kinds[holders >= 0.95 * len(references)]
    known_texts = {node_label_text(references, int(label)) for label in kinds}
    for label in np.union1d(own, expected):
        shares = np.bincount(owner[known == label], minlength=len(references)) / references.sizes
        text = node_label_text(query if label in own else references, int(label))
        # The text "C" is not the atom that is written alike: labels of two formats were read.
        mark = " (text)" if label in query.label_names and label not in kinds and text in known_texts else ""
        yield Column(f"label {text}{mark}", float((own == label).mean()), shares, "nodes", LEAST_SHARE)


def _edges(query: GraphSet, references: GraphSet) -> Iterator[Column]:
    """Edges of the graph, named by the labels of both ends and their own."""
    own, known = _edge_names(query), _edge_names(references)
    ends = np.diff(references.neighbour_offsets[references.node_offsets])
    owner = np.repeat(np.arange(len(references)), ends)
    for name in np.unique(own, axis=0):
        shares = np.bincount(owner[(known == name).all(axis=1)], minlength=len(references)) / np.maximum(ends, 1)
        yield Column(_edge_text(query, name), float((own == name).all(axis=1).mean()), shares, "edges", LEAST_SHARE)


def _edge_names(graphs: GraphSet) -> NDArray[np.int64]:
    """Lower and higher label of its ends and its own for every stored edge end, zero where there is none, (ends, 3)."""
    degrees = np.diff(graphs.neighbour_offsets)
    first = np.repeat(np.arange(graphs.node_count), degrees)
    second = graphs.neighbours + np.repeat(np.repeat(graphs.node_offsets[:-1], graphs.sizes), degrees)
    none = np.zeros(graphs.node_count, np.int64)
    labels = none if graphs.node_labels is None else graphs.node_labels
    own = np.zeros(len(first), np.int64) if graphs.edge_labels is None else graphs.edge_labels
    return np.stack([np.minimum(labels[first], labels[second]), np.maximum(labels[first], labels[second]), own], axis=1)


def _edge_text(graphs: GraphSet, name: NDArray[np.int64]) -> str:
    parts = ["edge"]
    if graphs.node_labels is not None:
        parts.append("–".join(node_label_text(graphs, int(code)) for code in name[:2]))
    if graphs.edge_labels is not None:
        parts.append(f"({edge_label_text(graphs, int(name[2]))})")
    return " ".join(parts)


def _attributes(query: GraphSet, references: GraphSet) -> Iterator[Column]:
    own, known = _given(query.attributes).astype(np.float64), _given(references.attributes)
    starts = references.node_offsets[:-1]
    summaries: dict[str, tuple[NDArray[np.float64], Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = {
        "mean": (own.mean(axis=0), lambda column: np.add.reduceat(column, starts) / references.sizes),
        "lowest": (own.min(axis=0), lambda column: np.minimum.reduceat(column, starts)),
        "highest": (own.max(axis=0), lambda column: np.maximum.reduceat(column, starts)),
    }
    for place, name in enumerate(references.attribute_names):
        column = known[:, place].astype(np.float64)
        least = max(0.1 * float(column.std()), 1e-3, 0.05 * abs(float(column.mean())))
        for title, (values, summary) in summaries.items():
            yield Column(f"{title} {name}", float(values[place]), summary(column), least=least)


def _given(values: NDArray | None) -> NDArray:
    assert values is not None  # the schema of queries is that of the references
    return values


def _number(value: float) -> str:
    whole = 100 <= abs(value) < 1e6 or (value == round(value) and abs(value) < 1e6)
    return f"{value:.0f}" if whole else f"{value:.3g}"


def _percent(value: float) -> str:
    return f"{100 * value:.3g}%"
