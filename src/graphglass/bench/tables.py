"""Tables of a results folder, rebuilt from its records, with the paper's figures beside ours."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TypeVar

from graphglass.bench import paper_figures as paper
from graphglass.bench.datasets import TWELVE
from graphglass.bench.methods import in_table_order
from graphglass.bench.metrics import average_ranks, summary
from graphglass.bench.records import Record, Results, result_folders
from graphglass.bench.table_model import Entry, Row, Table, Value
from graphglass.bench.transfer import DISJOINT, FEW
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
    if home := SEVERAL.get(results.purpose.benchmark):
        module, _, name = home.partition(":")
        found: list[Table] = getattr(import_module(f"graphglass.bench.{module}"), name)(results, metric)
        return found
    return [LAYOUTS[results.purpose.benchmark](results, metric)]


def single_table(results: Results, metric: str = "auroc") -> Table:
    """One row per method, one column per dataset, the average and the rank (tab:main_results)."""
    by_method = grouped(results.records(), lambda record: record["method"])
    methods = in_table_order(by_method)
    values = {m: dataset_values(by_method[m], metric) for m in methods}
    names = [name for name in TWELVE if any(name in row for row in values.values())]
    complete = {m: row for m, row in values.items() if all(name in row for name in names)}
    ranks = average_ranks({m: {n: _signed(v.mean, metric) for n, v in row.items()} for m, row in complete.items()})
    rows = []
    for method in methods:
        row = values[method]
        mean = Value(summary(v.mean for v in row.values())[0]) if method in complete else None
        rank: Entry = Value(ranks[method], digits=2) if method in ranks else None
        rows.append(Row(method, (*(row.get(name) for name in names), mean, rank)))
        published = paper.MAIN_RESULTS.get(("glass" if method == "glass-paper" else method,))
        if published and metric == "auroc" and not results.purpose.flip:  # the paper does not flip
            quoted = [Value(*published[name]) for name in names]
            average = Value(summary(value.mean for value in quoted)[0])
            rows.append(Row(f"{method}, paper", (*quoted, average, None), quoted=True))
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
    return _variants_table(results, metric, lambda record: record["method"], paper.SCORING)


def selection_table(results: Results, metric: str = "auroc") -> Table:
    """One row per dataset: the last epoch, and the epoch with the best test AUROC."""
    table = _variants_table(results, metric, lambda record: record["method"], {}, ("last epoch", "best test epoch"))
    columns = zip(*(row.entries for row in table.rows), strict=True)
    means = [summary([entry.mean for entry in column if isinstance(entry, Value)])[0] for column in columns]
    note = "The best test epoch is chosen by the labels of the test set. It is a diagnostic and no result of a method."
    rows = (*table.rows, Row("average", tuple(Value(mean) for mean in means)))
    return replace(table, rows=rows, notes=(*table.notes, note))


ADAPTERS = ("frozen", "warm-up", "tuned")


def lora_table(results: Results, metric: str = "auroc") -> Table:
    """One row per dataset; frozen anchors, warm-up and tuned adapters side by side (tab:lora)."""
    return _variants_table(results, metric, lambda record: record["cell"]["encoder"], paper.LORA, ADAPTERS)


def _variants_table(
    results: Results,
    metric: str,
    kind: Callable[[Record], str],
    published: Mapping[tuple[str, ...], paper.Figures],
    names: Sequence[str] = (),
) -> Table:
    """One row per dataset (and kind, where there are several), one column per variant, the paper's figures below."""
    records = results.records()
    columns = names or _variant_names(records)
    rows = []
    for title, name, own in _rows_by(records, kind):
        rows.append(Row(title, tuple(variant_entry(own, column, metric) for column in columns)))
        if (known := published.get((name,))) and metric == "auroc":
            rows.append(Row(f"{name}, paper", tuple(figure_entry(known, column) for column in columns), quoted=True))
    return make_table(results, metric, ("dataset", *columns), rows, [means_note(results)])


REGIMES = ("zero-shot", f"{FEW} shots", "matched")


def transfer_table(results: Results, metric: str = "auroc") -> Table:
    """One row per source and target: source references, target references, the paper's figures (tab:cross)."""
    records = results.records()
    groups = grouped(records, lambda r: (r["method"], r["cell"]["source"], r["cell"]["dataset"]))
    rows = []
    for (method, source, name), own in groups.items():
        cross, disjoint = paper.TRANSFER.get((source, name)), paper.DISJOINT.get((source, name))
        quoted: list[Entry] = [None] * 4
        if metric == "auroc":
            quoted = [
                figure_entry(cross, "transfer"), figure_entry(cross, "single"),
                figure_entry(disjoint, "source-nn"), figure_entry(disjoint, "target-nn"),
            ]  # fmt: skip
        measured = [variant_entry(own, variant, metric) for variant in REGIMES]
        rows.append(Row(f"{method}: {source} → {name}", (*measured, *quoted)))
    for method in dict.fromkeys(method for method, _, _ in groups):
        series = [groups[method, *pair] for pair in DISJOINT if (method, *pair) in groups]
        if len(series) == len(DISJOINT):
            rows.append(Row(f"{method}: average of {len(series)} disjoint settings", _averages(series, metric)))
    head = ("source → target", "zero-shot", "8 target references", "all target references",
            "paper transfer", "paper single", "paper source NN", "paper target NN")  # fmt: skip
    notes = [means_note(results), "The last two columns are the paper's private series, four seeds, fixed epoch."]
    return make_table(results, metric, head, rows, notes)


def _averages(series: Sequence[Sequence[Record]], metric: str) -> tuple[Entry, ...]:
    """The mean of every measured column over the disjoint settings, and the paper's for the same settings."""

    def mean(entries: Sequence[Entry]) -> Entry:
        values = [entry.mean for entry in entries if isinstance(entry, Value)]
        return Value(summary(values)[0]) if values else None

    measured = [mean([variant_entry(own, regime, metric) for own in series]) for regime in REGIMES]
    quoted: list[Entry] = [None] * 4
    if metric == "auroc":
        published = paper.DISJOINT.values()
        quoted[2:] = [mean([figure_entry(row, name) for row in published]) for name in ("source-nn", "target-nn")]
    return (*measured, *quoted)


def few_shot_table(results: Results, metric: str = "auroc") -> Table:
    """One row per number of trusted target normals, one column per source and target (tab:fewshot)."""
    records = results.records()
    groups = grouped(records, lambda r: (r["method"], r["cell"]["source"], r["cell"]["dataset"]))
    rows = []
    for shots in sorted(_variant_names(records), key=_shots_order):
        entries: list[Entry] = [variant_entry(own, shots, metric) for own in groups.values()]
        rows.append(Row(shots, tuple(entries)))
        published = paper.FEW_SHOT.get((shots,))
        if published and metric == "auroc":
            rows.append(
                Row(f"{shots}, paper", tuple(figure_entry(published, name) for _, _, name in groups), quoted=True)
            )
    head = ("k", *(f"{method}: {source} → {SHORT.get(name, name)}" for method, source, name in groups))
    return make_table(
        results,
        metric,
        head,
        rows,
        [
            means_note(results),
            "k = all is every target reference; `only` leaves the source references out.",
        ],
    )


def _shots_order(name: str) -> tuple[bool, float]:
    """Joined with the source first, then alone; in each, by their number."""
    number = name.removesuffix(" only")
    return name != number, math.inf if number == "all" else float(number)


def text_table(results: Results, metric: str = "auroc") -> Table:
    """One row per dataset, one column per text encoder (tab:scale)."""
    records = results.records()
    encoders = list(dict.fromkeys(record["cell"]["encoder"] for record in records))
    rows = []
    for title, name, some in _rows_by(records, lambda record: record["method"]):
        own = _by(some, lambda record: record["cell"]["encoder"], metric)
        published = paper.TEXT_ENCODERS[(name,)] if metric == "auroc" else {}
        quoted = [figure_entry(published, column) for column in ("qwen3-0.6b", "qwen3-4b", "qwen3-8b")]
        rows.append(Row(title, (*(own.get(encoder) for encoder in encoders), *quoted)))
    head = ("dataset", *encoders, "paper 0.6B", "paper 4B", "paper 8B")
    command = "`glass bench text --encoders Qwen/Qwen3-Embedding-0.6B -o RESULTS`"
    notes = [means_note(results), f"Qwen3 is measured where its weights are: {command}."]
    return make_table(results, metric, head, rows, notes)


# Benchmarks with several tables, in modules that build on this one.
SEVERAL = {
    "private": "private_tables:private_tables",
    "suite": "group_tables:suite_tables",
    "known": "group_tables:known_tables",
    "anomaly-share": "group_tables:share_tables",
}
LAYOUTS: Mapping[str, Callable[[Results, str], Table]] = {
    "single": single_table,
    "scoring": scoring_table,
    "select-test": selection_table,
    "transfer": transfer_table,
    "few-shot": few_shot_table,
    "text": text_table,
    "lora": lora_table,
}


def make_table(
    results: Results,
    metric: str,
    head: tuple[str, ...],
    rows: Sequence[Row],
    notes: Sequence[str],
    marked: Iterable[int] = (),
) -> Table:
    title = f"{results.purpose.benchmark}, {METRIC_TITLES[metric]}, protocol {results.purpose.title}"
    if not rows:
        raise BenchError(f"{results.folder} has no finished cell yet.")
    return Table(title, head, tuple(rows), tuple(notes), frozenset(marked), metric in LOWER_IS_BETTER)


def means_note(results: Results, *, deviations: bool = True) -> str:
    """What the figures of a table are, with or without deviations beside them, and over how many seeds."""
    runs = defaultdict(set)
    for record in results.records():
        place = tuple(sorted((key, str(value)) for key, value in record["cell"].items() if key != "seed"))
        runs[record["method"], place].add(record["cell"]["seed"])
    seeds = sorted({len(found) for found in runs.values()})
    shown = "mean ± sample standard deviation" if deviations else "means"
    spread = "–".join(map(str, [seeds[0], seeds[-1]] if seeds[0] != seeds[-1] else seeds[:1])) if seeds else "0"
    return f"Protocol `{results.purpose.title}`; {shown} over {spread} {'seed' if spread == '1' else 'seeds'}."


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


def _variant_names(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record.get("variants", {})))


def _rows_by(records: Sequence[Record], kind: Callable[[Record], str]) -> Iterator[tuple[str, str, list[Record]]]:
    """Title, dataset and records of every row: a row per dataset, and per kind where there are several."""
    kinds = list(dict.fromkeys(kind(record) for record in records))
    for name, one in itertools.product(_datasets(records), kinds):
        own = [record for record in records if record["cell"]["dataset"] == name and kind(record) == one]
        if own:
            yield (name if len(kinds) == 1 else f"{one}: {name}"), name, own


def _datasets(records: Sequence[Record]) -> list[str]:
    return [name for name in TWELVE if any(record["cell"]["dataset"] == name for record in records)]


def figure_entry(row: paper.Figures | None, column: str) -> Entry:
    return Value(*row[column]) if row and column in row else None


def _signed(value: float, metric: str) -> float:
    return -value if metric in LOWER_IS_BETTER else value


def _measured(record: Record, metric: str) -> float:
    """A metric of a record, or what the cell cost."""
    if metric == "seconds":
        return float(sum(record["seconds"].values()))
    return float(record["peak_memory_mb"] if metric == "memory" else record["metrics"][metric])
