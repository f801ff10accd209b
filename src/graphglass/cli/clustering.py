"""The --cluster option: run a job over parts, print a summary, fail if a part did."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.cluster.parts import Outcome

CLUSTER = Annotated[
    str | None, typer.Option("--cluster", help="local, or a Dask scheduler (tcp://host:8786): one result per part.")
]
WORKERS = Annotated[int | None, typer.Option("--workers", min=1, help="Processes of a local cluster.")]


def run_parts(
    cluster: str, workers: int | None, job: str, run: Callable[..., list[Outcome]], *arguments: Any, **options: Any
) -> None:
    """Connect, run, print a summary; exit code 1 if any part failed, after all the others finished."""
    from graphglass.cluster.connection import connect

    with connect(cluster, workers) as client:
        outcomes = run(client, *arguments, **options)
    failed = [outcome for outcome in outcomes if outcome.error]
    skipped = sum(outcome.skipped for outcome in outcomes)
    graphs, rejected = sum(item.graphs for item in outcomes), sum(item.rejected for item in outcomes)
    typer.echo(
        f"{job}: {counted(len(outcomes) - len(failed) - skipped, 'part')} done ({counted(graphs, 'graph')}, "
        f"{counted(rejected, 'record')} rejected), {skipped} already done, {len(failed)} failed."
    )
    for outcome in outcomes:
        if outcome.rejects:
            typer.echo(outcome.rejects, err=True)
    for outcome in failed:
        typer.echo(f"glass: {outcome.error}", err=True)
    if failed:
        raise typer.Exit(1)
