"""Tables of a results folder, rebuilt from its records, with the paper's figures next to ours."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from glassbench import paper_figures as paper
from glassbench.authors_choices import choice_tables
from glassbench.contaminated import contaminated_tables
from glassbench.decomposition import decomposition_tables
from glassbench.group_tables import known_tables, share_tables, suite_tables
from glassbench.metrics import average_ranks
from glassbench.pretraining import pretrained_table
from glassbench.private_tables import private_tables
from glassbench.records import Record, Results, result_folders
from glassbench.review import review_tables
from glassbench.shift import shift_tables
from glassbench.table_entries import (
    LOWER_IS_BETTER,
    METRIC_TITLES,
    SHORT,
    average,
    by_method,
    dataset_order,
    dataset_values,
    figure_entry,
    grouped,
    make_table,
    means_note,
    method_of,
    published_name,
    values_by,
    variant_entry,
    variant_names,
)
from glassbench.table_model import Entry, Row, Table, Value
from glassbench.transfer_tables import few_shot_tables, transfer_tables
from graphglass.errors import BenchError


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
    return LAYOUTS[results.purpose.benchmark](results, metric)


def single_table(results: Results, metric: str = "auroc") -> Table:
    """One row per method, one column per dataset, the average and the rank (tab:main_results)."""
    values = {method: dataset_values(own, metric) for method, own in by_method(results.records()).items()}
    names = dataset_order(name for row in values.values() for name in row)
    complete = {m: row for m, row in values.items() if all(name in row for name in names)}
    sign = -1 if metric in LOWER_IS_BETTER else 1
    ranks = average_ranks({m: {n: sign * v.mean for n, v in row.items()} for m, row in complete.items()})
    rows = []
    for method, row in values.items():
        mean = average(row.values()) if method in complete else None
        rank: Entry = Value(ranks[method], digits=2) if method in ranks else None
        rows.append(Row(method, (*(row.get(name) for name in names), mean, rank)))
        published = paper.MAIN_RESULTS.get((method,))
        if published and metric == "auroc" and not results.purpose.flip:  # the paper does not flip
            quoted = [figure_entry(published, name) for name in names]
            mean = average(quoted) if all(quoted) else None
            rows.append(Row(published_name(method), (*quoted, mean, None), quoted=True))
    head = ("method", *(SHORT.get(name, name) for name in names), "average", "rank")
    ranked = f"Rank among the {len(ranks)} measured rows with every dataset"
    italics = "; rows in italics quote the paper, whose protocol and model choice differ"
    quotes = any(row.quoted for row in rows)
    notes = [means_note(results), f"{ranked}{italics if quotes else ''}."]
    if unfinished := [m for m in values if m not in complete]:
        notes.append(f"Not on every dataset yet: {', '.join(unfinished)}.")
    return make_table(results, metric, head, rows, notes, marked=range(len(names) + 1))


def scoring_table(results: Results, metric: str = "auroc") -> Table:
    """One row per dataset, one column per scoring rule (tab:scoring)."""
    return _variants_table(results, metric, method_of, paper.SCORING)


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
            rows.append(
                Row(published_name(name), tuple(figure_entry(known, column) for column in columns), quoted=True)
            )
    return make_table(results, metric, ("dataset", *columns), rows, [means_note(results)])


def text_table(results: Results, metric: str = "auroc") -> Table:
    """One row per dataset, one column per text encoder (tab:scale)."""
    records = results.records()
    encoders = list(dict.fromkeys(record["cell"]["encoder"] for record in records))
    rows = []
    for title, name, some in _rows_by(records, method_of):
        own = values_by(some, lambda record: record["cell"]["encoder"], metric)
        published = paper.TEXT_ENCODERS.get((name,)) if metric == "auroc" else None
        quoted = [figure_entry(published, column) for column in ("qwen3-0.6b", "qwen3-4b", "qwen3-8b")]
        rows.append(Row(title, (*(own.get(encoder) for encoder in encoders), *quoted)))
    head = ("dataset", *encoders, "published 0.6B", "published 4B", "published 8B")
    command = "`glassbench text --encoders Qwen/Qwen3-Embedding-0.6B -o RESULTS`"
    notes = [means_note(results), f"To measure Qwen3, run {command} on a machine that has its weights."]
    return make_table(results, metric, head, rows, notes)


def _rows_by(records: Sequence[Record], kind: Callable[[Record], str]) -> Iterator[tuple[str, str, list[Record]]]:
    """Title, dataset and records of every row: a row per dataset, and per kind where there are several."""
    kinds = list(dict.fromkeys(kind(record) for record in records))
    groups = grouped(records, lambda record: (record["cell"]["dataset"], kind(record)))
    for name, one in itertools.product(dataset_order(name for name, _ in groups), kinds):
        if own := groups.get((name, one)):
            yield (name if len(kinds) == 1 else f"{one}: {name}"), name, own


def _alone(layout: Callable[[Results, str], Table]) -> Callable[[Results, str], list[Table]]:
    return lambda results, metric: [layout(results, metric)]


LAYOUTS: dict[str, Callable[[Results, str], list[Table]]] = {
    "single": _alone(single_table), "scoring": _alone(scoring_table),
    "text": _alone(text_table), "lora": _alone(lora_table), "transfer": transfer_tables, "few-shot": few_shot_tables,
    "choices": choice_tables, "pretrained": _alone(pretrained_table),
    "private": private_tables, "suite": suite_tables, "known": known_tables, "anomaly-share": share_tables,
    "shift": shift_tables, "authors": decomposition_tables, "contaminated": contaminated_tables,
    "review": review_tables,
}  # fmt: skip
