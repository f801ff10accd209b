"""glass cache: the embeddings kept on disk."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="The embeddings kept on disk, so that no prompt is encoded twice.")


@app.command()
def info() -> None:
    """Where the cache is, how large, and how many rows each encoder has in it."""
    from graphglass.language.cache import EmbeddingCache

    found = EmbeddingCache().info()
    typer.echo(f"{found.path}: {found.bytes_used / 2**20:.1f} of at most {found.limit_bytes / 2**20:,.0f} MiB")
    for name, rows in sorted(found.rows.items()):
        typer.echo(f"  {rows:>10,}  {name}")


@app.command()
def clear(yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False) -> None:
    """Remove every kept embedding; they are made again when needed."""
    from graphglass.language.cache import EmbeddingCache

    cache = EmbeddingCache()
    if not yes:
        typer.confirm(f"Remove {cache.path}?", abort=True)
    typer.echo(f"Freed {cache.clear() / 2**20:.1f} MiB.")
