"""The commands `glass prompt` and `glass encoders`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from graphglass.cli.reading_options import Reading, reads_graphs

app = typer.Typer()

PHASES = Literal["single-reference", "zero-shot-query", "few-shot-reference"]


@app.command()
@reads_graphs
def prompt(
    graphs: Annotated[Path, typer.Argument(help="Graphs in any format GraphGlass reads.")],
    domain: Annotated[str, typer.Option(help="mol, protein, social or a short name of your own.")] = "graph",
    phase: Annotated[PHASES, typer.Option(help="How the embedding will be used.")] = "single-reference",
    style: Annotated[
        Literal["digits", "levels"], typer.Option(help="Numbers as digits, or as levels on public scales.")
    ] = "digits",
    source_domain: Annotated[str | None, typer.Option(help="Where the references came from, in a transfer.")] = None,
    trusted_normal: Annotated[bool, typer.Option("--trusted-normal", help="Mark graphs as trusted normals.")] = False,
    instruction: Annotated[
        Literal["phase-aware", "domain-invariant", "none"], typer.Option(help="The sentence before each query.")
    ] = "phase-aware",
    version: Annotated[int, typer.Option(min=1, max=2, help="2 adds labels, attributes and more structure.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help='One line {"id", "prompt"} per graph.')] = False,
    *,
    reading: Reading,
) -> None:
    """Print the GraphDP of every graph: exactly what an encoder reads."""
    import json

    from graphglass.glass.prompt.graphdp import graphdp
    from graphglass.structure.profile import profile

    read = reading.read(graphs)
    prompts = graphdp(
        profile(read, progress=True),
        domain=domain,
        phase=phase,
        style=style,
        source_domain=source_domain,
        trusted_normal=True if trusted_normal else None,
        instruction=None if instruction == "none" else instruction,
        graphs=read if version == 2 else None,
    )
    for identifier, text in zip(read.ids, prompts, strict=True):
        # The id names the graph for the reader of a JSON line; it is not part of the prompt.
        typer.echo(json.dumps({"id": identifier, "prompt": text}, ensure_ascii=False) if as_json else text)


@app.command()
def encoders() -> None:
    """List text encoders, what each needs, and whether it would load on this machine."""
    from graphglass.cli.console import print_table
    from graphglass.glass.encoders.catalogue import catalogue

    rows = [(item.name, "yes" if item.ready else "no", item.dimension, item.reads, item.needs) for item in catalogue()]
    print_table(None, ("encoder", "ready", "dimension", "reads", "needs"), rows)
