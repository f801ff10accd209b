"""glass fit: make a model from normal graphs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from graphglass.cli.clustering import CLUSTER, WORKERS
from graphglass.cli.option_groups import QUIET
from graphglass.cli.reading_options import Reading, reads_graphs

app = typer.Typer()


@app.command()
@reads_graphs
def fit(
    normals: Annotated[list[Path], typer.Argument(help="Normal graphs; several parts with --cluster.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Directory the model is written to.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is already there.")] = False,
    preset: Annotated[str, typer.Option(help="default, or paper for the published recipe.")] = "default",
    encoder: Annotated[str | None, typer.Option(help="Text encoder; `glass encoders` lists them.")] = None,
    domain: Annotated[str, typer.Option(help="Named in the prompts: mol, protein, social or your own.")] = "graph",
    epochs: Annotated[int | None, typer.Option(help="Training epochs; the last one is used.")] = None,
    seed: Annotated[int, typer.Option(help="Equal seeds give identical models.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted fit, bit for bit.")] = False,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
    quiet: QUIET = False,
    *,
    reading: Reading,
) -> None:
    """Fit a detector on normal graphs and save a model that ranks any graph against them.

    Ctrl-C leaves a checkpoint beside the model; the same command with --resume continues from it.
    """
    from graphglass.detector.glass import GLASS
    from graphglass.detector.saved_form import refuse_unless_writable
    from graphglass.errors import InputError

    refuse_unless_writable(output)
    if (output / "manifest.json").exists() and not force:
        raise InputError(f"{output} already holds a model. Add --force to replace it, or name another directory.")
    if len(normals) > 1 and cluster is None:
        raise InputError("Several files need --cluster local; without it, name one file.")
    if cluster is not None:
        reading.refuse_beside_cluster()
    checkpoint = output.with_name(output.name + ".checkpoint")
    detector = GLASS(preset, encoder=encoder, domain=domain, epochs=epochs, random_state=seed, verbose=not quiet)
    options: dict[str, Any] = {"checkpoint": checkpoint, "resume": resume}
    try:
        if cluster is None:
            detector.fit(reading.read(normals[0]), **options)
        else:
            from graphglass.cluster import connect, fit_parts

            def complain(text: str) -> None:
                typer.echo(text, err=True)

            with connect(cluster, workers) as client:
                fit_parts(client, detector, normals, strict=reading.strict, complain=complain, **options)
    except KeyboardInterrupt:
        typer.echo(f"glass: interrupted; the same command with --resume continues from {checkpoint}", err=True)
        raise typer.Exit(130) from None
    detector.verbose = False  # progress belongs to this command, not to everyone who loads the model
    detector.save(output)
    shutil.rmtree(checkpoint, ignore_errors=True)
    count = detector.scorer_.reference_count
    typer.echo(f"Fitted on {count} graphs and saved to {output}. Rank graphs with: glass score {output} QUERIES")
