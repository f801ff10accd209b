"""glass outliers: the most unusual graphs of one file, without labels or a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.option_groups import ALPHA, EXPLAIN, KEEP, QUIET
from graphglass.cli.reading_options import Reading, reads_graphs

app = typer.Typer()


@app.command()
@reads_graphs
def outliers(
    graphs: Annotated[Path, typer.Argument(help="Graphs, most of them normal.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="ranked.csv, .parquet or .jsonl.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a self-contained HTML report.")] = None,
    explain: EXPLAIN = None,
    keep: KEEP = None,
    repeats: Annotated[
        str, typer.Option(help="How equal graphs count: once, keep (each is an observation) or auto.")
    ] = "auto",
    alpha: ALPHA = 0.05,
    top: Annotated[int, typer.Option(min=0, help="Rows of the ranking to print.")] = 20,
    quiet: QUIET = False,
    *,
    reading: Reading,
) -> None:
    """Rank the graphs of one file by how unusual each is among the others.

    Every graph is compared with all others of the file (leave-one-out). Nothing is trained, and no labels are needed.
    """
    from graphglass.channels.profiled_graphs import measure_graphs
    from graphglass.cli.rows import nothing_flaggable, show_ranking
    from graphglass.detector.graphglass import GraphGlass
    from graphglass.files.output_file import refuse_unless_writable
    from graphglass.files.rows import SUFFIXES

    for written, suffixes in ((output, SUFFIXES), (report, (".html", ".htm"))):
        if written is not None:
            refuse_unless_writable(written, suffixes, inputs=(graphs, reading.nodes))
    measured = measure_graphs(reading.report(graphs, keep=keep).graphs.without_labels(), progress=not quiet)
    detector = GraphGlass(repeats=repeats, verbose=not quiet).fit(measured)
    # Graphs that count once still have a row each: all of them equal a reference, and have its leave-one-out score.
    table = detector.score_table(measured if detector.scorer_.repeated else None, alpha=alpha)
    if warning := nothing_flaggable(alpha, len(detector.decision_scores_) - 1):
        typer.echo(warning, err=True)
    show_ranking(table, output, top)
    if report is not None:
        from graphglass.report.page import write_report

        write_report(detector, table, report, explained=explain, about={"Graphs": str(graphs)})
        typer.echo(f"Wrote the report to {report}.")
