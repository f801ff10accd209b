"""glass references: look at and change the normal graphs a model measures against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.reading_options import Reading, reads_graphs
from graphglass.wording import counted

app = typer.Typer(invoke_without_command=True, no_args_is_help=True)


@app.callback()
def references(
    ctx: typer.Context, model: Annotated[Path, typer.Argument(help="A directory `glass fit` wrote.")]
) -> None:
    """List, add, remove or replace a model's normal references; encoders stay as they are.

    Without a command, the references are listed.
    """
    ctx.obj = model
    if ctx.invoked_subcommand is None:
        show(ctx)


@app.command("list")
def show(ctx: typer.Context) -> None:
    """Print the id and leave-one-out score of every reference."""
    from graphglass.detector.glass import GLASS

    detector = GLASS.load(ctx.obj)
    for identifier, value in zip(detector.references_.graphs.ids, detector.decision_scores_, strict=True):
        typer.echo(f"{identifier}\t{value:.6f}")


@app.command()
@reads_graphs
def add(
    ctx: typer.Context,
    graphs: Annotated[Path, typer.Argument(help="Trusted normal graphs.")],
    *,
    reading: Reading,
) -> None:
    """Add trusted normal graphs (few-shot calibration)."""
    from graphglass.detector.glass import GLASS

    detector = GLASS.load(ctx.obj)
    trusted = reading.read(graphs)
    detector.add_references(trusted).save(ctx.obj)
    typer.echo(f"Added {counted(len(trusted), 'reference')}; {ctx.obj} now has {len(detector.references_)}.")


@app.command()
def remove(ctx: typer.Context, ids: Annotated[list[str], typer.Argument(help="Ids to take out.")]) -> None:
    """Remove references by id."""
    from graphglass.detector.glass import GLASS

    detector = GLASS.load(ctx.obj)
    detector.remove_references(ids).save(ctx.obj)
    typer.echo(f"Removed {counted(len(set(ids)), 'reference')}; {ctx.obj} now has {len(detector.references_)}.")


@app.command()
@reads_graphs
def replace(
    ctx: typer.Context,
    graphs: Annotated[Path, typer.Argument(help="The new normal set.")],
    *,
    reading: Reading,
) -> None:
    """Put another normal set in place of the references: the model moves to a new domain without retraining."""
    from graphglass.detector.glass import GLASS

    moved = GLASS.load(ctx.obj).with_references(reading.read(graphs))
    moved.save(ctx.obj)
    typer.echo(f"{ctx.obj} now measures against {counted(moved.scorer_.reference_count, 'reference')}.")
