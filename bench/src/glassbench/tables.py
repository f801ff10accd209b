"""Tables of a results folder, rebuilt from its records, with the paper's figures beside ours."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from glassbench import paper_figures as paper
from glassbench.datasets import TWELVE
from glassbench.methods import in_table_order
from glassbench.metrics import average_ranks, summary
from glassbench.records import Record, Results, result_folders
from glassbench.table_model import Entry, Row, Table, Value
from graphglass.errors import BenchError

K = TypeVar("K", bound=Hashable)

SHORT = {"DD": "D&D", "IMDB-BINARY": "IMDB-B", "REDDIT-BINARY": "REDDIT-B"}
METRIC_TITLES = {
    "auroc": "AUROC (%)", "auprc": "AUPRC (%)", "fpr95": "FPR95 (%)",
    "seconds": "seconds per run", "memory": "peak memory (MB)",
}  # fmt: skip
LOWER_IS_BETTER = ("fpr95", "seconds", "memory")


def tables(root: str, *, protocol: str | None = None, metric: str = "auroc") -> list[Table]:
    """Every table of the results folders at or below `root`, or of one protocol among them."""
    if metric not in METRIC_TITLES:
        raise BenchError(f"Unknown metric {metric!r}. The metrics are: {', '.join(METRIC_TITLES)}.")
    folders = result_folders(root)
    chosen = [folder for folder in folders if protocol in (None, folder.purpose.protocol)]
    if not chosen:
        held = sorted({folder.purpose.protocol for folder in folders})
        raise BenchError(f"{root} holds results of protocol {', '.join(held)}, none of {protocol!r}.")
    return [table for folder in chosen for table in folder_tables(folder, metric)]


def folder_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """The tables of one results folder; most benchmarks have one."""
    if not results.records():
        raise BenchError(f"{results.folder} has no finished cell yet.")
    layouts: dict[str, Callable[[Results, str], Table]] = {
        "single": single_table,
        "scoring": scoring_table,
        "select-test": selection_table,
        "text": text_table,
        "lora": lora_table,
    }
    if layout := layouts.get(results.purpose.benchmark):
        return [layout(results, metric)]
    # These modules build on this one.
    from glassbench.group_tables import known_tables, share_tables, suite_tables
    from glassbench.private_tables import private_tables
    from glassbench.transfer_tables import few_shot_tables, transfer_tables

    several = {
        "transfer": transfer_tables, "few-shot": few_shot_tables, "private": private_tables, "suite": suite_tables,
        "known": known_tables, "anomaly-share": share_tables,
    }  # fmt: skip
    return several[results.purpose.benchmark](results, metric)


def single_table(results: Results, metric: str = "auroc") -> Table:
    """One row per method, one column per dataset, the average and the rank (tab:main_results)."""
    by_method = grouped(results.records(), _method)
    methods = in_table_order(by_method)
    values = {m: dataset_values(by_method[m], metric) for m in methods}
    names = [name for name in TWELVE if any(name in row for row in values.values())]
    complete = {m: row for m, row in values.items() if all(name in row for name in names)}
    sign = -1 if metric in LOWER_IS_BETTER else 1
    ranks = average_ranks({m: {n: sign * v.mean for n, v in row.items()} for m, row in complete.items()})
    rows = []
    for method in methods:
        row = values[method]
        mean = average(row.values()) if method in complete else None
        rank: Entry = Value(ranks[method], digits=2) if method in ranks else None
        rows.append(Row(method, (*(row.get(name) for name in names), mean, rank)))
        published = paper.MAIN_RESULTS.get(("glass" if method == "glass-paper" else method,))
        if published and metric == "auroc" and not results.purpose.flip:  # the paper does not flip
            quoted = [Value(*published[name]) for name in names]
            rows.append(Row(f"{method}, paper", (*quoted, average(quoted), None), quoted=True))
    head = ("method", *(SHORT.get(name, name) for name in names), "average", "rank")
    ranked = f"Rank among the {len(ranks)} measured rows with every dataset"
    italics = "; rows in italics quote the paper, whose protocol and model choice differ"
    quotes = any(row.quoted for row in rows)
    notes = [means_note(results), f"{ranked}{italics if quotes else ''}."]
    if unfinished := [m for m in methods if m not in complete]:
        notes.append(f"Not on every dataset yet: {', '.join(unfinished)}.")
    return make_table(results, metric, head, rows, notes, marked=range(len(names) + 1))


def scoring_table(results: Results, metric: str = "auroc") -> Table:
    """One row per dataset, one column per scoring rule (tab:scoring)."""
    return _variants_table(results, metric, _method, paper.SCORING)


def selection_table(results: Results, metric: str = "auroc") -> Table:
    """One row per dataset: the last epoch, and the epoch with the best test AUROC."""
    table = _variants_table(results, metric, _method, {}, ("last epoch", "best test epoch"))
    columns = zip(*(row.entries for row in table.rows), strict=True)
    note = "The best test epoch is chosen with the test labels. It is a diagnostic, not a result of the method."
    rows = (*table.rows, Row("average", tuple(average(column) for column in columns)))
    return replace(table, rows=rows, notes=(*table.notes, note))


def lora_table(results: Results, metric: str = "auroc") -> Table:
    """One row per dataset; frozen anchors, warm-up and tuned adapters side by side (tab:lora)."""
    names = ("frozen", "warm-up", "tuned")
    return _variants_table(results, metric, lambda record: record["cell"]["encoder"], paper.LORA, names)


def _variants_table(
    results: Results,
    metric: str,
    kind: Callable[[Record], str],
    published: Mapping[tuple[str, ...], paper.Figures],
    names: Sequence[str] = (),
) -> Table:
    """One row per dataset (and kind, where there are several), one column per variant, the paper's figures below."""
    records = results.records()
    columns = names or variant_names(records)
    rows = []
    for title, name, own in _rows_by(records, kind):
        rows.append(Row(title, tuple(variant_entry(own, column, metric) for column in columns)))
        if (known := published.get((name,))) and metric == "auroc":
            rows.append(Row(f"{name}, paper", tuple(figure_entry(known, column) for column in columns), quoted=True))
    return make_table(results, metric, ("dataset", *columns), rows, [means_note(results)])


def text_table(results: Results, metric: str = "auroc") -> Table:
    """One row per dataset, one column per text encoder (tab:scale)."""
    records = results.records()
    encoders = list(dict.fromkeys(record["cell"]["encoder"] for record in records))
    rows = []
    for title, name, some in _rows_by(records, _method):
        own = _by(some, lambda record: record["cell"]["encoder"], metric)
        published = paper.TEXT_ENCODERS[(name,)] if metric == "auroc" else {}
        quoted = [figure_entry(published, column) for column in ("qwen3-0.6b", "qwen3-4b", "qwen3-8b")]
        rows.append(Row(title, (*(own.get(encoder) for encoder in encoders), *quoted)))
    head = ("dataset", *encoders, "paper 0.6B", "paper 4B", "paper 8B")
    command = "`glassbench text --encoders Qwen/Qwen3-Embedding-0.6B -o RESULTS`"
    notes = [means_note(results), f"To measure Qwen3, run {command} on a machine that has its weights."]
    return make_table(results, metric, head, rows, notes)


def make_table(
    results: Results,
    metric: str,
    head: tuple[str, ...],
    rows: Sequence[Row],
    notes: Sequence[str],
    marked: Iterable[int] = (),
    what: str | None = None,
) -> Table:
    """A table whose title says what was measured; `what` is the name of the benchmark by default."""
    title = f"{what or results.purpose.benchmark}, {METRIC_TITLES[metric]}, protocol {results.purpose.title}"
    return Table(title, head, tuple(rows), tuple(notes), frozenset(marked), metric in LOWER_IS_BETTER)


def means_note(results: Results, *, deviations: bool = True) -> str:
    """What the figures of a table are, with or without deviations beside them, and over how many seeds."""
    shown = "mean ± sample standard deviation" if deviations else "means"
    seeds = seeds_of(results.records())
    return f"Protocol `{results.purpose.title}`; {shown} over {seeds} {'seed' if seeds == '1' else 'seeds'}."


def seeds_of(records: Iterable[Record]) -> str:
    """How many seeds the settings among these records have."""

    def setting(record: Record) -> tuple[tuple[str, str], ...]:
        named = record["cell"] | {"method": record["method"]}
        return tuple(sorted((key, str(value)) for key, value in named.items() if key != "seed"))

    return number_range([len(own) for own in grouped(records, setting).values()])


def number_range(numbers: Sequence[int]) -> str:
    """``5`` if all are equal, else ``2–5``."""
    ends = (min(numbers, default=0), max(numbers, default=0))
    return "–".join(str(number) for number in dict.fromkeys(ends))


def average(entries: Iterable[Entry]) -> Value | None:
    """The mean of the figures among these entries."""
    means = [entry.mean for entry in entries if isinstance(entry, Value)]
    return Value(summary(means)[0]) if means else None


def grouped(records: Iterable[Record], key: Callable[[Record], K]) -> dict[K, list[Record]]:
    groups: dict[K, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def dataset_values(records: Iterable[Record], metric: str) -> dict[str, Value]:
    """The mean and spread over seeds on every dataset."""
    return _by(records, lambda record: str(record["cell"]["dataset"]), metric)


def _by(records: Iterable[Record], key: Callable[[Record], K], metric: str) -> dict[K, Value]:
    groups = grouped(records, key)
    return {name: Value(*summary(_measured(record, metric) for record in group)) for name, group in groups.items()}


def variant_entry(records: Sequence[Record], name: str, metric: str) -> Entry:
    measured = [record["variants"][name] for record in records if name in record.get("variants", {})]
    values = [metrics[metric] for metrics in measured if metric in metrics]  # costs are known per cell alone
    return Value(*summary(values)) if values else None


def variant_names(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record.get("variants", {})))


def _rows_by(records: Sequence[Record], kind: Callable[[Record], str]) -> Iterator[tuple[str, str, list[Record]]]:
    """Title, dataset and records of every row: a row per dataset, and per kind where there are several."""
    kinds = list(dict.fromkeys(kind(record) for record in records))
    groups = grouped(records, lambda record: (record["cell"]["dataset"], kind(record)))
    for name, one in itertools.product(TWELVE, kinds):
        if own := groups.get((name, one)):
            yield (name if len(kinds) == 1 else f"{one}: {name}"), name, own


def figure_entry(row: paper.Figures | None, column: str) -> Entry:
    return Value(*row[column]) if row and column in row else None


def _method(record: Record) -> str:
    return str(record["method"])


def _measured(record: Record, metric: str) -> float:
    """A metric of a record, or what the cell cost."""
    if metric == "seconds":
        return float(sum(record["seconds"].values()))
    return float(record["peak_memory_mb"] if metric == "memory" else record["metrics"][metric])
