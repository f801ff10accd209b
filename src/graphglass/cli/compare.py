"""glass compare: how two models rank the same graphs, which graphs move most, and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from graphglass.cli.labels import LABEL_COLUMN, NORMAL, anomalous, aurocs
from graphglass.cli.option_groups import ALPHA, JSON, MODEL, QUIET
from graphglass.cli.reading_options import Reading, reads_graphs
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.detector.reference_detector import ReferenceDetector
    from graphglass.detector.scored_graphs import ScoredGraphs

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
    model are ranked by their leave-one-out scores. With --label-column and --normal, the AUROC of both models on graphs
    that neither knows is printed as well.
    """
    from graphglass.cli.console import print_line, print_table
    from graphglass.detector.reference_detector import ReferenceDetector

    pair = ReferenceDetector.load(model_a), ReferenceDetector.load(model_b)
    read = reading.read(graphs, label_column=label_column)
    truth = anomalous(read, label_column, normal, graphs)
    for detector in pair:
        detector.verbose = not quiet
    tables = [detector.score_table(read.without_labels(), alpha=alpha, anomalous=truth) for detector in pair]
    found = comparison(pair, tables, top)
    if areas := aurocs(truth, *tables):
        found["auroc"] = areas
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    correlation = "undefined" if found["spearman"] is None else f"{found['spearman']:.4f}"
    print_line(f"{counted(found['graphs'], 'graph')}, rank correlation (Spearman) {correlation}.")
    print_line(
        f"Flagged at {alpha:g}: {found['flagged'][0]} by A, {found['flagged'][1]} by B, {found['both']} by both."
    )
    if "auroc" in found:
        print_line(f"AUROC: A {found['auroc'][0]:.4f}, B {found['auroc'][1]:.4f}.")
    rows = [(move["id"], str(move["rank_a"]), str(move["rank_b"]), move["why"]) for move in found["moved"]]
    if rows:
        print_table("Moved most", ("id", "rank by A", "rank by B", "change of the score by family"), rows)


def comparison(pair: Sequence[ReferenceDetector], tables: Sequence[ScoredGraphs], top: int) -> dict[str, Any]:
    """What is printed of two rankings of the same graphs."""
    ranks, flags = [table.ranks for table in tables], [table.flagged for table in tables]
    moved = np.argsort(-np.abs(ranks[1] - ranks[0]), kind="stable")[:top]
    moved = moved[ranks[0][moved] != ranks[1][moved]]
    reasons = _reasons(pair, tables, moved) if len(moved) else []
    return {
        "spearman": _rank_correlation(*(table.scores for table in tables)),
        "flagged": [int(flag.sum()) for flag in flags],
        "both": int((flags[0] & flags[1]).sum()),
        "graphs": len(tables[0]),
        "moved": [
            {
                "id": tables[0].ids[i],
                "rank_a": int(ranks[0][i]),
                "rank_b": int(ranks[1][i]),
                "score_a": float(tables[0].scores[i]),
                "score_b": float(tables[1].scores[i]),
                "why": why,
            }
            for i, why in zip(moved, reasons, strict=True)
        ],
    }


def _rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Spearman's; None where all scores of a model are equal, which ranks nothing."""
    from scipy.stats import spearmanr

    if len(a) == 1:
        return 1.0
    return None if np.ptp(a) == 0 or np.ptp(b) == 0 else float(spearmanr(a, b).statistic)


def _reasons(pair: Sequence[ReferenceDetector], tables: Sequence[ScoredGraphs], moved: NDArray[np.int64]) -> list[str]:
    """For every graph that moved, the families whose contribution to the score changed most.

    Contributions of a reference, unlike its rank, include the reference itself.
    """
    change: dict[str, NDArray[np.float64]] = {}
    for detector, table, sign in zip(pair, tables, (-1, 1), strict=True):
        assert table.measured is not None
        for name, values in detector.contributions(table.measured[moved]).items():
            family = name.partition(":")[0]
            change[family] = change.get(family, 0) + sign * values
    reasons = []
    for i, place in enumerate(moved):
        largest = sorted(change, key=lambda name: (-abs(change[name][i]), name))[:3]
        models = " and ".join(name for name, table in zip("AB", tables, strict=True) if table.reference[place])
        families = ", ".join(f"{name} {change[name][i]:+.2f}" for name in largest)
        reasons.append(f"{families} (reference of {models})" if models else families)
    return reasons
