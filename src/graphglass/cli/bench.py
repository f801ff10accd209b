"""`glass bench`: run the benchmark, render its tables and figures."""

# Annotations are evaluated here: the fields of Run become options of every command that runs cells.
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphglass.cli.clustering import WORKERS
from graphglass.cli.option_groups import takes
from graphglass.errors import BenchError

if TYPE_CHECKING:
    from graphglass.bench.datasets import Datasets

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

MethodsOption = Annotated[str, typer.Option("--methods", help="Method names, with commas.")]
CacheOption = Annotated[Path | None, typer.Option("--cache", help="Folder of trained source encoders; else the cache.")]


@dataclass(frozen=True)
class Run:
    """What every benchmark that runs cells is told."""

    output: Annotated[Path, typer.Option("-o", "--output", help="Results folder; its finished cells are kept.")]
    datasets: Annotated[
        list[str] | None, typer.Option("--datasets", help="Dataset names, with commas; all of the table if left out.")
    ] = None
    protocol: Annotated[str, typer.Option("--protocol", help="minority or good-d.")] = "minority"
    flip: Annotated[bool, typer.Option("--flip", help="Exchange normal and anomalous classes.")] = False
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Seeds 0..N-1; under good-d a seed is a fold.")] = 5
    data_root: Annotated[
        Path | None, typer.Option("--data-root", help="Folder of dataset zips; else GRAPHGLASS_DATA.")
    ] = None
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads per cell.")] = 1
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="local, or a Dask scheduler (tcp://host:8786): cells in parallel.")
    ] = None
    workers: WORKERS = None

    def names(self, otherwise: Iterable[str] | None = None) -> tuple[str, ...]:
        """The datasets asked for, else those of the paper's table."""
        from graphglass.bench.datasets import dataset_names

        return dataset_names(listed(self.datasets) or otherwise)

    def splits(self) -> dict[str, Any]:
        """Protocol, seeds and direction, as the makers of jobs take them."""
        return {"protocol": _protocol(self.protocol), "seeds": self.seeds, "flip": self.flip}

    def cells(self, benchmark: str, jobs: Any, data: "Datasets") -> None:
        """Open the results folder, run what is missing, say what was done."""
        from contextlib import nullcontext

        from graphglass.bench.records import Purpose, Results
        from graphglass.bench.runner import run_jobs
        from graphglass.cluster.connection import connect

        with nullcontext() if self.cluster is None else connect(self.cluster, self.workers) as client:
            results = Results.create(self.output, Purpose(benchmark, self.protocol, self.flip))
            run = run_jobs(jobs, results, data, threads=self.threads, client=client)
        there = sum(len(job.cells) for job in jobs) - run
        typer.echo(f"{run} cells run, {there} were there already; results in {self.output}.", err=True)


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


def _pools(names: str, known: Sequence[str]) -> list[str]:
    chosen = listed([names]) or []
    for name in chosen:
        if name not in known:
            raise BenchError(f"Unknown source {name!r}. The sources are: {', '.join(known)}.")
    return chosen


@app.callback()
def bench() -> None:
    """Measure detectors under named protocols; every figure can be rebuilt from its records."""


@app.command()
@takes("run", Run)
def single(
    methods: MethodsOption = "glass,size-knn,structure-knn,wl-cosine-knn,pk-svm,pk-if,wl-svm,wl-if", *, run: Run
) -> None:
    """Single-domain detection, one cell per dataset, method and seed (tab:main_results)."""
    from graphglass.bench.datasets import Datasets
    from graphglass.bench.single import single_jobs

    data = Datasets(run.data_root)
    run.cells("single", single_jobs(data, run.names(), _methods(methods), **run.splits()), data)


@app.command()
@takes("run", Run)
def transfer(
    methods: MethodsOption = "glass,size-knn",
    sources: Annotated[str, typer.Option("--sources", help="Of mol, protein, social, all.")] = "mol,protein,social,all",
    cache: CacheOption = None,
    *,
    run: Run,
) -> None:
    """Train on a source domain, score targets with source and with target references (tab:cross)."""
    from graphglass.bench.datasets import Datasets
    from graphglass.bench.source_models import SourceEncoders
    from graphglass.bench.transfer import POOLS, transfer_jobs

    pools, data = _pools(sources, list(POOLS)), Datasets(run.data_root, keep=12)
    options: dict[str, Any] = {"sources": pools, "encoders": SourceEncoders(cache)}
    run.cells("transfer", transfer_jobs(data, run.names(), _methods(methods), **run.splits(), **options), data)


@app.command("few-shot")
@takes("run", Run)
def few_shot(methods: MethodsOption = "glass,size-knn", cache: CacheOption = None, *, run: Run) -> None:
    """Add 0 to 32 and all trusted target normals to source references (tab:fewshot)."""
    from graphglass.bench.datasets import Datasets
    from graphglass.bench.few_shot import SOURCES, few_shot_jobs
    from graphglass.bench.source_models import SourceEncoders

    data, encoders = Datasets(run.data_root, keep=7), SourceEncoders(cache)
    jobs = few_shot_jobs(data, run.names(SOURCES), _methods(methods), **run.splits(), encoders=encoders)
    run.cells("few-shot", jobs, data)


@app.command()
@takes("run", Run, seeds=4)
def private(
    methods: Annotated[str, typer.Option("--methods", help="How encoders are trained: glass, glass-paper.")] = "glass",
    sources: Annotated[str, typer.Option("--sources", help="Of mol, protein.")] = "mol,protein",
    cache: CacheOption = None,
    *,
    run: Run,
) -> None:
    """Simulated private summaries of target references (tab:dp_main and the tables after it)."""
    from graphglass.bench.datasets import Datasets
    from graphglass.bench.private_series import private_jobs
    from graphglass.bench.source_models import SourceEncoders

    pools, data = _pools(sources, ("mol", "protein")), Datasets(run.data_root, keep=12)
    options: dict[str, Any] = {"sources": pools, "encoders": SourceEncoders(cache)}
    run.cells("private", private_jobs(data, run.names(), _methods(methods), **run.splits(), **options), data)


@app.command()
@takes("run", Run)
def scoring(methods: MethodsOption = "glass-paper", *, run: Run) -> None:
    """The scoring rules on one trained model (tab:scoring)."""
    from graphglass.bench.datasets import Datasets
    from graphglass.bench.scoring_rules import DATASETS, scoring_jobs

    data = Datasets(run.data_root)
    run.cells("scoring", scoring_jobs(data, run.names(DATASETS), _methods(methods), **run.splits()), data)


@app.command()
@takes("run", Run)
def text(
    encoders: Annotated[str, typer.Option("--encoders", help="Text encoders, with commas.")] = "numeric,minilm",
    methods: MethodsOption = "glass-paper",
    *,
    run: Run,
) -> None:
    """Text encoders side by side (tab:scale); Qwen3 rows run wherever the weights are."""
    from graphglass.bench.datasets import Datasets
    from graphglass.bench.text_encoders import text_jobs

    data, chosen = Datasets(run.data_root), listed([encoders]) or []
    run.cells("text", text_jobs(data, run.names(), _methods(methods), chosen, **run.splits()), data)


@app.command()
@takes("run", Run)
def lora(
    encoder: Annotated[str, typer.Option("--encoder", help="A directory that sentence-transformers loads.")],
    *,
    run: Run,
) -> None:
    """Frozen text anchors against LoRA adapters (tab:lora)."""
    from graphglass.bench.datasets import Datasets
    from graphglass.bench.lora import lora_jobs

    data = Datasets(run.data_root)
    run.cells("lora", lora_jobs(data, run.names(), encoder, **run.splits()), data)


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
