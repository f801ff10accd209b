"""glass fit: make a model from normal graphs."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphglass.cli.labels import LABEL_COLUMN, NORMAL, anomalous
from graphglass.cli.option_groups import CLUSTER, QUIET, WORKERS, only_file
from graphglass.cli.reading_options import Reading, reads_graphs
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.detector.reference_detector import ReferenceDetector

app = typer.Typer()


def _paper(text: str, *names: str) -> object:
    return typer.Option(*names, help=text, rich_help_panel="With --method glass")


@app.command()
@reads_graphs
def fit(
    normals: Annotated[list[Path], typer.Argument(help="Normal graphs; several parts with --cluster.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Directory the model is written to.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is already there.")] = False,
    anomalies: Annotated[Path | None, typer.Option(help="Known anomalies: graphs near them rank higher.")] = None,
    label_column: LABEL_COLUMN = None,
    normal: NORMAL = None,
    repeats: Annotated[
        str, typer.Option(help="How equal normal graphs count: once, keep (each is an observation) or auto.")
    ] = "auto",
    method: Annotated[str, typer.Option(help="graphglass, or glass for the method of the GLASS paper.")] = "graphglass",
    encoder: Annotated[str | None, _paper("Text encoder; `glass encoders` lists them.")] = None,
    pretrained: Annotated[str | None, _paper("Train nothing: mol, protein, social or all.")] = None,
    domain: Annotated[str | None, _paper("Named in the prompts: mol, protein, social or your own.")] = None,
    epochs: Annotated[int | None, _paper("Training epochs; the last one is used.")] = None,
    device: Annotated[str | None, _paper("Where encoders are trained and run, such as cuda.")] = None,
    seed: Annotated[int | None, _paper("Equal seeds give identical models.")] = None,
    resume: Annotated[bool, _paper("Continue an interrupted fit, bit for bit.", "--resume")] = False,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
    quiet: QUIET = False,
    *,
    reading: Reading,
) -> None:
    """Fit a detector on normal graphs and save a model that ranks any graph against them.

    From a labelled file, --label-column and --normal choose the normal graphs.

    GraphGlass, the default method, trains nothing. With --method glass, Ctrl-C leaves a checkpoint next to the model;
    the same command with --resume continues from it.
    """
    from graphglass.errors import InputError
    from graphglass.files.save import refuse_unless_savable

    refuse_unless_savable(output)
    if (output / "manifest.json").exists() and not force:
        raise InputError(f"{output} already holds a model. Add --force to replace it, or name another directory.")
    reading.refuse_nodes_with("--anomalies", anomalies)
    if cluster is None:
        path = only_file(normals)
    else:
        reading.refuse_with_cluster()
        if label_column or normal:
            raise InputError("--label-column and --normal do not work with --cluster. Split the file first.")
    checkpoint = output.with_name(output.name + ".checkpoint")
    chosen: dict[str, Any] = {
        "encoder": encoder,
        "domain": domain,
        "epochs": epochs,
        "device": device,
        "random_state": seed,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    detector: ReferenceDetector
    if method == "glass":
        from graphglass.glass.estimator import GLASS

        if anomalies is not None:
            raise InputError("--anomalies needs GraphGlass. Leave out --method.")
        if pretrained and (cluster or resume or epochs is not None or seed is not None):
            raise InputError("--pretrained trains nothing. Leave out --epochs, --seed, --resume and --cluster.")
        made = partial(GLASS.pretrained, pretrained) if pretrained else GLASS
        detector = made(**chosen, verbose=not quiet)
        options: dict[str, Any] = {} if pretrained else {"checkpoint": checkpoint, "resume": resume}
    elif method == "graphglass":
        from graphglass.detector.graphglass import GraphGlass

        if chosen or resume or pretrained:
            name = next(iter([*chosen, "pretrained" if pretrained else "resume"])).replace("random_state", "seed")
            raise InputError(f"--{name} is for --method glass. GraphGlass trains nothing.")
        detector, options = GraphGlass(repeats=repeats, verbose=not quiet), {}
    else:
        raise InputError(f"--method must be graphglass or glass, found {method!r}.")
    try:
        if cluster is None:
            graphs = reading.read(path, label_column=label_column)
            if (others := anomalous(graphs, label_column, normal, path)) is not None:
                graphs = graphs[~others]
            detector.fit(graphs.without_labels(), **options)
        else:
            from graphglass.cluster import connect, fit_parts

            with connect(cluster, workers) as client:
                fit_parts(
                    client, detector, normals, strict=reading.strict, complain=partial(typer.echo, err=True), **options
                )
        if anomalies is not None:
            detector.add_anomalies(reading.read(anomalies, detector=detector), strict=reading.strict)
    except KeyboardInterrupt:
        if not options or not checkpoint.exists():
            raise
        typer.echo(f"glass: interrupted; the same command with --resume continues from {checkpoint}", err=True)
        raise typer.Exit(130) from None
    detector.verbose = False  # progress belongs to this command, not to everyone who loads the model
    detector.save(output)
    shutil.rmtree(checkpoint, ignore_errors=True)
    count = f"{detector.scorer_.reference_count} graphs"
    if detector.anomalies_ is not None:
        count += f" and {counted(len(detector.anomalies_), 'known anomaly', 'known anomalies')}"
    typer.echo(f"Fitted on {count} and saved to {output}. Rank graphs with: glass score {output} QUERIES")
