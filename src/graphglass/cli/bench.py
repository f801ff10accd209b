"""`glass bench`: run the benchmark, render its tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graphglass.cli.clustering import WORKERS
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
CacheOption = Annotated[Path | None, typer.Option("--cache", help="Folder of trained source encoders; else the cache.")]
CLUSTER = Annotated[
    str | None, typer.Option("--cluster", help="local, or a Dask scheduler (tcp://host:8786): cells in parallel.")
]


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


def _run(
    benchmark: str,
    jobs: Any,
    output: Path,
    protocol: str,
    flip: bool,
    data: Any,
    threads: int,
    cluster: str | None = None,
    workers: int | None = None,
) -> None:
    """Open the results folder, run what is missing, say what was done."""
    from contextlib import nullcontext

    from graphglass.bench.records import Purpose, Results
    from graphglass.bench.runner import run_jobs
    from graphglass.cluster.connection import connect

    with nullcontext() if cluster is None else connect(cluster, workers) as client:
        results = Results.create(output, Purpose(benchmark, protocol, flip))
        run = run_jobs(jobs, results, data, threads=threads, client=client)
    there = sum(len(job.cells) for job in jobs) - run
    typer.echo(f"{run} cells run, {there} were there already; results in {output}.", err=True)


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
    cluster: CLUSTER = None,
    workers: WORKERS = None,
) -> None:
    """Single-domain detection, one cell per dataset, method and seed (tab:main_results)."""
    from graphglass.bench.datasets import Datasets, dataset_names
    from graphglass.bench.single import single_jobs

    data = Datasets(data_root)
    names = dataset_names(listed(datasets))
    jobs = single_jobs(data, names, _methods(methods), _protocol(protocol), seeds, flip=flip)
    _run("single", jobs, output, protocol, flip, data, threads, cluster, workers)


@app.command()
def transfer(
    output: OutOption,
    datasets: DatasetsOption = None,
    methods: MethodsOption = "glass,size-knn",
    sources: Annotated[str, typer.Option("--sources", help="Of mol, protein, social, all.")] = "mol,protein,social,all",
    protocol: ProtocolOption = "minority",
    flip: FlipOption = False,
    seeds: SeedsOption = 5,
    data_root: RootOption = None,
    threads: ThreadsOption = 1,
    cache: CacheOption = None,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
) -> None:
    """Train on a source domain, score targets with source and with target references (tab:cross)."""
    from graphglass.bench.datasets import Datasets, dataset_names
    from graphglass.bench.source_models import SourceEncoders
    from graphglass.bench.transfer import POOLS, transfer_jobs

    pools = listed([sources]) or []
    for pool in pools:
        if pool not in POOLS:
            raise BenchError(f"Unknown source {pool!r}. The sources are: {', '.join(POOLS)}.")
    data = Datasets(data_root, keep=12)
    names = dataset_names(listed(datasets))
    encoders = SourceEncoders(cache)
    jobs = transfer_jobs(
        data, names, _methods(methods), _protocol(protocol), seeds, flip=flip, sources=pools, encoders=encoders
    )
    _run("transfer", jobs, output, protocol, flip, data, threads, cluster, workers)


@app.command("few-shot")
def few_shot(
    output: OutOption,
    datasets: DatasetsOption = None,
    methods: MethodsOption = "glass,size-knn",
    protocol: ProtocolOption = "minority",
    flip: FlipOption = False,
    seeds: SeedsOption = 5,
    data_root: RootOption = None,
    threads: ThreadsOption = 1,
    cache: CacheOption = None,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
) -> None:
    """Add 0 to 32 and all trusted target normals to source references (tab:fewshot)."""
    from graphglass.bench.datasets import Datasets, dataset_names
    from graphglass.bench.few_shot import SOURCES, few_shot_jobs
    from graphglass.bench.source_models import SourceEncoders

    data = Datasets(data_root, keep=7)
    names = dataset_names(listed(datasets) or SOURCES)
    encoders = SourceEncoders(cache)
    jobs = few_shot_jobs(data, names, _methods(methods), _protocol(protocol), seeds, flip=flip, encoders=encoders)
    _run("few-shot", jobs, output, protocol, flip, data, threads, cluster, workers)


@app.command()
def private(
    output: OutOption,
    datasets: DatasetsOption = None,
    methods: Annotated[str, typer.Option("--methods", help="How encoders are trained: glass, glass-paper.")] = "glass",
    sources: Annotated[str, typer.Option("--sources", help="Of mol, protein.")] = "mol,protein",
    protocol: ProtocolOption = "minority",
    flip: FlipOption = False,
    seeds: SeedsOption = 4,
    data_root: RootOption = None,
    threads: ThreadsOption = 1,
    cache: CacheOption = None,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
) -> None:
    """Simulated private summaries of target references (tab:dp_main and the tables after it)."""
    from graphglass.bench.datasets import Datasets, dataset_names
    from graphglass.bench.private import private_jobs
    from graphglass.bench.source_models import SourceEncoders

    pools = listed([sources]) or []
    for pool in pools:
        if pool not in ("mol", "protein"):
            raise BenchError(f"Unknown source {pool!r}. The sources are: mol, protein.")
    data = Datasets(data_root, keep=12)
    names, encoders = dataset_names(listed(datasets)), SourceEncoders(cache)
    jobs = private_jobs(
        data, names, _methods(methods), _protocol(protocol), seeds, flip=flip, sources=pools, encoders=encoders
    )
    _run("private", jobs, output, protocol, flip, data, threads, cluster, workers)


@app.command()
def scoring(
    output: OutOption,
    datasets: DatasetsOption = None,
    methods: MethodsOption = "glass-paper",
    protocol: ProtocolOption = "minority",
    flip: FlipOption = False,
    seeds: SeedsOption = 5,
    data_root: RootOption = None,
    threads: ThreadsOption = 1,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
) -> None:
    """The scoring rules on one trained model (tab:scoring)."""
    from graphglass.bench.datasets import Datasets, dataset_names
    from graphglass.bench.scoring import DATASETS, scoring_jobs

    data = Datasets(data_root)
    names = dataset_names(listed(datasets) or DATASETS)
    jobs = scoring_jobs(data, names, _methods(methods), _protocol(protocol), seeds, flip=flip)
    _run("scoring", jobs, output, protocol, flip, data, threads, cluster, workers)


@app.command()
def text(
    output: OutOption,
    encoders: Annotated[str, typer.Option("--encoders", help="Text encoders, with commas.")] = "numeric,minilm",
    datasets: DatasetsOption = None,
    methods: MethodsOption = "glass-paper",
    protocol: ProtocolOption = "minority",
    flip: FlipOption = False,
    seeds: SeedsOption = 5,
    data_root: RootOption = None,
    threads: ThreadsOption = 1,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
) -> None:
    """Text encoders side by side (tab:scale); Qwen3 rows run wherever the weights are."""
    from graphglass.bench.datasets import Datasets, dataset_names
    from graphglass.bench.text import text_jobs

    data = Datasets(data_root)
    names = dataset_names(listed(datasets))
    chosen = listed([encoders]) or []
    jobs = text_jobs(data, names, _methods(methods), chosen, _protocol(protocol), seeds, flip=flip)
    _run("text", jobs, output, protocol, flip, data, threads, cluster, workers)


@app.command()
def lora(
    output: OutOption,
    encoder: Annotated[str, typer.Option("--encoder", help="A directory that sentence-transformers loads.")],
    datasets: DatasetsOption = None,
    protocol: ProtocolOption = "minority",
    flip: FlipOption = False,
    seeds: SeedsOption = 5,
    data_root: RootOption = None,
    threads: ThreadsOption = 1,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
) -> None:
    """Frozen text anchors against LoRA adapters (tab:lora)."""
    from graphglass.bench.datasets import Datasets, dataset_names
    from graphglass.bench.lora import lora_jobs

    data = Datasets(data_root)
    jobs = lora_jobs(data, dataset_names(listed(datasets)), encoder, _protocol(protocol), seeds, flip=flip)
    _run("lora", jobs, output, protocol, flip, data, threads, cluster, workers)


@app.command()
def table(
    results: Annotated[Path, typer.Argument(help="A results folder, or a folder above several.")],
    protocol: Annotated[str | None, typer.Option("--protocol", help="Only this protocol.")] = None,
    format: Annotated[str, typer.Option("--format", help="md, csv or tex.")] = "md",  # noqa: A002
    metric: Annotated[str, typer.Option("--metric", help="auroc, auprc, fpr95, seconds or memory.")] = "auroc",
    summary: Annotated[
        bool, typer.Option("--summary", help="Averages of all single-domain results, or of a private folder.")
    ] = False,
    into: Annotated[Path | None, typer.Option("--into", help="Put it between the result marks of a page.")] = None,
) -> None:
    """Render the records as tables, the paper's figures beside ours."""
    from graphglass.bench.summary import insert, short_tables
    from graphglass.bench.tables import tables

    if protocol is not None:
        _protocol(protocol)
    if summary:
        found = short_tables(results, protocol or "minority", metric)
    else:
        found = tables(str(results), protocol=protocol, metric=metric)
    rendered = "\n".join(table.render(format) for table in found)
    if into is not None:
        insert(rendered, into)
    else:
        typer.echo(rendered, nl=False)


@app.command()
def plot(
    results: Annotated[Path, typer.Argument(help="A results folder, or a folder above several.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder for the PNGs; else beside.")] = None,
    metric: Annotated[str, typer.Option("--metric", help="auroc, auprc or fpr95.")] = "auroc",
) -> None:
    """Draw one figure per results folder."""
    from graphglass.bench.figures import draw

    for path in draw(results, output, metric):
        typer.echo(path)


@app.command()
def pages(results: Annotated[Path, typer.Argument(help="A folder above the results folders.")]) -> None:
    """Write one Markdown page per results folder and a summary, from the records alone."""
    from graphglass.bench.pages import write_pages

    for path in write_pages(results):
        typer.echo(path)
