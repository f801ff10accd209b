"""glass encoders: which text encoders are available, and how well one reads numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphglass.cli.reading_options import Reading, reads_graphs

if TYPE_CHECKING:
    from graphglass.graphs.graph_set import GraphSet

app = typer.Typer(help="List text encoders, or measure one.")


@app.callback(invoke_without_command=True)
def encoders(context: typer.Context) -> None:
    """List text encoders, or measure one."""
    if context.invoked_subcommand is None:
        list_encoders()


@app.command("list")
def list_encoders() -> None:
    """Every encoder, what it needs, and whether it would load on this machine."""
    from graphglass.cli.console import print_table
    from graphglass.glass.encoders.catalogue import catalogue

    rows = [(item.name, "yes" if item.ready else "no", item.dimension, item.reads, item.needs) for item in catalogue()]
    print_table(None, ("encoder", "ready", "dimension", "reads", "needs"), rows)


@app.command()
@reads_graphs
def check(
    name: Annotated[str, typer.Argument(help="numeric, minilm, a hub name, a directory, or http://host/v1#model.")],
    graphs: Annotated[Path | None, typer.Option(help="Measure on these graphs instead of random ones.")] = None,
    count: Annotated[int, typer.Option(min=20, help="Largest number of graphs to measure on.")] = 400,
    style: Annotated[str, typer.Option(help="digits or levels.")] = "digits",
    *,
    reading: Reading,
) -> None:
    """Load an encoder and measure its speed and how well it represents numbers."""
    from time import perf_counter

    from graphglass.glass.encoders.text_encoder import load_encoder
    from graphglass.glass.prompt.graphdp import graphdp
    from graphglass.glass.prompt.legibility import legibility
    from graphglass.structure.profile import profile

    start = perf_counter()
    encoder = load_encoder(name)
    loaded = perf_counter() - start
    measured = (_random_graphs(count) if graphs is None else reading.read(graphs))[:count]
    prompts = graphdp(profile(measured), style=style)
    encoder.encode(prompts[:1])
    start = perf_counter()
    rows = encoder.encode(prompts, progress=True)
    rate = len(prompts) / (perf_counter() - start)
    found = legibility(rows, prompts)
    spearman = ", ".join(f"{value:.2f} at {width}" for width, value in found.spearman.items())
    origin = encoder.fingerprint
    typer.echo(f"encoder     {origin.name} ({origin.revision}), dimension {encoder.dimension}")
    typer.echo(f"weights     {origin.weights or 'none'}")
    typer.echo(f"loaded in   {loaded:.2f} s")
    typer.echo(f"rate        {rate:,.0f} prompts a second ({len(prompts)} prompts, style {style})")
    typer.echo(f"Spearman    {spearman}")
    typer.echo(f"read-out    R^2 {found.read_out:.2f}")


def _random_graphs(count: int) -> GraphSet:
    """Graphs of many sizes and densities, the same ones every time."""
    import numpy as np

    from graphglass.graphs.canonical import canonical_graph_set

    generator = np.random.default_rng(0)
    sizes = np.exp(generator.uniform(np.log(5), np.log(200), count)).astype(int)
    sources, targets, offset = [], [], 0
    for size in sizes:
        # A random tree, then random edges: sparse and connected up to dense.
        extra = generator.integers(0, size, (2, generator.integers(0, 4 * size)))
        sources += [offset + np.arange(1, size), offset + extra[0]]
        targets += [offset + (generator.random(size - 1) * np.arange(1, size)).astype(int), offset + extra[1]]
        offset += size
    names = tuple(f"random-{i}" for i in range(count))
    return canonical_graph_set(sizes, np.concatenate(sources), np.concatenate(targets), ids=names)
