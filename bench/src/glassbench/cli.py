"""The `glassbench` command: run the benchmark, render its tables and figures."""

# Annotations are evaluated here: the fields of Run become options of every command that runs cells.
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassbench import data_command
from graphglass.cli.app import run_app
from graphglass.cli.option_groups import QUIET, WORKERS, takes
from graphglass.errors import BenchError

if TYPE_CHECKING:
    from glassbench.jobs import Job
    from glassbench.source_models import SourceEncoders

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(data_command.app, name="data")

METHODS = Annotated[
    str,
    typer.Option("--methods", help="Names with commas; package.module:Class imports and runs a detector of your own."),
]
CACHE = Annotated[Path | None, typer.Option("--cache", help="Folder of trained encoders; default: the cache.")]
RESULTS = Annotated[Path, typer.Argument(help="A results folder, or a folder above several.")]
METRIC = Annotated[str, typer.Option("--metric", help="auroc, auprc, fpr95, seconds or memory.")]


@dataclass(frozen=True)
class Run:
    """The options of every benchmark that runs cells."""

    output: Annotated[Path, typer.Option("-o", "--output", help="Results folder; finished cells are kept.")]
    datasets: Annotated[
        str | None,
        typer.Option("--datasets", help="Names, or files and folders of labelled graphs, with commas; default: all."),
    ] = None
    seeds: Annotated[
        str, typer.Option("--seeds", help="A number of seeds, a range (42-45) or a list (1,3,9); good-d: folds.")
    ] = "5"
    data_root: Annotated[
        Path | None, typer.Option("--data-root", help="Folder of dataset zips; default: GRAPHGLASS_DATA.")
    ] = None
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads per cell.")] = 1
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="local, or a Dask scheduler (tcp://host:8786): cells in parallel.")
    ] = None
    workers: WORKERS = None
    quiet: QUIET = False

    def run(
        self,
        benchmark: str,
        jobs: "Callable[..., list[Job]]",
        names: Iterable[str] | None = None,
        *,
        protocol: str,
        flip: bool = False,
        suite: bool = False,
        in_memory: int = 1,
        methods: Sequence[str] = (),
        encoders: "SourceEncoders | None" = None,
        **options: Any,
    ) -> None:
        """Run the jobs without a record over the datasets asked for, or else ``names``; print how many ran."""
        from contextlib import nullcontext

        from glassbench.datasets import Datasets, dataset_names, own_files
        from glassbench.jobs import Plan
        from glassbench.records import Purpose, Results
        from glassbench.runner import run_jobs
        from graphglass.cluster.connection import connect

        asked = listed(self.datasets) if self.datasets else None
        files = own_files(asked or ())
        data = Datasets(self.data_root, in_memory, files)
        known = names if asked is None else [name for name in asked if Path(name) not in files.values()]
        chosen = (*(dataset_names(known, suite=suite) if asked is None or known else ()), *files)
        # The suite makes its own splits; only the seeds are chosen here.
        splits = "minority" if suite else protocol
        plan = Plan(data, chosen, methods, splits, seed_numbers(self.seeds), flip, encoders)
        made = jobs(plan, **options)
        with nullcontext() if self.cluster is None else connect(self.cluster, self.workers) as client:
            results = Results.create(self.output, Purpose(benchmark, protocol, flip))
            run = run_jobs(made, results, data, threads=self.threads, client=client, progress=not self.quiet)
        there = sum(len(job.cells) for job in made) - run
        typer.echo(f"{run} cells run, {there} already recorded; results in {self.output}.", err=True)


@dataclass(frozen=True)
class SplitRun(Run):
    """The same for benchmarks with a choice of protocol and direction."""

    protocol: Annotated[str, typer.Option("--protocol", help="minority, good-d or authors.")] = "minority"
    flip: Annotated[bool, typer.Option("--flip", help="Exchange normal and anomalous classes.")] = False

    def cells(
        self, benchmark: str, jobs: "Callable[..., list[Job]]", names: Iterable[str] | None = None, **options: Any
    ) -> None:
        """As :meth:`run`, under the protocol, seeds and direction of the options."""
        self.run(benchmark, jobs, names, protocol=self.protocol, flip=self.flip, **options)


def listed(values: str) -> list[str]:
    """Names separated by commas, each once."""
    return list(dict.fromkeys(part.strip() for part in values.split(",") if part.strip()))


def seed_numbers(text: str) -> tuple[int, ...]:
    """Seeds from ``5`` (0 to 4), ``42-45`` (both ends included) or ``1,3,9``; ranges and numbers may be mixed."""
    try:
        if text.strip().isdigit():
            seeds: Iterable[int] = range(int(text))
        else:
            parts = [part.split("-") for part in listed(text)]
            seeds = [seed for part in parts for seed in range(int(part[0]), int(part[-1]) + 1) if len(part) <= 2]
    except ValueError:
        seeds = ()
    if not (chosen := tuple(dict.fromkeys(seeds))):
        raise BenchError(f"--seeds takes a number, a range such as 42-45 or a list such as 1,3,9; found {text!r}.")
    return chosen


def _methods(names: str) -> list[str]:
    from glassbench.methods import factory

    chosen = listed(names)
    if not chosen:
        raise BenchError(f"--methods takes names of methods, separated by commas; found {names!r}.")
    for name in chosen:
        factory(name)
    return chosen


def _pools(names: str, known: Iterable[str]) -> list[str]:
    chosen = listed(names)
    for name in chosen:
        if name not in known:
            raise BenchError(f"Unknown source {name!r}. The sources are: {', '.join(known)}.")
    return chosen


def _trained(methods: str, cache: Path | None) -> dict[str, Any]:
    """The methods by name, and where the encoders of trained ones are kept."""
    from glassbench.source_models import SourceEncoders

    return {"methods": _methods(methods), "encoders": SourceEncoders(cache)}


@app.callback()
def bench() -> None:
    """Measure detectors under named protocols; every figure can be rebuilt from its records."""


@app.command()
@takes("run", SplitRun)
def single(
    methods: METHODS = "graphglass,size-knn,structure-knn,wl-cosine-knn,pk-svm,pk-if,wl-svm,wl-if",
    cache: CACHE = None,
    *,
    run: SplitRun,
) -> None:
    """Single-domain detection, one cell per dataset, method and seed (tab:main_results)."""
    if run.protocol == "authors":
        from glassbench.authors_protocol import authors_jobs

        seeds = "42-46" if run.seeds == "5" else run.seeds
        return replace(run, seeds=seeds).cells("authors", authors_jobs, **_trained(methods, cache))
    from glassbench.single import single_jobs

    run.cells("single", single_jobs, **_trained(methods, cache))


@app.command()
@takes("run", SplitRun)
def choices(
    details: Annotated[
        str,
        typer.Option("--details", help="With commas: all, none, all-but-NAME, or names joined by +."),
    ] = "all",
    *,
    run: SplitRun,
) -> None:
    """GLASS at its last epoch with details of the authors' code, one cell per dataset, choice and seed."""
    from glassbench.authors_choices import choice_jobs

    run.cells("choices", choice_jobs, methods=["glass-plain"], choices=listed(details))


@app.command()
def pretrain(
    output: Annotated[Path, typer.Argument(help="Folder of encoders, such as src/graphglass/glass/pretrained.")],
    names: Annotated[str, typer.Option("--names", help="Of mol, protein, social, all.")] = "mol,protein,social,all",
    data_root: Annotated[Path | None, typer.Option("--data-root", help="Folder of dataset zips.")] = None,
) -> None:
    """Train the encoders that come with the package on samples of public datasets."""
    from glassbench.datasets import Datasets
    from glassbench.pretraining import SOURCES, write
    from glassbench.pretraining import pretrain as train

    data = Datasets(data_root, keep=12)
    for name in _pools(names, SOURCES):
        write(train(name, data), output / name)
        typer.echo(f"{output / name}: trained on {', '.join(SOURCES[name])}.")


@app.command()
@takes("run", SplitRun)
def pretrained(
    names: Annotated[str, typer.Option("--names", help="Of mol, protein, social, all.")] = "mol,protein,social,all",
    *,
    run: SplitRun,
) -> None:
    """The encoders that come with the package on datasets they have not seen, with references of each."""
    from glassbench.pretraining import SOURCES, pretrained_jobs

    run.cells("pretrained", pretrained_jobs, in_memory=12, methods=["glass-plain"], weights=_pools(names, SOURCES))


@app.command()
@takes("run", SplitRun)
def transfer(
    methods: METHODS = "graphglass,size-knn",
    sources: Annotated[
        str, typer.Option("--sources", help="Of mol, protein, social, all, mol-six (the authors' molecule sources).")
    ] = "mol,protein,social,all",
    cache: CACHE = None,
    *,
    run: SplitRun,
) -> None:
    """Train on a source domain, score targets with source and with target references (tab:cross)."""
    from glassbench.transfer import POOLS, transfer_jobs

    run.cells("transfer", transfer_jobs, in_memory=12, sources=_pools(sources, POOLS), **_trained(methods, cache))


@app.command()
def localise(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the records; finished domains are kept.")],
    data_root: Annotated[
        Path | None, typer.Option("--data-root", help="Folder of the datasets; default: GRAPHGLASS_DATA.")
    ] = None,
) -> None:
    """Plant causes in normal graphs and measure whether explanations point at them; print the table."""
    import json

    from glassbench.localise import localise as planted
    from glassbench.localise import localise_table
    from glassbench.plants import DOMAINS, PARTS

    folder = data_root or Path(os.environ.get("GRAPHGLASS_DATA", "data"))
    for part in PARTS:
        rows = []
        for domain in (name for name in DOMAINS if part in DOMAINS[name].plants):
            path = output / part / f"{domain}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                found = planted(domain, part, folder)
                path.write_text("".join(f"{json.dumps(row)}\n" for row in found))
            rows += [json.loads(line) for line in path.read_text().splitlines()]
        typer.echo(f"<!-- {part} -->\n{localise_table(rows)}", nl=False)


@app.command("few-shot")
@takes("run", SplitRun)
def few_shot(methods: METHODS = "graphglass,size-knn", cache: CACHE = None, *, run: SplitRun) -> None:
    """Add 0 to 32 and all trusted target normals to source references (tab:fewshot)."""
    from glassbench.transfer import FEW_SHOT_SOURCES, few_shot_jobs

    run.cells("few-shot", few_shot_jobs, FEW_SHOT_SOURCES, in_memory=7, **_trained(methods, cache))


@app.command()
@takes("run", SplitRun, seeds="4")
def private(
    methods: Annotated[
        str,
        typer.Option(
            "--methods", help="graphglass: sketches, without a model; glass, glass-plain: codes of a source encoder."
        ),
    ] = "graphglass",
    sources: Annotated[str, typer.Option("--sources", help="Of mol, protein.")] = "mol,protein",
    cache: CACHE = None,
    *,
    run: SplitRun,
) -> None:
    """Simulated private summaries of target references (tab:dp_main and the tables after it)."""
    from glassbench.private_series import private_jobs

    pools = _pools(sources, ("mol", "protein"))
    run.cells("private", private_jobs, in_memory=12, sources=pools, **_trained(methods, cache))


@app.command()
@takes("run", SplitRun)
def scoring(methods: METHODS = "glass-plain", cache: CACHE = None, *, run: SplitRun) -> None:
    """The scoring rules on one trained model (tab:scoring)."""
    from glassbench.single import SCORING_DATASETS, scoring_jobs

    run.cells("scoring", scoring_jobs, SCORING_DATASETS, **_trained(methods, cache))


@app.command()
@takes("run", SplitRun)
def text(
    encoders: Annotated[str, typer.Option("--encoders", help="Text encoders, separated by commas.")] = "numeric,minilm",
    methods: METHODS = "glass-plain",
    cache: CACHE = None,
    *,
    run: SplitRun,
) -> None:
    """Text encoders side by side (tab:scale); Qwen3 rows need the downloaded weights."""
    from glassbench.single import text_jobs

    run.cells("text", text_jobs, texts=listed(encoders), **_trained(methods, cache))


@app.command()
@takes("run", SplitRun)
def lora(
    encoder: Annotated[
        str, typer.Option("--encoder", help="minilm, or a directory with an encoder that sentence-transformers loads.")
    ] = "minilm",
    *,
    run: SplitRun,
) -> None:
    """Frozen text anchors against LoRA adapters (tab:lora)."""
    from glassbench.lora import lora_jobs

    run.cells("lora", lora_jobs, encoder=encoder)


@app.command()
@takes("run", Run, seeds="3")
def suite(methods: METHODS = "graphglass,bag-knn,netlsd-knn,size-knn,structure-knn,wl-cosine-knn", *, run: Run) -> None:
    """Every class a task, both directions: the twelve datasets and the development suite of DATA_ROOT/suite."""
    from glassbench.suite import suite_jobs

    run.run("suite", suite_jobs, protocol="every-class", suite=True, methods=_methods(methods))


@app.command()
@takes("run", Run)
def known(
    methods: METHODS = "graphglass,logistic-wl,svm-wl,logistic-structure,svm-structure",
    limit: Annotated[
        int | None, typer.Option("--limit", min=10, help="Largest number of references, and of test graphs.")
    ] = None,
    *,
    run: Run,
) -> None:
    """Add 0 to 100 known anomalies to the references, both directions, compared with classifiers on the same labels."""
    from glassbench.known_anomalies import known_jobs

    run.run("known", known_jobs, protocol="minority", suite=True, methods=_methods(methods), limit=limit)


@app.command("anomaly-share")
@takes("run", SplitRun)
def anomaly_share(
    methods: METHODS = "graphglass,size-knn,structure-knn,wl-cosine-knn", cache: CACHE = None, *, run: SplitRun
) -> None:
    """Test sets with 5, 10, 20, 50 and 75% anomalies: which methods depend on the share."""
    from glassbench.single import share_jobs

    run.cells("anomaly-share", share_jobs, **_trained(methods, cache))


@app.command()
@takes("run", Run)
def shift(methods: METHODS = "graphglass,size-knn,structure-knn,wl-cosine-knn,bag-knn", *, run: Run) -> None:
    """References of one dataset against graphs of another, structure only and with elements kept."""
    from glassbench.shift import PAIRS, shift_jobs

    names = dict.fromkeys(one for one, _ in PAIRS)
    run.run("shift", shift_jobs, names, protocol="another-dataset", suite=True, in_memory=2, methods=_methods(methods))


@app.command()
@takes("run", Run, seeds="2")
def contaminated(methods: METHODS = "graphglass", *, run: Run) -> None:
    """Put 0 to 20% anomalies among the references: AUROC, and whether p-values stay valid."""
    from glassbench.contaminated import contaminated_jobs

    run.run("contaminated", contaminated_jobs, protocol="every-class", suite=True, methods=_methods(methods))


@app.command()
@takes("run", Run, seeds="1")
def review(
    rules: Annotated[
        str, typer.Option("--rules", help="Rules that name the next graph, with commas.")
    ] = "fixed,review,anomalies,mixed,explore,aad-forest,random-forest",
    *,
    run: Run,
) -> None:
    """Simulate reviewers who mark the graph that a rule shows next: anomalies found in 10 to 80 reviews."""
    from glassbench.review import review_jobs

    run.run("review", review_jobs, protocol="pool", suite=True, methods=["graphglass"], rules=listed(rules))


@app.command()
def table(
    results: RESULTS,
    protocol: Annotated[str | None, typer.Option("--protocol", help="Only this protocol.")] = None,
    format: Annotated[str, typer.Option("--format", help="md or csv.")] = "md",  # noqa: A002
    metric: METRIC = "auroc",
    summary: Annotated[
        bool, typer.Option("--summary", help="Averages of all single-domain results, or of a private folder.")
    ] = False,
    short: Annotated[
        bool, typer.Option("--headline", help="One sentence and at most twelve rows of the single-domain results.")
    ] = False,
    into: Annotated[
        Path | None,
        typer.Option("--into", help="Write it into this page, between the result marks."),
    ] = None,
) -> None:
    """Render the records as tables, with the paper's figures; name records that are out of date."""
    from glassbench.fingerprint import stale_note
    from glassbench.group_tables import headline, short_tables
    from glassbench.records import result_folders
    from glassbench.table_model import insert
    from glassbench.tables import tables

    if short:
        found = []
    elif summary:
        found = short_tables(results, protocol or "minority", metric)
    else:
        found = tables(str(results), protocol=protocol, metric=metric)
    rendered = headline(results) if short else "\n".join(table.render(format) for table in found)
    if into is not None:
        insert(rendered, into)
        return  # comparing the code with its records fits every method
    typer.echo(rendered, nl=False)
    for folder in () if short else result_folders(results):
        if protocol in (None, folder.purpose.protocol) and (note := stale_note(folder.records())):
            typer.echo(f"{folder.folder}: {note}", err=True)


@app.command()
def plot(
    results: RESULTS,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the PNGs; default: the results folder.")
    ] = None,
    metric: METRIC = "auroc",
) -> None:
    """Draw one figure per results folder."""
    from glassbench.figures import draw

    for path in draw(results, output, metric):
        typer.echo(path)


def main() -> None:
    """Entry point."""
    run_app(app, "glassbench")
