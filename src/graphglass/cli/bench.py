"""`glass bench`: run the benchmark, render its tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphglass.errors import BenchError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

DatasetsOption = Annotated[
    list[str] | None, typer.Option("--datasets", help="Dataset names, repeated or comma-separated; all twelve if left out.")
]
MethodsOption = Annotated[str, typer.Option("--methods", help="Comma-separated method names.")]
ProtocolOption = Annotated[str, typer.Option("--protocol", help="minority or good-d.")]
FlipOption = Annotated[bool, typer.Option("--flip", help="Exchange normal and anomalous classes (see docs/benchmark.md).")]
SeedsOption = Annotated[int, typer.Option("--seeds", min=1, help="Seeds 0..N-1; under good-d a seed is a fold.")]
RootOption = Annotated[Path | None, typer.Option("--data-root", help="Folder with the dataset zips; else GRAPHGLASS_DATA.")]
OutOption = Annotated[Path, typer.Option("-o", "--output", help="Results folder; finished cells in it are not run again.")]
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
