"""glass compare: how two models rank the same graphs, which graphs move most, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from graphglass.cli.labels import LABEL_COLUMN, NORMAL, anomalous, aurocs
from graphglass.cli.option_groups import ALPHA, JSON, MODEL, QUIET
from graphglass.cli.reading_options import Reading, reads_graphs
from graphglass.errors import InputError
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.detector.glass import GLASS
    from graphglass.detector.known_queries import LeftOut
    from graphglass.graphs.graph_set import GraphSet

app = typer.Typer()


@app.command()
@reads_graphs
def compare(
    model_a: MODEL,
    model_b: MODEL,
    graphs: Annotated[Path, typer.Argument(help="Graphs that both models rank.")],
    label_column: LABEL_COLUMN = None,
    normal: NORMAL = None,
    alpha: ALPHA = 0.05,
    top: Annotated[int, typer.Option(min=0, help="Number of graphs to list, those that moved most first.")] = 10,
    as_json: JSON = False,
    quiet: QUIET = False,
    *,
    reading: Reading,
) -> None:
    """Compare two models: rank correlation, changed flags, and the graphs whose rank moved most, with the reason.

    The reason is how much more or less each family of channels adds to the score. Graphs that are references of a
    model are ranked by their leave-one-out scores; those without one, of a very large set, are left out. With
    --label-column and --normal, the AUROC of both models is printed as well.
    """
    from graphglass.cli.console import print_line, print_table
    from graphglass.detector.glass import GLASS

    pair = GLASS.load(model_a), GLASS.load(model_b)
    read = reading.read(graphs, label_column=label_column)
    truth = anomalous(read, label_column, normal, graphs)
    for detector in pair:
        detector.verbose = not quiet
    found, (a, b) = comparison(pair, read.without_labels(), alpha, top)
    if areas := aurocs(truth, a, b):
        found["auroc"] = areas
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    correlation = "undefined" if found["spearman"] is None else f"{found['spearman']:.4f}"
    if left := len(read) - found["graphs"]:
        print_line(f"Left out: {counted(left, 'reference')} without a leave-one-out score.")
    print_line(f"{counted(found['graphs'], 'graph')}, rank correlation (Spearman) {correlation}.")
    print_line(
        f"Flagged at {alpha:g}: {found['flagged'][0]} by A, {found['flagged'][1]} by B, {found['both']} by both."
    )
    if "auroc" in found:
        print_line(f"AUROC: A {found['auroc'][0]:.4f}, B {found['auroc'][1]:.4f}.")
    rows = [(move["id"], str(move["rank_a"]), str(move["rank_b"]), move["why"]) for move in found["moved"]]
    if rows:
        print_table("Moved most", ("id", "rank by A", "rank by B", "change of the score by family"), rows)


def comparison(
    pair: tuple[GLASS, GLASS], graphs: GraphSet, alpha: float, top: int
) -> tuple[dict[str, Any], tuple[LeftOut, LeftOut]]:
    """Two rankings of the same graphs side by side: what is printed of them, and the scores of each model."""
    from scipy.stats import rankdata

    from graphglass.channels.calibration import conformal_p_values
    from graphglass.detector.known_queries import left_out_scores

    a, b = (left_out_scores(detector.scorer_, graphs, detector.decision_function(graphs)) for detector in pair)
    kept = np.flatnonzero(~(a.unscored | b.unscored))
    if not len(kept):
        raise InputError(
            "Every graph is a reference without a leave-one-out score. Compare the models on other graphs."
        )
    graphs, scores = graphs[kept], [a.scores[kept], b.scores[kept]]
    flags = [conformal_p_values(scores[i], pair[i].decision_scores_) <= alpha for i in (0, 1)]
    ranks = [rankdata(-values, method="ordinal") for values in scores]
    moved = np.argsort(-np.abs(ranks[1] - ranks[0]), kind="stable")[:top]
    moved = moved[ranks[0][moved] != ranks[1][moved]]
    reasons = _reasons(pair, graphs[moved], [a.own[kept][moved], b.own[kept][moved]]) if len(moved) else []
    found = {
        "spearman": _rank_correlation(*scores),
        "flagged": [int(flag.sum()) for flag in flags],
        "both": int((flags[0] & flags[1]).sum()),
        "graphs": len(kept),
        "moved": [
            {
                "id": graphs.ids[i],
                "rank_a": int(ranks[0][i]),
                "rank_b": int(ranks[1][i]),
                "score_a": float(scores[0][i]),
                "score_b": float(scores[1][i]),
                "why": why,
            }
            for i, why in zip(moved, reasons, strict=True)
        ],
    }
    return found, (a, b)


def _rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Spearman's; None where all scores of a model are equal, which ranks nothing."""
    from scipy.stats import spearmanr

    if len(a) == 1:
        return 1.0
    return None if np.ptp(a) == 0 or np.ptp(b) == 0 else float(spearmanr(a, b).statistic)


def _reasons(pair: tuple[GLASS, GLASS], graphs: GraphSet, own: list[NDArray[np.bool_]]) -> list[str]:
    """For every graph the families whose contribution to the score changed most.

    `own` marks the references of either model. Their contributions, unlike their ranks, include the reference itself.
    """
    change: dict[str, NDArray[np.float64]] = {}
    for detector, sign in zip(pair, (-1, 1), strict=True):
        for name, values in detector.contributions(graphs).items():
            family = name.partition(":")[0]
            change[family] = change.get(family, 0) + sign * values
    reasons = []
    for i in range(len(graphs)):
        largest = sorted(change, key=lambda name: (-abs(change[name][i]), name))[:3]
        models = " and ".join(name for name, mine in zip("AB", own, strict=True) if mine[i])
        families = ", ".join(f"{name} {change[name][i]:+.2f}" for name in largest)
        reasons.append(f"{families} (reference of {models})" if models else families)
    return reasons
