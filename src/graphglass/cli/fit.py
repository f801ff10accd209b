"""glass fit: learn what normal graphs look like."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.clustering import CLUSTER, WORKERS
from graphglass.cli.reading_options import Reading, reads_graphs

app = typer.Typer()


@app.command()
@reads_graphs
def fit(
    normals: Annotated[list[Path], typer.Argument(help="Normal graphs; several parts with --cluster.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Directory the model is written to.")],
    preset: Annotated[str, typer.Option(help="default, or paper for the published recipe.")] = "default",
    encoder: Annotated[str | None, typer.Option(help="Text encoder; `glass encoders` lists them.")] = None,
    domain: Annotated[str, typer.Option(help="Named in the prompts: mol, protein, social or your own.")] = "graph",
    epochs: Annotated[int | None, typer.Option(help="Training epochs; the last one is used.")] = None,
    seed: Annotated[int, typer.Option(help="Equal seeds give identical models.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted fit, bit for bit.")] = False,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
    *,
    reading: Reading,
) -> None:
    """Train on normal graphs and save a model that ranks any graph against them.

    Ctrl-C leaves a checkpoint beside the model; the same command with --resume goes on from it.
    """
    from graphglass.detector.glass import GLASS
    from graphglass.detector.saved_form import refuse_unless_writable
    from graphglass.errors import InputError

    refuse_unless_writable(output)
    if len(normals) > 1 and cluster is None:
        raise InputError("Several files are read with --cluster local; without it, name one.")
    if cluster is not None:
        reading.refuse_beside_cluster()
    checkpoint = output.with_name(output.name + ".checkpoint")
    detector = GLASS(preset, encoder=encoder, domain=domain, epochs=epochs, random_state=seed, verbose=True)
    try:
        if cluster is None:
            detector.fit(reading.read(normals[0]), checkpoint=checkpoint, resume=resume)
        else:
            from graphglass.cluster import connect, fit_parts

            with connect(cluster, workers) as client:
                fit_parts(
                    client,
                    detector,
                    normals,
                    checkpoint=checkpoint,
                    resume=resume,
                    strict=reading.strict,
                    complain=lambda text: typer.echo(text, err=True),
                )
    except KeyboardInterrupt:
        typer.echo(f"glass: interrupted; the same command with --resume continues from {checkpoint}", err=True)
        raise typer.Exit(130) from None
    detector.save(output)
    shutil.rmtree(checkpoint, ignore_errors=True)
    count = detector.scorer_.reference_count
    typer.echo(f"Fitted on {count} graphs and saved to {output}. Rank graphs with: glass score {output} QUERIES")
