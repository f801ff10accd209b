"""`glass bench`: run the benchmark, render its tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphglass.errors import BenchError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

DatasetsOption = Annotated[
    list[str] | None, typer.Option("--datasets", help="Dataset names, with commas; all of the table if left out.")
]
MethodsOption = Annotated[str, typer.Option("--methods", help="Method names, with commas.")]
ProtocolOption = Annotated[str, typer.Option("--protocol", help="minority or good-d.")]
FlipOption = Annotated[bool, typer.Option("--flip", help="Exchange normal and anomalous classes.")]
SeedsOption = Annotated[int, typer.Option("--seeds", min=1, help="Seeds 0..N-1; under good-d a seed is a fold.")]
RootOption = Annotated[Path | None, typer.Option("--data-root", help="Folder of dataset zips; else GRAPHGLASS_DATA.")]
OutOption = Annotated[Path, typer.Option("-o", "--output", help="Results folder; its finished cells are kept.")]
ThreadsOption = Annotated[int, typer.Option("--threads", min=1, help="Threads per cell.")]


def listed(values: list[str] | None) -> list[str] | None:
    """Names given repeatedly or with commas, as one list; None if there are none."""
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _protocol(name: str) -> str:
    from graphglass.bench.protocols import PROTOCOLS

    if name not in PROTOCOLS:
        raise BenchError(f"Unknown protocol {name!r}. The protocols are: {', '.join(PROTOCOLS)}.")
    return name


def _methods(names: str) -> list[str]:
    from graphglass.bench.methods import factory

    chosen = listed([names]) or []
    for name in chosen:
        factory(name)
    return chosen


@app.callback()
def bench() -> None:
    """Measure detectors under named protocols; every figure can be rebuilt from its records."""


@app.command()
def single(
    output: OutOption,
    datasets: DatasetsOption = None,
    methods: MethodsOption = "glass,size-knn,structure-knn,wl-cosine-knn,pk-svm,pk-if,wl-svm,wl-if",
    protocol: ProtocolOption = "minority",
    flip: FlipOption = False,
    seeds: SeedsOption = 5,
    data_root: RootOption = None,
    threads: ThreadsOption = 1,
) -> None:
    """Single-domain detection, one cell per dataset, method and seed (tab:main_results)."""
    from graphglass.bench.datasets import Datasets, dataset_names
    from graphglass.bench.records import Purpose, Results
    from graphglass.bench.runner import run_jobs
    from graphglass.bench.single import single_jobs

    names, chosen = dataset_names(listed(datasets)), _methods(methods)
    results = Results.create(output, Purpose("single", _protocol(protocol), flip))
    data = Datasets(data_root)
    jobs = single_jobs(data, names, chosen, protocol, seeds, flip=flip)
    run = run_jobs(jobs, results, data, threads=threads)
    typer.echo(f"{run} cells run, {len(jobs) - run} were there already; results in {output}.", err=True)


@app.command()
def table(
    results: Annotated[Path, typer.Argument(help="A results folder, or a folder above several.")],
    protocol: Annotated[str | None, typer.Option("--protocol", help="Only this protocol.")] = None,
    format: Annotated[str, typer.Option("--format", help="md, csv or tex.")] = "md",  # noqa: A002
    metric: Annotated[str, typer.Option("--metric", help="auroc, auprc or fpr95.")] = "auroc",
) -> None:
    """Render the records as tables, the paper's figures beside ours."""
    from graphglass.bench.tables import tables

    if protocol is not None:
        _protocol(protocol)
    found = tables(str(results), protocol=protocol, metric=metric)
    typer.echo("\n".join(table.render(format) for table in found), nl=False)
