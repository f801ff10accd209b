"""glass encoders: which text encoders are available."""

from __future__ import annotations

import typer

app = typer.Typer()


@app.command()
def encoders() -> None:
    """List text encoders, what each needs, and whether it would load on this machine."""
    from graphglass.cli.console import print_table
    from graphglass.glass.encoders.catalogue import catalogue

    rows = [(item.name, "yes" if item.ready else "no", item.dimension, item.reads, item.needs) for item in catalogue()]
    print_table(None, ("encoder", "ready", "dimension", "reads", "needs"), rows)
