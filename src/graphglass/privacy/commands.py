"""glass private: publish a noisy summary of reference graphs instead of the graphs."""

# Annotations are evaluated here: the fields of FormOptions become options of a command.
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphglass.cli.option_groups import takes
from graphglass.errors import ArtifactError, InputError, LedgerError
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.glass.estimator import GLASS
    from graphglass.privacy.private_summary import PrivateSummary
    from graphglass.privacy.record_form import RecordForm

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Private reference summaries: budgets, releases, merges and audits.",
)
budget_app = typer.Typer(no_args_is_help=True, help="The privacy budget of a dataset.")
app.add_typer(budget_app, name="budget")

EPSILON = Annotated[float, typer.Option(help="Privacy loss; smaller protects more.")]
DELTA = Annotated[float, typer.Option(help="Probability that the bound may fail; far below 1 / n.")]
NEW_OUTPUT = Annotated[Path, typer.Option("-o", "--output", help="New file the summary is written to.")]
SUBJECT = Annotated[int, typer.Option(min=1, help="Largest number of graphs that one protected subject owns.")]


@budget_app.command("create")
def create(
    ledger: Annotated[Path, typer.Argument(help="Ledger file on a local disk; created if absent.")],
    dataset: Annotated[str, typer.Option(help="Name of the dataset the budget is for.")],
    epsilon: EPSILON,
    delta: DELTA = 1e-5,
    graphs_per_subject: SUBJECT = 1,
) -> None:
    """Set the total budget of all releases of a dataset, and what it protects. Neither can be changed later."""
    from graphglass.privacy.release.ledger import Ledger

    book = Ledger(ledger) if ledger.exists() else Ledger.create(ledger)
    account = book.grant(dataset, epsilon=epsilon, delta=delta, graphs_per_subject=graphs_per_subject)
    typer.echo(
        f"{dataset}: epsilon {account.epsilon:g} at delta {account.delta:g} for {account.unit} "
        f"(mu^2 {float(account.mu_squared):.6f}) in {ledger}.\n"
        f"Keep {ledger} and {ledger}.head together, and never restore them from a backup: it lacks later releases."
    )


def _option(text: str, *names: str) -> object:
    return typer.Option(*names, help=text, rich_help_panel="Form of the records, fixed before they are read")


@dataclass(frozen=True)
class FormOptions:
    """The declared form of private records; see :class:`graphglass.privacy.record_form.RecordForm`."""

    node_label_type: Annotated[str, _option("Labels every record has at its nodes: any, none, number or text.")] = "any"
    edge_label_type: Annotated[str, _option("The same of edges.")] = "any"
    directed: Annotated[
        bool | None,
        _option("Whether edges have a direction [default: as each record states]", "--directed/--undirected"),
    ] = None
    attributes: Annotated[str | None, _option("Node attributes a --model reads, separated by commas.")] = None
    node_label: Annotated[str, _option("Property or column of nodes with their label.")] = "label"
    edge_label: Annotated[str, _option("Property or column of edges with their label.")] = "label"
    smiles_column: Annotated[str | None, _option("Column of a molecule table with the SMILES.")] = None
    graph_column: Annotated[str, _option("Column of an edge table with the graph.", "--graph-id")] = "graph_id"
    source_column: Annotated[str, _option("Column of an edge table with the source node.", "--source")] = "source"
    target_column: Annotated[str, _option("Column of an edge table with the target node.", "--target")] = "target"

    def form(self) -> "RecordForm":
        from graphglass.privacy.record_form import RecordForm

        values: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        names = None if self.attributes is None else tuple(filter(None, map(str.strip, self.attributes.split(","))))
        return RecordForm(**values | {"attributes": names})


@app.command()
@takes("declared", FormOptions)
def release(
    references: Annotated[Path, typer.Argument(help="The private normal graphs.")],
    ledger: Annotated[Path, typer.Option(help="Ledger to charge.")],
    epsilon: EPSILON,
    output: NEW_OUTPUT,
    dataset: Annotated[
        str | None, typer.Option(help="Dataset the budget was created for [default: the only one of the ledger]")
    ] = None,
    delta: DELTA = 1e-5,
    model: Annotated[
        Path | None, typer.Option(help="The paper's release: a model made without the private graphs.")
    ] = None,
    pretrained: Annotated[
        str | None, typer.Option(help="The same by an encoder of this package: mol, protein, social or all.")
    ] = None,
    sharpness: Annotated[
        int | None, typer.Option(help="Power of the pattern kernel, one for all sites to be merged [default: from n]")
    ] = None,
    public: Annotated[
        Path | None, typer.Option("--public", help="PUBLIC graphs whose mean is stored with the summary as a prior.")
    ] = None,
    release_id: Annotated[
        str | None, typer.Option(help="Id of the release; a repeated id returns the stored summary, without new noise.")
    ] = None,
    disjoint: Annotated[
        bool,
        typer.Option("--disjoint", help="Declare that graphs equal to another dataset's belong to other subjects."),
    ] = False,
    nodes: Annotated[Path | None, typer.Option(help="The node table of an edge table.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count the records that have the form, and charge and write nothing.")
    ] = False,
    *,
    declared: FormOptions,
) -> None:
    """Charge the ledger, add noise, and write a summary that may be published.

    The summary is of public sketches; nothing is trained. With --model or --pretrained it is of codes, as in the paper.
    Every record is read by itself; one that cannot be read, or has another form, counts as a zero row.
    """
    from graphglass.privacy.release.ledger import Ledger
    from graphglass.privacy.release.publish import release as release_summary
    from graphglass.privacy.release.records import read_records
    from graphglass.privacy.sketch_features import SketchFeatures

    if sum(option is not None for option in (sharpness, model, pretrained)) > 1:
        raise InputError("--sharpness is for sketches, --model and --pretrained name encoders: use one of them.")
    if nodes is not None and public is not None:
        raise InputError("--nodes belongs to one edge table, but --public is a second input. Use another format.")
    book = Ledger(ledger)
    names = book.datasets() if dataset is None else (dataset,)
    if len(names) != 1:
        found = ", ".join(names) or "none"
        raise InputError(f"{ledger} has budgets for {len(names)} datasets ({found}). Name one with --dataset.")
    account = book.budget(names[0])
    form, whole = declared.form(), model is not None or pretrained is not None
    records = read_records(references, form, nodes=nodes, whole=whole)
    if dry_run or records.readable < records.count:
        typer.echo(
            f"{records.readable} of {counted(records.count, 'record')} can be read and have the form: {form}. Others "
            "count as zero rows. This line is for the data holder; do not publish it.",
            err=True,
        )
    if dry_run:
        return
    if release_id is None or book.find(release_id) is None:
        _warn_of_noise(epsilon, delta, records.count, account.graphs_per_subject)
    summary = release_summary(
        records,
        ledger=book,
        dataset=account.dataset,
        epsilon=epsilon,
        delta=delta,
        model=_model(model, pretrained),
        features=None if sharpness is None else SketchFeatures(sharpness=sharpness),
        source=None if public is None else read_records(public, form, whole=whole),
        release_id=release_id,
        output=output,
        disjoint=disjoint,
    )
    budget = book.budget(account.dataset)
    typer.echo(summary.statement)
    typer.echo(
        f"Wrote {output}, release {summary.sites[0].release}. "
        f"{budget.dataset} has spent epsilon {budget.epsilon_spent:.4g} of {budget.epsilon:g} for {budget.unit} "
        f"at delta {budget.delta:g}; the next release can have up to {budget.epsilon_remaining:g}."
    )


def _model(path: Path | None, pretrained: str | None) -> "GLASS | None":
    from graphglass.glass.estimator import GLASS

    if pretrained is not None:
        return GLASS.pretrained(pretrained)
    return None if path is None else GLASS.load(path)


def _warn_of_noise(epsilon: float, delta: float, n: int, graphs_per_subject: int) -> None:
    """Warn before the charge if the summary would be of little use; the holder decides."""
    from graphglass.privacy.noise_scale import LOUD, check_epsilon_delta, gaussian_sigma, references_needed

    check_epsilon_delta("release", epsilon, delta)
    noise = gaussian_sigma(epsilon, delta, n, graphs_per_subject)
    if noise > LOUD:
        needed = references_needed(LOUD, epsilon, delta, graphs_per_subject)
        typer.echo(
            f"Warning: this release is mostly noise and costs as much as a useful one. With {counted(n, 'graph')} its "
            f"noise is sigma = {noise:.3g} on kernel values between 0 and 1; at this epsilon it takes {needed} graphs "
            f"for {LOUD:g} (see `glass private sigma`).",
            err=True,
        )


@app.command()
def show(
    path: Annotated[Path, typer.Argument(help="A summary or a ledger.")],
    summary: Annotated[
        list[Path] | None, typer.Option(help="With a ledger: check that these summaries are in it.")
    ] = None,
) -> None:
    """Print the statement of a summary, or the accounts of a ledger after verifying its chain."""
    from graphglass.privacy.release.ledger import Ledger
    from graphglass.privacy.terms import escaped

    if not _is_ledger(path):
        if summary:
            raise InputError(f"--summary checks summaries against a ledger, and {path} is not one.")
        typer.echo(_load(path).statement, nl=False)
        return
    book = Ledger(path)
    for name in summary or []:
        checked = _load(name)
        try:
            own = book.check(checked)
        except LedgerError as error:
            raise LedgerError(f"{name}: {error}") from error
        for site in checked.sites:
            where = f"is entry {site.ledger_sequence}" if site in own else "is not of this ledger"
            typer.echo(f"{name}: release {escaped(site.release)} {where}")
    sequence, head = book.head()
    typer.echo(f"Ledger {path}: {sequence + 1} entries, chain intact, head {head}")
    for dataset in book.datasets():
        account = book.budget(dataset)
        typer.echo(
            f"  {dataset}: epsilon {account.epsilon_spent:.4g} of {account.epsilon:g} spent at delta {account.delta:g} "
            f"for {account.unit} in {counted(account.releases, 'release')}; next up to {account.epsilon_remaining:g} "
            f"(mu^2 {float(account.spent):.6f} of {float(account.mu_squared):.6f})"
        )
        for line in book.releases(dataset):
            promise = f"epsilon {line.request['epsilon']:g} at delta {line.request['delta']:g}"
            state = "finished" if line.artifact else "charged but never finished"
            typer.echo(f"    release {escaped(line.release)}: entry {line.sequence}, {line.time}, {promise}, {state}")


def _is_ledger(path: Path) -> bool:
    if not path.is_file():
        raise ArtifactError(f"There is no summary or ledger at {path}.")
    try:
        with path.open("rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError as error:
        raise ArtifactError(f"{path} cannot be read: {error.strerror}.") from error


def _load(path: Path) -> "PrivateSummary":
    """Read a summary; the error names the commands that write one."""
    from graphglass.privacy.private_summary import PrivateSummary

    try:
        return PrivateSummary.load(path)
    except ArtifactError as error:
        raise ArtifactError(f"{error} Name a file that `glass private release` or `merge` wrote.") from error


@app.command()
def merge(
    summaries: Annotated[list[Path], typer.Argument(help="Summaries of different sites.")],
    output: NEW_OUTPUT,
    disjoint: Annotated[
        bool, typer.Option("--disjoint", help="Declare that no graph and no subject is in two sites.")
    ] = False,
) -> None:
    """Add up the summaries of disjoint sites into one."""
    from graphglass.privacy.private_summary import merge as merge_summaries
    from graphglass.privacy.release.publish import refuse_output

    refuse_output(output)
    sites = [_load(path) for path in summaries]
    merged = merge_summaries(sites, disjoint=disjoint)
    merged.save(output)
    typer.echo(merged.statement)
    if merged.prior is None and any(site.prior is not None for site in sites):
        typer.echo("The sites have different priors, so the merged summary has none.", err=True)
    typer.echo(f"Wrote {output}: {counted(merged.references, 'graph')}, noise {merged.sigma:.4g} per score.")


@app.command()
def sigma(
    epsilon: EPSILON,
    n: Annotated[int, typer.Option(help="Number of reference graphs.")],
    delta: DELTA = 1e-5,
    graphs_per_subject: SUBJECT = 1,
) -> None:
    """Print the noise that a release would have."""
    from graphglass.privacy.noise_scale import gaussian_sigma, noise_multiplier

    noise = gaussian_sigma(epsilon, delta, n, graphs_per_subject)
    typer.echo(
        f"sigma = {noise:.4g} per coordinate of the mean and per score (kernel values lie between 0 and 1); "
        f"mu = {1 / noise_multiplier(epsilon, delta):.6f}, sensitivity = {2 * graphs_per_subject / n:.6g}"
    )


@app.command()
def audit(
    epsilon: EPSILON = 4.0,
    delta: DELTA = 1e-5,
    draws: Annotated[
        int | None,
        typer.Option(help="Releases per neighbour [default: enough to detect noise 10% too small, up to 500,000]"),
    ] = None,
) -> None:
    """Attack the noise of this machine and compare what the attack proves with what is promised."""
    from graphglass.privacy.release.audit import audit as run_audit

    result = run_audit(epsilon=epsilon, delta=delta, draws=draws)
    verdict = "consistent with the promise" if result.passed else "THE PROMISE IS BROKEN"
    typer.echo(
        f"{verdict}: mu is at least {result.mu_lower:.4f} with confidence {result.confidence:g}, "
        f"promised {result.mu_claimed:.4f} ({result.draws} releases per neighbour)"
    )
    if result.draws < result.draws_needed:
        typer.echo(f"Detecting noise that is 10% too small takes --draws {result.draws_needed}.")
    if not result.passed:
        raise typer.Exit(1)
