"""The HTML report: one file, nothing loaded from anywhere."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphglass import __version__
from graphglass.channels.calibration import conformal_p_values
from graphglass.detector.explanation import Explanation
from graphglass.detector.glass import GLASS
from graphglass.errors import InputError
from graphglass.graphs.graph_set import GraphSet
from graphglass.report.charts import contribution_bars, loss_curve, score_distribution, sphere_map
from graphglass.report.drawing import draw_graph
from graphglass.storage.atomic import write_whole
from graphglass.wording import counted

EXPLAINED = 5
_MOST_ROWS = 1000
_NEIGHBOURS = 2
_LEGEND = (
    '<p class="legend"><span><b class="hot">●</b> taking this node away lowers the score most</span> '
    '<span><b class="cold">●</b> least, or raises it</span> '
    '<span><b class="plain">●</b> in between, and normal graphs</span></p>'
)


def write_report(detector: GLASS, graphs: GraphSet, path: Path, *, alpha: float = 0.05) -> None:
    """Write the report about scoring ``graphs``; the file appears whole or not at all."""
    if path.is_dir():
        raise InputError(f"{path} is a directory. Name a file for the report.")
    page = report_page(detector, graphs, alpha=alpha)
    try:
        write_whole(path, page.encode())
    except OSError as error:
        # Not the whole error: it would name the temporary file beside the path.
        raise InputError(f"Could not write {path}: {error.strerror}. Nothing was left behind.") from error


def report_page(detector: GLASS, graphs: GraphSet, *, alpha: float = 0.05) -> str:
    """The report as one string of HTML."""
    scores = detector.decision_function(graphs)
    p_values = conformal_p_values(scores, detector.decision_scores_)
    flagged = p_values <= alpha
    order = np.argsort(-scores, kind="stable")
    threshold = _smallest_flagged(detector.decision_scores_, alpha)
    known, places = detector.map_positions(graphs)
    style = files("graphglass.report").joinpath("style.css").read_text(encoding="utf-8")
    history = () if detector.embedder_ is None else detector.embedder_.graph.history.loss
    summary = (
        f"{int(flagged.sum())} flagged: their p-value, the chance that a normal graph scores as high, is at most "
        f"{alpha:g}. Higher scores are more abnormal."
    )
    made_by = f"GraphGlass {__version__}, preset {detector.preset}."
    histogram = score_distribution(detector.decision_scores_, scores, threshold)
    plotted = sphere_map(known, places, flagged, graphs.ids)
    about_scores = (
        "Normal references (left out one at a time) in grey, the graphs of this report in colour; bars show shares of "
        "each group."
    )
    about_map = "Distances on the plane follow the distances that decide the score; flagged graphs are red."
    against = counted(detector.scorer_.reference_count, "normal reference")
    title = f"{counted(len(graphs), 'graph')} against {against}"
    sections = [
        f"<h1>{title}</h1><p>{escape(summary)}</p>",
        f'<div class="pair"><div class="card"><h3>Scores</h3><p>{about_scores}</p>{histogram}</div>',
        f'<div class="card"><h3>Map</h3><p>{about_map}</p>{plotted}</div></div>',
        f"<h2>Ranking</h2>{_ranking(graphs, scores, p_values, flagged, order)}",
        f"<h2>The {min(EXPLAINED, len(graphs))} most abnormal graphs, explained</h2>",
        *(_explained(detector, graphs[int(index)]) for index in order[:EXPLAINED]),
        f'<h2>Training</h2><div class="card">{loss_curve(history)}</div>' if history else "",
        f"<p>{escape(made_by)}</p>",
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>GraphGlass report</title>'
        f"<style>{style}</style></head><body>{''.join(sections)}</body></html>"
    )


def _smallest_flagged(reference_scores: NDArray[np.float64], alpha: float) -> float:
    """The lowest score with a p-value of at most alpha; infinite where there are too few references for one."""
    ordered = np.sort(reference_scores)[::-1]
    allowed = int(np.floor(alpha * (len(ordered) + 1))) - 1
    return float(ordered[allowed]) if 0 <= allowed < len(ordered) else float("inf")


def _ranking(
    graphs: GraphSet,
    scores: NDArray[np.float64],
    p_values: NDArray[np.float64],
    flagged: NDArray[np.bool_],
    order: NDArray[np.int64],
) -> str:
    rows = "".join(
        f"<tr><td>{rank}</td><td>{escape(graphs.ids[i])}</td><td>{scores[i]:.4f}</td><td>{p_values[i]:.4f}</td>"
        f"<td>{'<span class=flag>flagged</span>' if flagged[i] else ''}</td>"
        f"<td>{graphs.sizes[i]}</td><td>{graphs.edge_counts[i]}</td></tr>"
        for rank, i in enumerate(order[:_MOST_ROWS], start=1)
    )
    heads = "".join(f"<th>{name}</th>" for name in ("rank", "id", "score", "p-value", "", "nodes", "edges"))
    rest = f"<p>{len(order) - _MOST_ROWS} more are not shown.</p>" if len(order) > _MOST_ROWS else ""
    return f'<div class="card scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{rest}'


def _explained(detector: GLASS, graph: GraphSet) -> str:
    explanation = detector.explain(graph)
    references = detector.references_.graphs
    normal = [
        f"<figure>{draw_graph(references[references.ids.index(item.id)])}<figcaption>normal {escape(item.id)}, "
        f"similarity {item.similarity:.3f}</figcaption></figure>"
        for item in explanation.neighbours[:_NEIGHBOURS]
    ]
    picture = f"<figure>{draw_graph(graph, explanation.node_attribution)}<figcaption>this graph</figcaption></figure>"
    bars = sorted(explanation.contributions.items(), key=lambda item: -item[1])
    return (
        f'<div class="card"><h3>{escape(explanation.id)}</h3><p>Score {explanation.score:.4f}, p-value '
        f'{explanation.p_value:.4f}.</p><div class="pictures">{picture}{"".join(normal)}</div>{_LEGEND}'
        f'<div class="pair"><div>{_words(explanation)}</div><div>{contribution_bars(bars)}</div></div></div>'
    )


def _words(explanation: Explanation) -> str:
    if not explanation.reasons:
        return "<p>No field lies outside the usual range.</p>"
    items = "".join(f"<li>{escape(reason)}</li>" for reason in explanation.reasons[:6])
    return f"<p>Outside the usual range, the most unusual first:</p><ul>{items}</ul>"
