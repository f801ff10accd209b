"""glass references: look at and change the normal graphs a model measures against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphglass.cli.option_groups import existing_model
from graphglass.cli.reading_options import Reading, reads_graphs
from graphglass.wording import counted

if TYPE_CHECKING:
    from graphglass.detector.glass import GLASS

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
    detector = _load(ctx)
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
    detector = _load(ctx)
    trusted = reading.read(graphs)
    detector.add_references(trusted).save(ctx.obj)
    typer.echo(f"Added {counted(len(trusted), 'reference')}; {ctx.obj} now has {len(detector.references_)}.")


@app.command()
def remove(ctx: typer.Context, ids: Annotated[list[str], typer.Argument(help="Ids to take out.")]) -> None:
    """Remove references by id."""
    detector = _load(ctx)
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
    """Replace the references by another normal set: the model moves to a new domain without retraining."""
    moved = _load(ctx).with_references(reading.read(graphs))
    moved.save(ctx.obj)
    typer.echo(f"{ctx.obj} now measures against {counted(moved.scorer_.reference_count, 'reference')}.")


def _load(ctx: typer.Context) -> GLASS:
    """The model; its path is checked here, not when it is parsed, so that ``--help`` needs no model."""
    from graphglass.detector.glass import GLASS

    return GLASS.load(existing_model(ctx.obj))
