"""Graphs with their scores: the one value that commands, reports, services, clusters and notebooks read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.calibration import conformal_p_values, left_out_p_values
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.explanation import Explanation, explain_one
from graphglass.detector.reference_sets import equal_places
from graphglass.detector.scorer import ReferenceScorer
from graphglass.files.rows import of_one_type, write_rows
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.reading import Reject, input_order
from graphglass.graphs.user_columns import free_names
from graphglass.messages import setting

SHOWN = 20
PICTURED, LARGEST_PICTURED = 5, 60  # rows with a picture in a notebook, and the nodes of one
SHIFTED = 0.9  # share of the graphs outside the references' range that is worth a remark
LEAST_SHIFTED = 10  # graphs
MOST_REASONS = 1_000  # a reason costs about as much as a hundred scores


@dataclass(frozen=True, eq=False)
class ScoredGraphs:
    """Scores, p-values, flags and marks of some graphs, in their order.

    A graph that equals a reference has the leave-one-out score of that reference: compared with itself it would score
    too low. No mark or score depends on the other graphs or on their order.

    Attributes
    ----------
    graphs : GraphSet
        In the form of the references, with the user's columns.
    scores : float64 (graphs,)
    p_values : float64 (graphs,) or None
        None where nothing calibrates the scores: against a private summary, and in zero-shot transfer.
    alpha : float
        Graphs with a p-value of at most this are flagged.
    reference : bool (graphs,)
        Whether a graph equals a reference.
    known : bool (graphs,)
        Whether a graph equals a known anomaly; such graphs score higher than new ones.
    shifted : tuple of str
        Remarks on attributes that lie outside the range of the references in nearly all graphs.
    scorer : ReferenceScorer or None
        What scored them.
    measured : ProfiledGraphs or None
        The graphs as the channels read them; None where a private summary scored them.
    index : pandas.Index or None
        Of the DataFrame that the graphs come from, where each row is a graph.
    """

    graphs: GraphSet
    scores: NDArray[np.float64]
    p_values: NDArray[np.float64] | None
    alpha: float
    reference: NDArray[np.bool_]
    known: NDArray[np.bool_]
    shifted: tuple[str, ...] = ()
    scorer: ReferenceScorer | None = None
    measured: ProfiledGraphs | None = None
    index: Any = None

    @classmethod
    def uncalibrated(cls, graphs: GraphSet, scores: NDArray[np.float64]) -> ScoredGraphs:
        """Scores that only rank: of a method whose references are not available."""
        none = np.zeros(len(scores), dtype=bool)
        return cls(graphs, scores, None, 0.0, none, none)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def ids(self) -> tuple[str, ...]:
        return self.graphs.ids

    @property
    def rejected(self) -> tuple[Reject, ...]:
        """Records of the input that could not be read; they have a row, but no score."""
        return self.graphs.rejected

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Whether the p-value is at most alpha; nothing is flagged without p-values. (graphs,)"""
        return np.zeros(len(self), dtype=bool) if self.p_values is None else self.p_values <= self.alpha

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Places of the graphs, the most abnormal first."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def ranks(self) -> NDArray[np.int64]:
        """1 for the most abnormal graph. (graphs,)"""
        ranks = np.empty(len(self), dtype=np.int64)
        ranks[self.order] = np.arange(1, len(self) + 1)
        return ranks

    @cached_property
    def reasons(self) -> list[str | None]:
        """The first reason of every flagged graph, of very many those of the most abnormal; None for the others."""
        found: list[str | None] = [None] * len(self)
        if self.scorer is not None and self.measured is not None:
            for place in self.order[self.flagged[self.order]][:MOST_REASONS].tolist():
                found[place] = next(iter(self.explain(place, neighbours=0).reasons), None)
        return found

    def explain(self, place: int, *, neighbours: int = 5) -> Explanation:
        """Why the graph at a place has its score; see :meth:`GraphGlass.explain`."""
        assert self.scorer is not None
        assert self.measured is not None
        graph, reference = self.measured[[place]], bool(self.reference[place])
        return explain_one(graph, self.scorer, neighbours=neighbours, reference=reference)

    @property
    def notice(self) -> str:
        """What to know before reading the scores: shifted attributes, queries that are references or anomalies."""
        parts = [*self.shifted]
        if own := int(self.reference.sum()):
            parts.append(f"{own} of {len(self)} graphs equal a reference and have its leave-one-out score.")
        if known := int(self.known.sum()):
            parts.append(f"{known} of {len(self)} graphs are known anomalies, which score higher than new graphs.")
        if (flagged := int(self.flagged.sum())) > MOST_REASONS:
            parts.append(
                f"Of {flagged} flagged graphs the {MOST_REASONS} most abnormal have a reason; explain others by id."
            )
        return " ".join(parts)

    def columns(self) -> dict[str, Sequence[Any]]:
        """One row per record of the input, in its order: the columns of every result file."""
        none = [None] * len(self.rejected)
        columns: dict[str, Sequence[Any]] = {
            "id": [*self.ids, *(reject.id for reject in self.rejected)],
            "score": [*self.scores.tolist(), *none],
        }
        if self.p_values is not None:
            columns["p_value"] = [*self.p_values.tolist(), *none]
            columns["flagged"] = [*self.flagged.tolist(), *none]
        columns["rank"] = [*self.ranks.tolist(), *none]
        columns["reference"] = [*self.reference.tolist(), *none]
        columns["reason"] = [*self.reasons, *none]
        columns["error"] = [*[None] * len(self), *(reject.reason for reject in self.rejected)]
        own = {
            name: [*values.tolist(), *(reject.columns.get(name) for reject in self.rejected)]
            for name, values in self.graphs.columns.items()
        }
        columns |= dict(zip(free_names(own, columns), own.values(), strict=True))
        order = input_order(len(self), self.rejected).tolist()
        return {name: [values[row] for row in order] for name, values in columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """One mapping per row, as ``pandas.DataFrame(table)`` takes it."""
        columns = self.columns()
        return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame, with the index of the DataFrame that was scored, or else indexed by id."""
        import pandas

        rows = pandas.DataFrame(self.columns())
        if self.rejected:  # a column with gaps stays one of numbers or of yes and no: rows[rows.flagged] works
            types = {"flagged": "boolean", "rank": "Int64", "reference": "boolean"}
            rows = rows.astype({name: kind for name, kind in types.items() if name in rows})
        return rows.set_index("id") if self.index is None else rows.set_axis(self.index)

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame."""
        import polars

        return polars.DataFrame({name: of_one_type(list(values)) for name, values in self.columns().items()})

    def to_csv(self, path: str | Path) -> None:
        """Write the rows to a CSV file, whole or not at all."""
        write_rows(self.columns(), Path(path), ".csv")

    def to_parquet(self, path: str | Path) -> None:
        """Write the rows to a Parquet file, whole or not at all."""
        write_rows(self.columns(), Path(path), ".parquet")

    def __repr__(self) -> str:
        return f"ScoredGraphs({len(self)} graphs, {int(self.flagged.sum())} flagged)"

    def _repr_html_(self) -> str:
        from graphglass.drawing.graph_svg import draw_graph, drawing_style, frequent_labels

        colours = frequent_labels(self.graphs)
        heads = ["", "id", "score", *["p-value", ""] * (self.p_values is not None)]
        rows: list[list[str]] = []
        for i in self.order[:SHOWN].tolist():
            drawn = len(rows) < PICTURED and self.graphs.sizes[i] <= LARGEST_PICTURED
            picture = draw_graph(self.graphs[i], coloured=colours).svg if drawn else ""
            row = [f'<div style="width:120px">{picture}</div>', escape(self.ids[i]), f"{self.scores[i]:.4f}"]
            if self.p_values is not None:
                row += [f"{self.p_values[i]:.4f}", "flagged" * bool(self.flagged[i])]
            rows.append(row)
        more = len(self) - len(rows)
        first = f"<p>{escape(self.notice)}</p>" if self.notice else ""
        table = first + html_table(heads, rows) + (f"<p>{more} more rows are not shown.</p>" if more > 0 else "")
        return f"<div><style>{drawing_style()}</style>{table}</div>"


def scored_graphs(
    scorer: ReferenceScorer, queries: ProfiledGraphs, alpha: float, *, anomalous: NDArray[np.bool_] | None = None
) -> ScoredGraphs:
    """Score measured queries once, and give those that equal a reference its leave-one-out score.

    They are recognised by what scores depend on; ids say too little, a graph without a name is called after its line.
    ``anomalous`` graphs are known to be no references, whatever they equal.
    """
    found = equal_places(queries.graphs, scorer.graphs)
    if anomalous is not None:
        found[anomalous] = -1
    reference = found >= 0
    known = np.zeros(len(queries), dtype=bool)
    if scorer.known is not None:
        known = equal_places(queries.graphs, scorer.known.graphs.graphs) >= 0
    scores = np.empty(len(queries))
    if reference.any():
        scores[reference] = scorer.left_out_scores(queries[reference], found[reference])
    if not reference.all():
        scores[~reference] = scorer.scores(queries[~reference] if reference.any() else queries)
    p_values = None
    if not scorer.zero_shot:
        p_values = np.where(
            reference,
            left_out_p_values(scores, scorer.reference_scores),
            conformal_p_values(scores, scorer.reference_scores),
        )
    shifted = tuple(shifted_attributes(queries.graphs, scorer.references.graphs))
    return ScoredGraphs(queries.graphs, scores, p_values, alpha, reference, known, shifted, scorer, queries)


def shifted_attributes(graphs: GraphSet, references: GraphSet) -> Iterator[str]:
    """A sentence for every column of nearly all graphs that lies outside the range of the references.

    Dates and running numbers do: they would flag everything new.
    """
    if len(graphs) < LEAST_SHIFTED:
        return
    for names, known, new, counts in (
        (references.attribute_names, references.attributes, graphs.attributes, graphs.sizes),
        (references.edge_attribute_names, references.edge_attributes, graphs.edge_attributes, 2 * graphs.edge_counts),
    ):
        if known is None or new is None or not len(known) or not len(new):
            continue
        owners = np.repeat(np.arange(len(graphs)), counts)
        for place, name in enumerate(names):
            theirs, mine = known[:, place], new[:, place]
            low, high = float(theirs.min()), float(theirs.max())
            inside = np.bincount(owners[(mine >= low) & (mine <= high)], minlength=len(graphs)) > 0
            share = 1 - inside.mean()
            if share >= SHIFTED:
                yield (
                    f"{name!r} lies outside the references' range ({low:g} to {high:g}) in {100 * share:.0f}% of the "
                    f"graphs. If it is a date, a running number or an id, fit again with {setting('ignore', [name])}."
                )


def scored_references(scorer: ReferenceScorer, alpha: float) -> ScoredGraphs:
    """The references by their leave-one-out scores; of an indexed set, those that have one."""
    references, scores = scorer.references, scorer.reference_scores
    every, none = np.ones(len(scores), dtype=bool), np.zeros(len(scores), dtype=bool)
    p_values = None if scorer.zero_shot else left_out_p_values(scores, scores)
    return ScoredGraphs(references.graphs, scores, p_values, alpha, every, none, scorer=scorer, measured=references)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table; cells must be escaped already."""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
