"""`glassbench data`: the benchmark datasets by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from glassbench.tu_catalogue import Verification

app = typer.Typer(no_args_is_help=True, help="List, fetch and verify the twelve TU benchmark datasets.")

Root = Annotated[
    Path | None,
    typer.Option("--data-root", envvar="GRAPHGLASS_DATA", help="Folder with NAME.zip or NAME/ for each dataset."),
]
Names = Annotated[list[str] | None, typer.Argument(help="Dataset names; all of them if none is given.")]


@app.command("list")
def list_datasets(data_root: Root = None) -> None:
    """Every dataset: where it is found here, and its graphs, classes and average nodes and edges."""
    from glassbench.tu_catalogue import CATALOGUE
    from graphglass.cli.console import print_table
    from graphglass.graphs.datasets import bundled_path, find_dataset

    where = f"Data root: {data_root}" if data_root else "No data root: add --data-root FOLDER or set GRAPHGLASS_DATA"
    rows = []
    for entry in CATALOGUE.values():
        path = find_dataset(entry.name, data_root)
        place = path.name if path else "bundled" if bundled_path(entry.name) else "-"
        counts = (entry.graphs, entry.classes, f"{entry.average_nodes:.2f}", f"{entry.average_edges:.2f}")
        rows.append((entry.name, entry.domain, place, *map(str, counts)))
    print_table(where, ("dataset", "domain", "found", "graphs", "classes", "nodes", "edges"), rows)


@app.command("get")
def get_datasets(
    names: Annotated[list[str], typer.Argument(help="Dataset names, or 'all'.")],
    data_root: Root = None,
    site: Annotated[str | None, typer.Option(help="Fetch NAME.zip from this address instead of TU's site.")] = None,
    timeout: Annotated[float, typer.Option(min=1.0, help="Seconds to wait for a server that does not answer.")] = 30.0,
) -> None:
    """Fetch datasets into the data root and verify them; those already there are only verified."""
    from glassbench.tu_catalogue import CATALOGUE, SITE, copy_bundled, dataset_entry, fetch_dataset
    from graphglass.errors import DataError
    from graphglass.graphs.datasets import find_dataset

    if data_root is None:
        raise DataError("No folder to put the datasets in: add --data-root FOLDER or set GRAPHGLASS_DATA.")

    def place(name: str) -> Path:
        path = find_dataset(name, data_root) or copy_bundled(name, data_root)
        if path is None:
            typer.echo(f"fetching {name} ...", err=True)
            path = fetch_dataset(name, data_root, site=site or SITE, timeout=timeout)
        return path

    wanted = list(CATALOGUE) if names == ["all"] else [dataset_entry(name).name for name in names]
    if failed := _failing(wanted, place):
        raise DataError(f"{len(failed)} of {len(wanted)} datasets are not here as they should be: {', '.join(failed)}.")


@app.command("verify")
def verify_datasets(names: Names = None, data_root: Root = None) -> None:
    """Compare datasets with their known sha256 and the counts of the paper's table; either is enough."""
    from glassbench.tu_catalogue import CATALOGUE, dataset_entry
    from graphglass.errors import DataError
    from graphglass.graphs.datasets import bundled_path, find_dataset

    wanted = [dataset_entry(name).name for name in names] if names else list(CATALOGUE)
    found = {name: path for name in wanted if (path := find_dataset(name, data_root) or bundled_path(name))}
    failed = _failing(found, found.__getitem__)
    if absent := [name for name in wanted if name not in found]:
        typer.echo(f"not found: {', '.join(absent)}", err=True)
    if failed or (names and absent):
        raise DataError(f"Not verified: {', '.join([*failed, *(absent if names else [])])}.")


def _failing(names: Iterable[str], place: Callable[[str], Path]) -> list[str]:
    """Print how the dataset at each place compares; the names of those that are not what they should be."""
    from glassbench.tu_catalogue import verify_dataset
    from graphglass.errors import GlassError

    failed = []
    for name in names:
        try:
            check = verify_dataset(name, place(name))
        except GlassError as error:
            failed.append(name)
            typer.echo(f"{name}: {error}", err=True)
            continue
        typer.echo(_line(check))
        if not check.accepted:
            failed.append(name)
    return failed


def _line(check: Verification) -> str:
    found = check.found
    word = "ok" if check.accepted else "WRONG"
    hashed = "sha256 known" if check.hash_matches else "sha256 unknown"
    counted = "counts match" if check.counts_match else "counts differ"
    sizes = f"{found['graphs']:.0f} graphs, {found['classes']:.0f} classes, "
    sizes += f"{found['average_nodes']:.2f} nodes and {found['average_edges']:.2f} edges on average"
    return f"{check.name:14} {word:5} {hashed}, {counted}: {sizes}"
