"""The HTML report: one file, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphglass import __version__
from graphglass.detector.explanation import Explanation
from graphglass.detector.reference_detector import ReferenceDetector
from graphglass.detector.scored_graphs import ScoredGraphs
from graphglass.drawing.charts import reference_map, score_distribution, share_bars
from graphglass.drawing.graph_svg import Picture, draw_graph
from graphglass.files.output_file import defused, refuse_unless_writable, write_file
from graphglass.files.progress import progress_bar
from graphglass.graphs.user_columns import free_names
from graphglass.messages import counted
from graphglass.report.html_page import html_page, page_style

LEAST_EXPLAINED, MOST_EXPLAINED = 5, 100  # unless the caller says how many
_MOST_ROWS = 1000
_LONG, _SHOWN = 120, 80  # characters of a cell: of a longer one the start is shown, and the rest on demand
_THUMBNAILS = 100
_PRINTED = 2  # own columns that fit on paper; the style sheet hides the others there
_NEIGHBOURS = 2
_HEADS = (("rank", "rank"), ("picture", "drawing"), ("id", "id"), ("score", "score"), ("p_value", "p-value"),
          ("flagged", "verdict"), ("reason", "first reason"), ("nodes", "nodes"), ("edges", "edges"))  # fmt: skip
_NODE_LEGEND = (
    '<p class="legend"><span><b class="hot">●</b> the warmer, the larger its part of the score</span> '
    "<span>◌ in the nearest normal graph, not in this one</span></p>"
)
_REFERENCE_KEY = '<span><b class="reference">●</b> normal reference</span> '
_MAP_LEGEND = (
    '<p class="legend">{reference}<span><b class="query">●</b> graph of this report</span> <span><b class="hot">●</b> '
    "flagged</span>{known}</p>"
)


def write_report(
    detector: ReferenceDetector,
    table: ScoredGraphs,
    path: Path,
    *,
    explained: int | None = None,
    about: Mapping[str, str] | None = None,
) -> None:
    """Write the report about scored graphs; the file appears whole or not at all. See :func:`report_page`."""
    refuse_unless_writable(path)
    write_file(path, report_page(detector, table, explained=explained, about=about).encode())


def report_page(
    detector: ReferenceDetector,
    table: ScoredGraphs,
    *,
    explained: int | None = None,
    about: Mapping[str, str] | None = None,
) -> str:
    """The report as one string of HTML; the graphs are neither measured nor scored again.

    Parameters
    ----------
    detector : ReferenceDetector
    table : ScoredGraphs
    explained : int, optional
        Graphs to explain, the most abnormal first. By default all that are flagged, at least 5 and at most 100.
    about : mapping, optional
        Facts for the head of the page, such as the files and the model.
    """
    graphs, scores, flagged, order = table.graphs, table.scores, table.flagged, table.order
    assert table.measured is not None
    count = detector.scorer_.reference_count
    among = bool(table.reference.all()) and len(graphs) >= count  # the graphs of one file, each against the others
    references, places = detector.map_positions(table)
    known = None if detector.anomalies_ is None else detector.map_positions(detector.anomalies_)[1]
    cut = _smallest_flagged(detector.decision_scores_, table.alpha) if table.p_values is not None else float("inf")
    histogram = score_distribution(detector.decision_scores_[: 0 if among else None], scores, cut)
    chart = reference_map(references[: 0 if among else None], places, flagged, graphs.ids, known)
    key = "" if known is None else ' <span><b class="known">▲</b> known anomaly</span>'
    legend = _MAP_LEGEND.format(reference="" if among else _REFERENCE_KEY, known=key)
    against = counted(count, "normal reference")
    title = f"{counted(len(graphs), 'graph')} {'among themselves' if among else f'against {against}'}"
    summary = "Higher scores are more abnormal."
    if table.p_values is not None:
        summary = (
            f"{int(flagged.sum())} flagged: their p-value, the chance that a normal graph scores as high, is at most "
            f"{table.alpha:g}. {summary}"
        )
    notice = " ".join(table.shifted) if among else table.notice
    about_scores = (
        "Each graph is scored against the others. Bars show shares of all graphs."
        if among
        else "Normal references (left out one at a time) in grey, the graphs of this report in colour. Bars show "
        "shares of each group."
    )
    about_map = "The closer two graphs, the more similar they are by the distances that make the score."
    if explained is None:
        explained = int(np.clip(flagged.sum(), LEAST_EXPLAINED, MOST_EXPLAINED))
    told: dict[int, Explanation] = {}
    with progress_bar("Explaining graphs", min(explained, len(graphs)), show=detector.verbose) as advance:
        for index in order[:explained].tolist():
            told[index] = table.explain(index, neighbours=_NEIGHBOURS)
            advance()
    settings = ", ".join(f"{name}={value!r}" for name, value in detector.get_params().items() if name != "verbose")
    facts = {
        **(about or {}),
        "Date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "Method": f"{type(detector).__name__} ({settings}), GraphGlass {__version__}",
    }
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    body = [
        f"<h1>{title}</h1><p>{escape(summary)}</p>{f'<p>{escape(notice)}</p>' if notice else ''}<dl>{listed}</dl>",
        f'<div class="pair"><div class="card"><h2>Scores</h2><p>{about_scores}</p>{histogram}</div>',
        f'<div class="card"><h2>Map</h2><p>{about_map}</p>{chart}{legend}</div></div>',
        f'<h2 id="ranking">Ranking</h2>{_ranking(table, told)}',
        _rejected(table),
        f"<h2>The {counted(len(told), 'most abnormal graph')}, explained</h2>",
        f"<p>{int(flagged.sum()) - len(told)} more are flagged.</p>" if flagged.sum() > len(told) else "",
        *(_explained(detector, explanation, rank) for rank, explanation in enumerate(told.values(), start=1)),
    ]
    script = files("graphglass.report").joinpath("sorting.js").read_text(encoding="utf-8")
    return html_page("GraphGlass report", "".join(body), style=page_style(), script=script, kind="report")


def _smallest_flagged(reference_scores: NDArray[np.float64], alpha: float) -> float:
    """The lowest score with a p-value of at most alpha; infinite where there are too few references for one."""
    ordered = np.sort(reference_scores)[::-1]
    allowed = int(np.floor(alpha * (len(ordered) + 1))) - 1
    return float(ordered[allowed]) if 0 <= allowed < len(ordered) else float("inf")


def _rejected(table: ScoredGraphs) -> str:
    """The records that could not be read, which have no score."""
    if not table.rejected:
        return ""
    items = "".join(f"<li>{escape(one.id)}: {escape(one.reason)}</li>" for one in table.rejected[:_MOST_ROWS])
    return f"<h2>Could not be read: {counted(len(table.rejected), 'record')}</h2><div class=card><ul>{items}</ul></div>"


def _ranking(table: ScoredGraphs, told: Mapping[int, Explanation]) -> str:
    graphs, scores, flagged, order = table.graphs, table.scores, table.flagged, table.order
    p_values = np.full(len(table), np.nan) if table.p_values is None else table.p_values
    absent = ("p_value", "flagged") if table.p_values is None else ()
    rows = []
    names = free_names(graphs.columns, {name for head in _HEADS for name in head})
    heads = (*_HEADS, *(("own", escape(defused(name))) for name in names))
    for rank, i in enumerate(order[:_MOST_ROWS], start=1):
        rows.append("<tr>")
        name = escape(defused(graphs.ids[i]))
        cells = (
            (rank, f"{rank}"),
            (None, draw_graph(graphs[int(i)]).svg if rank <= _THUMBNAILS else ""),
            (None, f'<a href="#graph-{rank}">{name}</a>' if i in told else name),
            (scores[i], f"{scores[i]:.4f}"),
            (p_values[i], f"{p_values[i]:.4f}"),
            (int(flagged[i]), '<span class="flag">flagged</span>' if flagged[i] else ""),
            (None, escape(told[i].reasons[0]) if i in told and told[i].reasons else ""),
            (graphs.sizes[i], f"{graphs.sizes[i]}"),
            (graphs.edge_counts[i], f"{graphs.edge_counts[i]}"),
            *(_own_cell(values[i]) for values in graphs.columns.values()),
        )
        for (kind, _), (value, text) in zip(heads, cells, strict=True):
            sorted_by = "" if value is None else f' data-value="{value}"'
            rows.append("" if kind in absent else f'<td class="{kind}"{sorted_by}>{text}</td>')
        rows.append("</tr>")
    titles = "".join(f'<th scope="col" class="{kind}">{name}</th>' for kind, name in heads if kind not in absent)
    rest = f"<p>{len(order) - _MOST_ROWS} more are not shown.</p>" if len(order) > _MOST_ROWS else ""
    if len(names) > _PRINTED:
        rest += f'<p class="paper">Of your {len(names)} columns the first {_PRINTED} are printed.</p>'
    body = f'<table class="sortable"><thead><tr>{titles}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f'<div class="card scroll" tabindex="0" role="region" aria-labelledby="ranking">{body}</div>{rest}'


def _own_cell(value: object) -> tuple[float | None, str]:
    """A value of the user's own columns: the number it is sorted by, if it is one, and its text."""
    number = float(value) if isinstance(value, int | float | np.number) else None
    text = "" if value is None else defused(str(value))
    if len(text) <= _LONG:
        return number, escape(text)
    return number, f"<details><summary>{escape(text[:_SHOWN])}…</summary>{escape(text)}</details>"


def _part(picture: Picture) -> str:
    return f" ({picture.shown} of {picture.total} nodes)" if picture.shown < picture.total else ""


def _explained(detector: ReferenceDetector, explanation: Explanation, rank: int) -> str:
    coloured = explanation.labels or None
    near = [("normal", detector.reference(item.id), item) for item in explanation.neighbours]
    if detector.anomalies_ is not None and explanation.resembles:
        known, first = detector.anomalies_.graphs, explanation.resembles[0]
        near = [("known anomaly", known[known.ids.index(first.id)], first), *near]
    own = explanation.draw()
    figures = [f"<figure>{own.svg}<figcaption>this graph{_part(own)}"]
    for kind, other, item in near:
        closest = explanation.draw_nearest() if item is explanation.neighbours[0] else None
        picture = draw_graph(other, coloured=coloured) if closest is None else closest
        alike = ", ".join(f"{name} {value:.2f}" for name, value in item.families.items())
        figures.append(
            f"<figure>{picture.svg}<figcaption>{kind} {escape(item.id)}{_part(picture)}<br>similarity: {escape(alike)}"
        )
    pictures = "".join(f"{figure}</figcaption></figure>" for figure in figures)
    reasons = "".join(f"<li>{escape(cause.words)} ({cause.share:.0f}%)</li>" for cause in explanation.causes)
    reasons = f"<ul>{reasons}</ul>" if reasons else "<p>Nothing raises the score.</p>"
    shares = [(name, share) for name, share in explanation.shares.items() if share >= 0.5]
    return (
        f'<section class="card" id="graph-{rank}"><h2>{rank}. {escape(explanation.id)}</h2>'
        f"<p>{explanation.headline.capitalize()}. "
        f'<a class="screen" href="#ranking">Back to the ranking</a></p><div class="pictures">{pictures}</div>'
        f'{_NODE_LEGEND}<div class="columns two"><div><h3>What stands out</h3>{reasons}</div>'
        f"<div><h3>Share of the score</h3>{share_bars(shares)}</div></div></section>"
    )
