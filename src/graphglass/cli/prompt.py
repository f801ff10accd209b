"""glass prompt: the text an encoder reads about every graph."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.reading_options import Reading, reads_graphs

app = typer.Typer()


class Phase(StrEnum):
    """How the embedding will be used."""

    single = "single-reference"
    query = "zero-shot-query"
    few = "few-shot-reference"


class Style(StrEnum):
    """How numbers are written."""

    digits = "digits"
    levels = "levels"


class Instruction(StrEnum):
    """The sentence before the query."""

    phase_aware = "phase-aware"
    domain_invariant = "domain-invariant"
    none = "none"


@app.command()
@reads_graphs
def prompt(
    graphs: Annotated[Path, typer.Argument(help="Graphs in any format GraphGlass reads.")],
    domain: Annotated[str, typer.Option(help="mol, protein, social or a short name of your own.")] = "graph",
    phase: Annotated[Phase, typer.Option(help="How the embedding will be used.")] = Phase.single,
    style: Annotated[Style, typer.Option(help="Numbers as digits, or as levels on public scales.")] = Style.digits,
    source_domain: Annotated[str | None, typer.Option(help="Where the references came from, in a transfer.")] = None,
    trusted_normal: Annotated[bool, typer.Option("--trusted-normal", help="They are trusted normals.")] = False,
    instruction: Annotated[Instruction, typer.Option(help="The sentence before each query.")] = Instruction.phase_aware,
    as_json: Annotated[bool, typer.Option("--json", help='One line {"id", "prompt"} per graph.')] = False,
    *,
    reading: Reading,
) -> None:
    """Print the GraphDP of every graph: exactly what the encoder sees."""
    import json

    from graphglass.embedding.prompt.graphdp import graphdp
    from graphglass.structure.profile import profile

    read = reading.read(graphs)
    prompts = graphdp(
        profile(read, progress=True),
        domain=domain,
        phase=phase.value,
        style=style.value,
        source_domain=source_domain,
        trusted_normal=True if trusted_normal else None,
        instruction=None if instruction is Instruction.none else instruction.value,
    )
    for identifier, text in zip(read.ids, prompts, strict=True):
        # The id names the graph for the reader of a JSON line; it is not part of the prompt.
        typer.echo(json.dumps({"id": identifier, "prompt": text}, ensure_ascii=False) if as_json else text)
