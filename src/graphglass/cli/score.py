"""glass score: rank graphs against a model's normal references."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.reading import STRICT, read_and_report

app = typer.Typer()


@app.command()
def score(
    model: Annotated[str, typer.Argument(help="A directory `glass fit` wrote, or its URL.")],
    queries: Annotated[Path, typer.Argument(help="Graphs to rank, in any format GraphGlass reads.")],
    references: Annotated[
        Path | None, typer.Option(help="Score against these normal graphs instead; nothing is retrained.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="scores.csv, .parquet or .jsonl")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a self-contained HTML report.")] = None,
    alpha: Annotated[float, typer.Option(help="Flag graphs whose p-value is at most this.")] = 0.05,
    top: Annotated[int, typer.Option(help="Rows of the ranking to print.")] = 20,
    strict: STRICT = False,
) -> None:
    """Rank graphs: score, conformal p-value and flag, the most abnormal first.

    Rows of the output file are in the order of the input.
    """
    import numpy as np

    from graphglass.cli.ranking import print_ranking
    from graphglass.cli.rows import write_rows
    from graphglass.detector.estimator import GLASS
    from graphglass.scoring.calibration import conformal_p_values

    detector = GLASS.load(model)
    detector.verbose = True
    if references is not None:
        detector = detector.with_references(read_and_report(references, strict=strict))
    graphs = read_and_report(queries, strict=strict)
    scores = detector.decision_function(graphs)
    p_values = conformal_p_values(scores, detector.decision_scores_)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    columns = {"id": graphs.ids, "score": scores, "p_value": p_values, "flagged": p_values <= alpha, "rank": ranks}
    if output is not None:
        write_rows(columns, output)
        flagged = int((p_values <= alpha).sum())
        typer.echo(f"Wrote {len(graphs)} scores to {output}; {flagged} flagged at alpha {alpha:g}.")
    else:
        print_ranking(columns, top)
    if report is not None:
        from graphglass.report.page import write_report

        write_report(detector, graphs, report, alpha=alpha)
        typer.echo(f"Wrote the report to {report}.")
