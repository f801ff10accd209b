"""How every command reads graphs: one line about what was left out, and --strict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from graphglass.graphs.graph_set import GraphSet

STRICT = Annotated[bool, typer.Option("--strict", help="Stop at the first bad record instead of leaving it out.")]


def read_and_report(path: Path, *, strict: bool) -> GraphSet:
    """Read graphs and print to standard error what was rejected and what was repaired."""
    from graphglass.errors import GraphError
    from graphglass.graphs.read import read_report

    result = read_report(path, strict=strict)
    if not len(result.graphs):
        raise GraphError(f"No graph could be read from {path}: {result.summary()}")
    if result.rejects:
        typer.echo(result.summary(), err=True)
    return result.graphs
