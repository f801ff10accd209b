"""glass cache: what GraphGlass keeps on disk to save time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="What is kept on disk to save time: embeddings, datasets, encoders.")
_FOLDERS = {"graphs": "parsed datasets", "encoders": "trained source encoders and their codes"}


@app.command()
def info() -> None:
    """Where the cache is, how large, and how many embeddings each encoder has in it."""
    from graphglass.files import cache_root
    from graphglass.glass.encoders.embedding_cache import EmbeddingCache

    found = EmbeddingCache().info()
    typer.echo(f"{found.path}: {found.bytes_used / 2**20:.1f} MiB of embeddings")
    for name, rows in sorted(found.rows.items()):
        typer.echo(f"  {rows:>10,}  {name}")
    for folder, what in _FOLDERS.items():
        typer.echo(f"{cache_root() / folder}: {_size(cache_root() / folder) / 2**20:.1f} MiB of {what}")


@app.command()
def clear(yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False) -> None:
    """Remove all cached embeddings, parsed datasets and benchmark encoders; they are rebuilt when needed."""
    import shutil

    from graphglass.files import cache_root
    from graphglass.glass.encoders.embedding_cache import EmbeddingCache

    cache, folders = EmbeddingCache(), [cache_root() / name for name in _FOLDERS]
    if not yes:
        typer.confirm(f"Remove {', '.join(map(str, [cache.path, *folders]))}?", abort=True)
    size = sum(_size(folder) for folder in folders)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    typer.echo(f"Freed {(size + cache.clear()) / 2**20:.1f} MiB.")


def _size(folder: Path) -> int:
    return sum(item.stat().st_size for item in folder.rglob("*") if item.is_file())
