"""Entries of tables out of records: means over seeds, variants, averages over datasets, and what a title says."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from glassbench.datasets import EVERY
from glassbench.methods import in_table_order
from glassbench.metrics import summary
from glassbench.paper_figures import Figures
from glassbench.records import MANIFEST, Record, Results
from glassbench.table_model import Entry, Row, Table, Value

K = TypeVar("K", bound=Hashable)

SHORT = {"DD": "D&D", "IMDB-BINARY": "IMDB-B", "REDDIT-BINARY": "REDDIT-B"}
METRIC_TITLES = {
    "auroc": "AUROC (%)", "auprc": "AUPRC (%)", "fpr95": "FPR95 (%)",
    "seconds": "seconds per run", "memory": "peak memory (MB)",
}  # fmt: skip
LOWER_IS_BETTER = ("fpr95", "seconds", "memory")


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
    """What the figures of a table are, with or without deviations, and over how many seeds."""
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


def neighbour_records(results: Results, folder: str, method: str) -> list[Record]:
    """Records of a method in another results folder of the same tree, such as ``single/minority``; none without it."""
    above = (parent / folder for parent in results.folder.absolute().parents)
    found = next((path for path in above if (path / MANIFEST).exists()), None)
    return [] if found is None else Results.open(found).records(method)


def grouped(records: Iterable[Record], key: Callable[[Record], K]) -> dict[K, list[Record]]:
    groups: dict[K, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def dataset_of(record: Record) -> str:
    return str(record["cell"]["dataset"])


def method_of(record: Record) -> str:
    return str(record["method"])


def by_method(records: Iterable[Record]) -> dict[str, list[Record]]:
    """The records of every method, in table order."""
    groups = grouped(records, method_of)
    return {method: groups[method] for method in in_table_order(groups)}


def dataset_values(records: Iterable[Record], metric: str) -> dict[str, Value]:
    """The mean and spread over seeds on every dataset."""
    return values_by(records, dataset_of, metric)


def values_by(records: Iterable[Record], key: Callable[[Record], K], metric: str) -> dict[K, Value]:
    groups = grouped(records, key)
    return {name: Value(*summary(_measured(record, metric) for record in group)) for name, group in groups.items()}


def variant_entry(records: Sequence[Record], name: str, metric: str) -> Entry:
    measured = [record["variants"][name] for record in records if name in record.get("variants", {})]
    values = [metrics[metric] for metrics in measured if metric in metrics]  # costs are known per cell alone
    return Value(*summary(values)) if values else None


def variant_names(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record.get("variants", {})))


def figure_entry(row: Figures | None, column: str) -> Entry:
    return Value(*row[column]) if row and column in row else None


def _measured(record: Record, metric: str) -> float:
    """A metric of a record, or what the cell cost."""
    if metric == "seconds":
        return float(sum(record["seconds"].values()))
    return float(record["peak_memory_mb"] if metric == "memory" else record["metrics"][metric])


def dataset_order(names: Iterable[str]) -> list[str]:
    """Dataset names in the order of the paper's table and the suite; others follow alphabetically."""
    places = {name: place for place, name in enumerate(EVERY)}
    return sorted(set(names), key=lambda name: (places.get(name, len(places)), name))


def published_name(name: str) -> str:
    """The row of printed figures that belongs to a row of ours."""
    return f"{'GLASS' if name == 'glass' else name}, published"
