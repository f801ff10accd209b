"""Fields of a graph beside those of the references: structure, labels and attributes, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.attribute_values import are_positions
from graphglass.graphs.chemistry import DESCRIPTORS, descriptors
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.molecules import edge_label_text, node_label_text
from graphglass.structure.fields import FIELD_NAMES, field_values

LEAST_SHARE = 0.01  # the unit of a label's share where no reference has the label, or all have as much of it

# Structural fields that change together are one cause; the plain name of each.
STRUCTURE = {
    "size": {"nodes": "the number of nodes", "edges": "the number of edges"},
    "degrees": {
        "density": "the edge density",
        "degree_mean": "the mean degree",
        "degree_std": "the spread of degrees",
        "degree_entropy": "the variety of degrees",
        "degree_q25": "the lower quartile of degrees",
        "degree_q50": "the median degree",
        "degree_q75": "the upper quartile of degrees",
    },
    "cycles": {
        "clustering_mean": "the mean clustering",
        "clustering_std": "the spread of clustering",
        "transitivity": "the transitivity",
        "triangles": "the number of triangles",
        "four_cycles": "the number of 4-cycles",
        "motif_density": "the motif density",
        "core_max": "the largest core",
    },
    "connectivity": {
        "components": "the number of components",
        "spectral_gap": "the spectral gap",
        "rayleigh_q10": "the low end of the spectrum",
        "rayleigh_q50": "the middle of the spectrum",
        "rayleigh_q90": "the high end of the spectrum",
    },
}
# Descriptors of molecules that change together, or with the number of atoms.
_DESCRIPTOR_CAUSES = {
    "molecular weight": "size",
    "number of H-bond donors": "polarity",
    "number of H-bond acceptors": "polarity",
    "polar surface area": "polarity",
    "number of rings": "rings",
    "number of aromatic rings": "rings",
}
_PLAIN = {name: (cause, words) for cause, fields in STRUCTURE.items() for name, words in fields.items()}


@dataclass(frozen=True)
class FieldDeviation:
    """One field beside its distribution over the references.

    Attributes
    ----------
    name : str
    cause : str
        Fields with the same cause change together.
    value, reference_median, reference_low, reference_high : float
        The value, and the 50%, 5% and 95% quantiles of the references.
    percentile : float
        Share of references below the value, ties counted half.
    deviation : float
        Distance from the median in robust standard deviations.
    unseen : bool
        A label, edge or value of an edge past those of all references.
    words : str
    edge : (int, int) or None
        Source and target, counted within the graph, where the field is about one edge.
    """

    name: str
    cause: str
    value: float
    reference_median: float
    reference_low: float
    reference_high: float
    percentile: float
    deviation: float
    unseen: bool
    words: str
    edge: tuple[int, int] | None = None

    @property
    def usual(self) -> bool:
        """Whether the value lies within the range of nine in ten references."""
        return self.reference_low <= self.value <= self.reference_high


@dataclass(frozen=True, eq=False)
class _Column:
    """One number of a graph and of every reference."""

    name: str
    cause: str
    text: str
    value: float
    normal: NDArray[np.float64]  # (references,)
    share_of: str = ""  # "nodes" or "edges" if the number is a share of them
    least: float = 0.0  # the least unit a deviation is measured in, where the references hardly vary


def field_deviations(query: ProfiledGraphs, references: ProfiledGraphs) -> tuple[FieldDeviation, ...]:
    """Fields of one graph against the references: unseen ones first, then by deviation, usual ones last.

    All structural fields are listed; labels and attributes only where they lie outside the usual range.
    """
    values, normal = field_values(query.profile)[0], field_values(references.profile)
    structure = [_Column(name, *_PLAIN[name], float(values[i]), normal[:, i]) for i, name in enumerate(FIELD_NAMES)]
    carried = [_deviation(column) for column in _carried(query.graphs, references.graphs)]
    rows = [*map(_deviation, structure), *(row for row in carried if not row.usual)]
    return by_strength(rows)


def by_strength(rows: Iterable[FieldDeviation]) -> tuple[FieldDeviation, ...]:
    """Unseen fields first, then by deviation, usual ones last."""
    return tuple(sorted(rows, key=lambda row: (row.usual, not row.unseen, -abs(row.deviation))))


def reasons(deviations: Sequence[FieldDeviation]) -> tuple[str, ...]:
    """One sentence per cause outside the usual range: its strongest field, and the names of the others."""
    causes: dict[str, list[FieldDeviation]] = {}
    for row in deviations:
        if not row.usual:
            causes.setdefault(row.cause, []).append(row)
    sentences = []
    for first, *others in causes.values():
        also = [_PLAIN[row.name][1] if row.name in _PLAIN else row.name for row in others]
        more = f" (also unusual: {', '.join(also[:3])}{' and more' if len(also) > 3 else ''})" if also else ""
        sentences.append(f"{first.words[0].upper()}{first.words[1:]}{more}.")
    return tuple(sentences)


def _deviation(column: _Column) -> FieldDeviation:
    value, normal = column.value, column.normal
    low, median, high = (float(cut) for cut in np.percentile(normal, (5, 50, 95)))
    spread = 1.4826 * float(np.median(np.abs(normal - median)))
    # A field that hardly varies among the references still needs a unit for deviations.
    unit = max(spread, 0.5 * float(normal.std()), column.least or max(1e-3, 0.05 * abs(median)))
    percentile = float((normal < value).mean() + (normal <= value).mean()) / 2
    unseen = bool(column.share_of) and value > 0 and not normal.any()
    words = _words(column, low, median, high, unseen=unseen)
    return FieldDeviation(
        column.name, column.cause, value, median, low, high, percentile, (value - median) / unit, unseen, words
    )


def _words(column: _Column, low: float, median: float, high: float, *, unseen: bool) -> str:
    show = _percent if column.share_of else _number
    made_up = f" of the {column.share_of}" if column.share_of else ""
    verb = "makes up" if column.share_of else "is"
    fact = f"{column.text} {verb} {show(column.value)}{made_up}"
    if unseen:
        return f"{fact}; no normal graph has it"
    usual = f"normal graphs have {show(median)}"
    usual = f"almost all {usual}" if low == high else f"{usual}, most between {show(low)} and {show(high)}"
    if low <= column.value <= high:
        return f"{fact}, as usual: {usual}"
    return f"{fact}, {'higher' if column.value > high else 'lower'} than usual: {usual}"


def _carried(query: GraphSet, references: GraphSet) -> Iterator[_Column]:
    """Shares of labels and of labelled edges, summaries of every attribute, and descriptors of molecules."""
    if references.node_labels is not None:
        yield from _node_labels(query, references)
    if references.node_labels is not None or references.edge_labels is not None:
        yield from _edges(query, references)
    if references.attributes is not None and not are_positions(references):
        yield from _attributes(query, references)
    if references.atom_contributions is not None and query.atom_contributions is not None:
        yield from _descriptors(query, references)


def _node_labels(query: GraphSet, references: GraphSet) -> Iterator[_Column]:
    own, known = _given(query.node_labels), _given(references.node_labels)
    owner = references.node_graph
    kinds, place = np.unique(known, return_inverse=True)
    holders = np.bincount(np.unique(owner * len(kinds) + place) % len(kinds), minlength=len(kinds))
    # A missing label is unusual only where nearly every reference has it.
    expected = kinds[holders >= 0.95 * len(references)]
    known_texts = {node_label_text(references, int(label)) for label in kinds}
    for label in np.union1d(own, expected):
        shares = np.bincount(owner[known == label], minlength=len(references)) / references.sizes
        text = node_label_text(query if label in own else references, int(label))
        # The text "C" is not the atom that is written alike: labels of two formats were read.
        mark = " (text)" if label in query.label_names and label not in kinds and text in known_texts else ""
        name = f"label {text}{mark}"
        yield _Column(name, f"label {label}", name, float((own == label).mean()), shares, "nodes", LEAST_SHARE)


def _edges(query: GraphSet, references: GraphSet) -> Iterator[_Column]:
    """Edges of the graph, named by the labels of both ends and their own.

    An edge at a label that no reference has belongs to that label's cause.
    """
    own, known = _edge_names(query), _edge_names(references)
    known_labels = np.unique(known[:, :2])
    owner = references.node_graph[references.edge_list().sources]
    edges = np.maximum(np.bincount(owner, minlength=len(references)), 1)
    for name in np.unique(own, axis=0):
        shares = np.bincount(owner[(known == name).all(axis=1)], minlength=len(references)) / edges
        text, value = _edge_text(query, name), float((own == name).all(axis=1).mean())
        strange = [label for label in name[:2] if label not in known_labels]
        cause = f"label {strange[0]}" if strange and query.node_labels is not None else text
        yield _Column(text, cause, text, value, shares, "edges", LEAST_SHARE)


def _edge_names(graphs: GraphSet) -> NDArray[np.int64]:
    """Labels of both ends and its own label for every edge, zero where there is none, (edges, 3).

    Of a directed set the source comes first, else the lower label.
    """
    edges = graphs.edge_list()
    labels = np.zeros(graphs.node_count, np.int64) if graphs.node_labels is None else graphs.node_labels
    ends = np.stack([labels[edges.sources], labels[edges.targets]], axis=1)
    own = np.zeros(len(ends), np.int64) if edges.labels is None else edges.labels
    return np.column_stack([ends if graphs.directed else np.sort(ends, axis=1), own])


def _edge_text(graphs: GraphSet, name: NDArray[np.int64]) -> str:
    parts = ["edge"]
    if graphs.node_labels is not None:
        arrow = " -> " if graphs.directed else "–"
        parts.append(arrow.join(node_label_text(graphs, int(code)) for code in name[:2]))
    if graphs.edge_labels is not None:
        parts.append(f"({edge_label_text(graphs, int(name[2]))})")
    return " ".join(parts)


def _attributes(query: GraphSet, references: GraphSet) -> Iterator[_Column]:
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
            full, text = f"{title} {name}", f"{title} {name.replace('_', ' ')}"
            yield _Column(full, f"attribute {name}", text, float(values[place]), summary(column), least=least)


def _descriptors(query: GraphSet, references: GraphSet) -> Iterator[_Column]:
    own, known = descriptors(query)[0], descriptors(references)
    for place, name in enumerate(DESCRIPTORS):
        text = name if name == "logP" else f"the {name}"
        yield _Column(name, _DESCRIPTOR_CAUSES.get(name, name), text, float(own[place]), known[:, place])


def _given(values: NDArray[Any] | None) -> NDArray[Any]:
    assert values is not None  # the schema of queries is that of the references
    return values


def _number(value: float) -> str:
    whole = 100 <= abs(value) < 1e6 or (value == round(value) and abs(value) < 1e6)
    return f"{value:.0f}" if whole else f"{value:.3g}"


def _percent(value: float) -> str:
    return f"{100 * value:.3g}%"
