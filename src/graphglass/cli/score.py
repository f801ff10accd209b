"""glass score: rank graphs against a model's normal references."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.labels import LABEL_COLUMN, NORMAL, anomalous, print_auroc
from graphglass.cli.option_groups import (
    ALPHA,
    CLUSTER,
    EXPLAIN,
    KEEP,
    QUIET,
    SOURCE_PRIOR,
    WORKERS,
    existing_model,
    only_file,
)
from graphglass.cli.reading_options import Reading, reads_graphs

app = typer.Typer()

NO_P_VALUES = (
    "Zero-shot: this ranks by distance from references of another domain. They do not show how much normal graphs of "
    "this domain differ, or which of its classes is normal: there are no p-values and no flags."
)


def _model_or_summary(value: str) -> object:
    return value if Path(value).is_file() else existing_model(value)  # a model is a folder, a summary is a file


@app.command()
@reads_graphs
def score(
    model: Annotated[
        str,
        typer.Argument(
            help="A directory `glass fit` wrote, its URL, or a private summary.", callback=_model_or_summary
        ),
    ],
    queries: Annotated[list[Path], typer.Argument(help="Graphs to rank; several files with --cluster.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="scores.csv, .parquet or .jsonl; a directory with --cluster.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a self-contained HTML report.")] = None,
    explain: EXPLAIN = None,
    keep: KEEP = None,
    references: Annotated[
        Path | None, typer.Option(help="Score against these normal graphs instead; nothing is retrained.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Score against this private summary instead of the references.")
    ] = None,
    source_prior: SOURCE_PRIOR = False,
    zero_shot: Annotated[
        bool, typer.Option("--zero-shot", help="Queries of another domain: a ranking without p-values.")
    ] = False,
    domain: Annotated[
        str | None,
        typer.Option(help="With --zero-shot and GLASS: the queries' domain, for their prompts."),
    ] = None,
    label_column: LABEL_COLUMN = None,
    normal: NORMAL = None,
    alpha: ALPHA = 0.05,
    top: Annotated[int, typer.Option(min=0, help="Rows of the ranking to print.")] = 20,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
    quiet: QUIET = False,
    *,
    reading: Reading,
) -> None:
    """Rank graphs: score, conformal p-value and flag, the most abnormal first.

    Rows of the output file are in the order of the input. A graph that equals a reference has its leave-one-out score.
    With --label-column and --normal, the AUROC of the graphs that are no references is printed.
    """
    from graphglass.cli.rows import nothing_flaggable, show_ranking
    from graphglass.detector.reference_detector import ReferenceDetector
    from graphglass.detector.scored_graphs import ScoredGraphs
    from graphglass.errors import InputError
    from graphglass.files.output_file import refuse_unless_writable
    from graphglass.files.rows import SUFFIXES

    by_summary_alone = Path(model).is_file()
    if by_summary_alone and summary is not None:
        raise InputError(f"{model} is a private summary: name a model before --summary, or leave --summary out.")
    summary = Path(model) if by_summary_alone else summary
    if source_prior and summary is None:
        raise InputError("--source-prior is for a private summary: name one with --summary, or leave it out.")
    if domain is not None and not zero_shot:
        raise InputError("--domain names the domain of queries from another one: give it with --zero-shot.")
    chosen = [name for name, given in (("--references", references), ("--summary", summary)) if given is not None]
    if cluster is not None:
        if chosen or zero_shot or report or keep or label_column or normal or output is None:
            raise InputError(
                "--cluster scores against the model's own references: name a directory with -o, and leave out "
                "--references, --summary, --zero-shot, --report, --keep, --label-column and --normal."
            )
        reading.refuse_with_cluster()
        from graphglass.cluster.commands import score_on_cluster

        score_on_cluster(cluster, workers, model, queries, output, strict=reading.strict, progress=not quiet)
        return
    path = only_file(queries)
    if len(chosen) + zero_shot > 1 or (summary is not None and report is not None):
        raise InputError("Use one of --references, --summary and --zero-shot; --report does not work with --summary.")
    reading.refuse_nodes_with("--references", references)
    for written, suffixes in ((output, SUFFIXES), (report, (".html", ".htm"))):
        if written is not None:
            refuse_unless_writable(written, suffixes, inputs=(path, references, summary, reading.nodes))
    detector = None if by_summary_alone else ReferenceDetector.load(model)
    if detector is not None:
        detector.verbose = not quiet
        if references is not None:
            detector = detector.with_references(reading.read(references))
        elif zero_shot:
            if domain is not None:
                if "domain" not in detector.get_params():
                    raise InputError("--domain is for models of GLASS. Leave it out: GraphGlass reads no prompts.")
                detector.set_params(domain=domain)
            detector = detector.for_any_domain()
    read = reading.report(
        path, keep=keep, label_column=label_column, detector=None if zero_shot or references else detector
    )
    truth = anomalous(read.graphs, label_column, normal, path)
    graphs = read.graphs.without_labels()
    if summary is not None:
        from graphglass.privacy.private_summary import PrivateSummary
        from graphglass.privacy.summary_detector import SummaryDetector

        private = SummaryDetector.of(PrivateSummary.load(summary), detector, source_prior=source_prior)
        table = ScoredGraphs.uncalibrated(graphs, private.decision_function(graphs))
    elif detector is not None:
        table = detector.score_table(graphs, alpha=alpha, anomalous=truth)
        if table.p_values is None:
            typer.echo(NO_P_VALUES, err=True)
        elif warning := nothing_flaggable(alpha, len(detector.decision_scores_)):
            typer.echo(warning, err=True)
    if table.notice:
        typer.echo(table.notice, err=True)
    show_ranking(table, output, top)
    print_auroc(truth, table)
    if report is not None and detector is not None:
        from graphglass.report.page import write_report

        names = {"Graphs": str(path), "Model": str(model)}
        write_report(detector, table, report, explained=explain, about=names)
        typer.echo(f"Wrote the report to {report}.")
