"""glass references: list and change the normal graphs and known anomalies that a model compares with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphglass.cli.option_groups import existing_model
from graphglass.cli.reading_options import Reading, reads_graphs
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.detector.reference_detector import ReferenceDetector

ANOMALOUS = Annotated[bool, typer.Option("--anomalous", help="Known anomalies instead of normal references.")]
app = typer.Typer(invoke_without_command=True, no_args_is_help=True)


@app.callback()
def references(
    ctx: typer.Context, model: Annotated[Path, typer.Argument(help="A directory `glass fit` wrote.")]
) -> None:
    """List, add, remove or replace a model's normal references and known anomalies; nothing is trained.

    Without a command, the references are listed.
    """
    ctx.obj = model
    if ctx.invoked_subcommand is None:
        show(ctx)


@app.command("list")
def show(ctx: typer.Context) -> None:
    """Print the id and leave-one-out score of every reference, then the ids of the known anomalies.

    Of a very large set, a sample of the references has leave-one-out scores; the others are not listed.
    """
    detector = _load(ctx)
    for identifier, value in zip(detector.references_.graphs.ids, detector.decision_scores_, strict=True):
        typer.echo(f"{identifier}\t{value:.6f}")
    if others := detector.scorer_.reference_count - len(detector.references_):
        typer.echo(f"Not listed: {counted(others, 'reference')} without a leave-one-out score.", err=True)
    for identifier in () if detector.anomalies_ is None else detector.anomalies_.graphs.ids:
        typer.echo(f"{identifier}\tanomaly")


@app.command()
@reads_graphs
def add(
    ctx: typer.Context,
    graphs: Annotated[Path, typer.Argument(help="Trusted normal graphs, or known anomalies.")],
    anomalous: ANOMALOUS = False,
    *,
    reading: Reading,
) -> None:
    """Add trusted normal graphs (few-shot calibration) or known anomalies.

    A known anomaly that equals a reference is skipped with a warning; --strict refuses it.
    """
    with _changing(ctx) as detector:
        added = reading.read(graphs, detector=detector)
        if anomalous:
            detector.add_anomalies(added, strict=reading.strict)
        else:
            detector.add_references(added)
        detector.save(ctx.obj)
    typer.echo(f"{ctx.obj} now has {_sides(detector)}.")


@app.command()
def remove(
    ctx: typer.Context,
    ids: Annotated[list[str], typer.Argument(help="Ids to remove.")],
    anomalous: ANOMALOUS = False,
) -> None:
    """Remove references or known anomalies by id."""
    with _changing(ctx) as detector:
        (detector.remove_anomalies if anomalous else detector.remove_references)(ids)
        detector.save(ctx.obj)
    typer.echo(f"{ctx.obj} now has {_sides(detector)}.")


@app.command()
@reads_graphs
def replace(
    ctx: typer.Context,
    graphs: Annotated[Path, typer.Argument(help="The new normal set.")],
    *,
    reading: Reading,
) -> None:
    """Replace the references by another normal set: the model moves to a new domain without retraining."""
    with _changing(ctx) as detector:
        moved = detector.with_references(reading.read(graphs))
        moved.save(ctx.obj)
    typer.echo(f"{ctx.obj} now measures against {counted(moved.scorer_.reference_count, 'reference')}.")


def _sides(detector: ReferenceDetector) -> str:
    known = 0 if detector.anomalies_ is None else len(detector.anomalies_)
    anomalies = f" and {counted(known, 'known anomaly', 'known anomalies')}" if known else ""
    return f"{counted(detector.scorer_.reference_count, 'reference')}{anomalies}"


@contextmanager
def _changing(ctx: typer.Context) -> Iterator[ReferenceDetector]:
    """The model, locked until the change is saved: of two changes at once, the second starts from the first."""
    from graphglass.files.atomic import locked

    with locked(_local(ctx)):
        yield _load(ctx)


def _load(ctx: typer.Context) -> ReferenceDetector:
    """The model; its path is checked here, not when it is parsed: ``--help`` needs no model."""
    from graphglass.detector.reference_detector import ReferenceDetector

    return ReferenceDetector.load(_local(ctx))


def _local(ctx: typer.Context) -> Path:
    from graphglass.files.save import refuse_url

    refuse_url(ctx.obj)
    return Path(existing_model(ctx.obj))
