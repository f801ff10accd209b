"""glass cache: what GraphGlass keeps on disk to save time."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="What is kept on disk to save time: embeddings and parsed datasets.")


@app.command()
def info() -> None:
    """Where the cache is, how large, and how many embeddings each encoder has in it."""
    from graphglass.graphs.columnar import cache_root
    from graphglass.language.cache import EmbeddingCache

    found = EmbeddingCache().info()
    typer.echo(f"{found.path}: {found.bytes_used / 2**20:.1f} of at most {found.limit_bytes / 2**20:,.0f} MiB")
    for name, rows in sorted(found.rows.items()):
        typer.echo(f"  {rows:>10,}  {name}")
    parsed = cache_root() / "graphs"
    size = sum(item.stat().st_size for item in parsed.rglob("*") if item.is_file())
    typer.echo(f"{parsed}: {size / 2**20:.1f} MiB of parsed datasets")


@app.command()
def clear(yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False) -> None:
    """Remove every kept embedding and parsed dataset; they are made again when needed."""
    import shutil

    from graphglass.graphs.columnar import cache_root
    from graphglass.language.cache import EmbeddingCache

    cache, parsed = EmbeddingCache(), cache_root() / "graphs"
    if not yes:
        typer.confirm(f"Remove {cache.path} and {parsed}?", abort=True)
    size = sum(item.stat().st_size for item in parsed.rglob("*") if item.is_file())
    shutil.rmtree(parsed, ignore_errors=True)
    typer.echo(f"Freed {(size + cache.clear()) / 2**20:.1f} MiB.")
