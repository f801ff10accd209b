"""What `glass score --cluster` does: score parts, print a summary, fail if a part did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from graphglass.cluster.connection import connect
from graphglass.cluster.jobs import score_parts
from graphglass.messages import counted


def score_on_cluster(
    cluster: str,
    workers: int | None,
    model: str,
    queries: Sequence[Path],
    output: Path,
    *,
    strict: bool,
    progress: bool,
) -> None:
    """Connect, score, print a summary; exit code 1 if any part failed, after all the others finished."""
    with connect(cluster, workers) as client:
        outcomes = score_parts(client, model, queries, output, strict=strict, progress=progress)
    failed = [outcome for outcome in outcomes if outcome.error]
    skipped = sum(outcome.skipped for outcome in outcomes)
    graphs, rejected = sum(item.graphs for item in outcomes), sum(item.rejected for item in outcomes)
    typer.echo(
        f"score: {counted(len(outcomes) - len(failed) - skipped, 'part')} done ({counted(graphs, 'graph')}, "
        f"{counted(rejected, 'record')} rejected), {skipped} already done, {len(failed)} failed."
    )
    for outcome in outcomes:
        if outcome.rejects:
            typer.echo(outcome.rejects, err=True)
    for outcome in failed:
        typer.echo(f"glass: {outcome.error}", err=True)
    if failed:
        raise typer.Exit(1)
