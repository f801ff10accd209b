"""Tables of averages over groups of datasets: the suite, known anomalies, shares of anomalies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graphglass.bench.anomaly_share import SHARES
from graphglass.bench.datasets import EVERY, SUITE, TWELVE
from graphglass.bench.known import DIRECTIONS as KNOWN_DIRECTIONS
from graphglass.bench.known import KNOWN
from graphglass.bench.methods import TRANSDUCTIVE, in_table_order
from graphglass.bench.metrics import summary
from graphglass.bench.records import Record, Results
from graphglass.bench.suite import DIRECTIONS, LIMITS
from graphglass.bench.table_model import Entry, Row, Table, Value
from graphglass.bench.tables import SHORT, grouped, make_table, means_note

GROUPS = {"twelve": TWELVE, "suite": tuple(SUITE)}
Measure = Callable[[Record], float | None]


def suite_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """The averages of both groups, and every dataset."""
    by_method = grouped(results.records(), lambda record: str(record["method"]))
    methods = in_table_order(by_method)

    def value(record: Record) -> float:
        return float(record["metrics"][metric])

    rows, details = [], []
    for method in methods:
        entries = _both_groups(by_method[method], DIRECTIONS, value)
        rows.append(Row(method, (*entries, _seeds(by_method[method]), _missing(by_method[method], results))))
    for name in _present(results.records()):
        cells = []
        for method in methods:
            own = [record for record in by_method[method] if record["cell"]["dataset"] == name]
            sides = [_mean(own, direction, value) for direction in DIRECTIONS]
            cells.append(" / ".join("–" if side is None else f"{side:.1f}" for side in sides))
        details.append(Row(SHORT.get(name, name), tuple(cells)))
    heads = [f"{group}, class {direction}" for group in GROUPS for direction in DIRECTIONS]
    limits = ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in LIMITS.items())
    notes = [
        means_note(results, deviations=False),
        f"Averages within a dataset first. A task has at most {limits} graphs. Both: mean of the directions.",
    ]
    head = ("method", *heads, *(f"{group}, both" for group in GROUPS), "seeds", "missing datasets")
    return [
        make_table(results, metric, head, rows, notes, marked=range(6)),
        make_table(results, metric, ("dataset", *methods), details, ["Class anomalous / class normal."]),
    ]


def known_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """One row per method and number of known anomalies, both groups and directions."""
    by_method = grouped(results.records(), lambda record: str(record["method"]))
    rows = []
    for m in KNOWN:
        for method in in_table_order(by_method):
            entries = _both_groups(by_method[method], KNOWN_DIRECTIONS, variant(str(m), metric))
            if any(isinstance(entry, Value) for entry in entries):
                missing = _missing(by_method[method], results)
                rows.append(Row(method, (*entries, _seeds(by_method[method]), missing), group=f"m = {m}"))
    heads = [f"{group}, {direction}" for group in GROUPS for direction in KNOWN_DIRECTIONS]
    head = ("known anomalies", *heads, *(f"{group}, both" for group in GROUPS), "draws", "missing datasets")
    note = (
        "m known anomalies, at most half of them, drawn at random and never tested; the test set is the same for "
        "every m. Classifiers need at least one."
    )
    limits = sorted({limit for record in results.records() if (limit := record["configuration"].get("limit"))})
    notes = [f"A task has at most {limit} references and {limit} test graphs." for limit in limits]
    return [make_table(results, metric, head, rows, [note, *notes])]


def share_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """One row per method, one column per share of anomalies in the test set."""
    by_method = grouped(results.records(), lambda record: str(record["method"]))
    rows = []
    for method in in_table_order(by_method):
        own = by_method[method]
        names = _present(own)
        entries = [_average(own, names, None, variant(f"{share}%", metric)) for share in SHARES]
        group = "scored in a test batch" if method in TRANSDUCTIVE else "scored alone"
        rows.append(Row(method, (*entries, _seeds(own), str(len(names))), group=group))
    rows.sort(key=lambda row: row.group)
    head = ("anomalies in the test set", *(f"{share}%" for share in SHARES), "seeds", "datasets")
    return [make_table(results, metric, head, rows, [means_note(results, deviations=False)])]


def variant(name: str, metric: str) -> Measure:
    """A reader of one variant of a record; None where the record lacks it."""
    return lambda record: record.get("variants", {}).get(name, {}).get(metric)


def _both_groups(records: Sequence[Record], directions: Sequence[str], value: Measure) -> list[Entry]:
    """Averages per group and direction, then per group over both directions."""
    sides = {
        (group, direction): _average(records, names, direction, value)
        for group, names in GROUPS.items()
        for direction in directions
    }
    both: list[Entry] = []
    for group in GROUPS:
        found = [entry.mean for direction in directions if isinstance(entry := sides[group, direction], Value)]
        both.append(Value(sum(found) / len(found)) if len(found) == len(directions) else None)
    return [*sides.values(), *both]


def _average(records: Sequence[Record], names: Iterable[str], direction: str | None, value: Measure) -> Entry:
    """The mean over datasets of their means over classes and seeds."""
    groups = grouped(records, lambda record: str(record["cell"]["dataset"]))
    means = [mean for name in names if (mean := _mean(groups.get(name, []), direction, value)) is not None]
    return Value(summary(means)[0]) if means else None


def _mean(records: Sequence[Record], direction: str | None, value: Measure) -> float | None:
    chosen = [record for record in records if direction in (None, record["cell"].get("direction"))]
    found = [number for record in chosen if (number := value(record)) is not None]
    return summary(found)[0] if found else None


def _seeds(records: Sequence[Record]) -> str:
    counts = sorted({len(own) for own in grouped(records, _place).values()})
    return "–".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]]))


def _place(record: Record) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, str(value)) for key, value in record["cell"].items() if key != "seed"))


def _missing(records: Sequence[Record], results: Results) -> str:
    """Datasets that other rows of the folder have and this one lacks."""
    absent = [name for name in _present(results.records()) if name not in _present(records)]
    return ", ".join(SHORT.get(name, name) for name in absent) or "0"


def _present(records: Iterable[Record]) -> list[str]:
    found = {str(record["cell"]["dataset"]) for record in records}
    return [name for name in EVERY if name in found]
