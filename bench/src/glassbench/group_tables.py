"""Tables of averages over groups of datasets: single-domain results, the suite, known anomalies, anomaly shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from glassbench import paper_figures as paper
from glassbench.datasets import SUITE, TWELVE
from glassbench.known_anomalies import DIRECTIONS as KNOWN_DIRECTIONS
from glassbench.known_anomalies import KNOWN
from glassbench.methods import GLASS, METHODS, TRANSDUCTIVE, in_table_order
from glassbench.private_tables import macro_tables
from glassbench.records import MANIFEST, Purpose, Record, Results, result_folders
from glassbench.single import SHARES
from glassbench.suite import DIRECTIONS, LIMITS
from glassbench.table_entries import (
    LOWER_IS_BETTER,
    METRIC_TITLES,
    SHORT,
    average,
    by_method,
    dataset_of,
    dataset_order,
    dataset_values,
    grouped,
    make_table,
    means_note,
    number_range,
    published_name,
    seeds_of,
)
from glassbench.table_model import Entry, Row, Table, Value, markdown
from graphglass.errors import BenchError

GROUPS = {"twelve": TWELVE, "suite": tuple(SUITE)}
SEEDS = 5  # of a complete row of single-domain results
Measure = Callable[[Record], float | None]


def short_tables(root: str | Path, protocol: str = "minority", metric: str = "auroc") -> list[Table]:
    """The averages: of one folder of private results its macro averages, else those of all single-domain results."""
    if (Path(root) / MANIFEST).exists() and Results.open(root).purpose.benchmark == "private":
        return macro_tables(Results.open(root), metric)
    return [summary_table(root, protocol, metric)]


# The rows of the README: both detectors, what counting and plain comparisons reach, the best of each kind of peer.
HEADLINE = {
    "graphglass": "**GraphGlass**", "glass": "**GLASS**", "structure-knn": "structure-knn", "size-knn": "size-knn",
    "wl-cosine-knn": "wl-cosine-knn", "wl-if": "wl-if", "ocgin": "OCGIN", "ocgtl": "OCGTL", "muse": "MUSE",
    "signet-batch": "SIGNET, reads the test batch",
}  # fmt: skip


def headline(root: str | Path) -> str:
    """The result in a sentence or two, and at most twelve rows: averages in both directions and on shared datasets."""
    whole = summary_table(root)
    rows = {row.name: (row.entries[0], row.entries[1], row.entries[5]) for row in whole.rows}
    alone = {
        name: entries[2].mean
        for name, entries in rows.items()
        if name in METHODS and name not in (*GLASS, *TRANSDUCTIVE) and isinstance(entries[2], Value)
    }
    ours, rival = alone.pop("graphglass"), max(alone, key=lambda name: alone[name])
    twelve, exchanged, _ = (_text(entry) for entry in rows["graphglass"])
    sentence = (
        f"GraphGlass averages {twelve} over the twelve datasets and {exchanged} with the classes exchanged. Over both "
        f"directions of the eight datasets that every method has run it has {ours:.1f}; the next of the other "
        f"{len(alone)} that score a graph alone, {rival}, has {alone[rival]:.1f}. The paper prints "
        f"{_text(rows[published_name('glass')][0])} for GLASS; trained to its last epoch it has "
        f"{_honest(*rows['glass'])} here."
    )
    shown = [[title, *map(_text, rows[name])] for name, title in HEADLINE.items() if name in rows]
    shown += [[f"*{title}*", *map(_text, rows[published_name(name)])] for name, title in _PRINTED.items()]
    head = ["method", "twelve", "twelve, exchanged", "eight, both directions"]
    known = [folder for folder in result_folders(root) if folder.purpose.benchmark == "known"]
    gain = ["", known_gain(known[0].records("graphglass"))] if known else []
    return "\n".join([sentence, "", *markdown(head, shown), *gain]) + "\n"


def _honest(twelve: Entry, _exchanged: Entry, eight: Entry) -> str:
    """The average over the twelve, or over the eight where a large dataset has not been run."""
    return f"{_text(eight)} over both directions of the eight" if twelve is None else _text(twelve)


def known_gain(records: Sequence[Record]) -> str:
    """What known anomalies add, in a sentence."""
    names = _present(records)
    means = [
        average([_mean([r for r in records if dataset_of(r) == name], way, variant_reader(m, "auroc"))
                 for name in names for way in KNOWN_DIRECTIONS])
        for m in ("0", "1", "20", "100")
    ]  # fmt: skip
    none, one, twenty, hundred = map(_text, means)
    return (
        f"Known anomalies add most: the mean AUROC over {len(names)} datasets and both directions rises from {none} to "
        f"{one} with one known anomaly, {twenty} with twenty and {hundred} with a hundred."
    )


_PRINTED = {"glass": "GLASS, published", "signet": "SIGNET, published"}


def _text(entry: Entry) -> str:
    return entry.text() if isinstance(entry, Value) else "–"


def summary_table(root: str | Path, protocol: str = "minority", metric: str = "auroc") -> Table:
    """Averages over the datasets in both directions of a protocol, in three groups of rows.

    The groups are methods that score a graph alone, methods whose score depends on the test batch, and the averages
    that the papers publish under their own protocols.
    """
    records = [_records(root, Purpose("single", protocol, flip)) for flip in (False, True)]
    if not any(records):
        raise BenchError(f"{root} holds no single-domain results of protocol {protocol!r}.")
    names = [name for name in _present([*records[0], *records[1]]) if name in TWELVE]
    methods = in_table_order({record["method"] for side in records for record in side})
    held = [by_method(side) for side in records]
    shared = [name for name in names if all(name in map(dataset_of, own) for side in held for own in side.values())]
    spans = [names] if len(shared) in (0, len(names)) else [names, shared]
    rows = [_summary_row(method, held, spans, metric) for method in sorted(methods, key=_group)]
    if metric == "auroc":
        for (method,), figures in paper.MAIN_RESULTS.items():
            published = [average(Value(figures[name][0]) for name in span) for span in spans]
            entries = [entry for mean in published for entry in (mean, None, None)]
            rows.append(Row(published_name(method), (*entries, None, None), quoted=True, group="published"))
    titles = ["" if span is names else f" on {len(span)}" for span in spans]
    columns = [f"{side}{title}" for title in titles for side in (protocol, "flipped", "both")]
    notes = [f"Averages over {len(names)} datasets, where a row has all of them."]
    if len(spans) > 1:
        every = ", ".join(SHORT.get(name, name) for name in shared)
        notes.append(f"`on {len(shared)}` averages the datasets that every row has: {every}.")
    notes.append("Seeds and missing runs are those of either direction; a full row has five seeds.")
    head = ("method", *columns, "seeds", f"missing of {len(names) * SEEDS}")
    title = f"Average {METRIC_TITLES[metric]} over {len(names)} datasets, protocol {protocol}"
    marked = frozenset(range(len(columns)))
    return Table(title, head, tuple(rows), (" ".join(notes),), marked, metric in LOWER_IS_BETTER)


def _records(root: str | Path, purpose: Purpose) -> list[Record]:
    found = [folder for folder in result_folders(root) if folder.purpose == purpose and folder.records()]
    if len(found) > 1:
        two = " and ".join(str(folder.folder) for folder in found[:2])
        raise BenchError(f"{two} hold results of one kind, {purpose.title}; name one of them instead of {root}.")
    return found[0].records() if found else []


def _group(method: str) -> str:
    return "scored in a test batch" if method in TRANSDUCTIVE else "scored alone"


def _summary_row(
    method: str, held: Sequence[Mapping[str, Sequence[Record]]], spans: Sequence[Sequence[str]], metric: str
) -> Row:
    """Averages over every span of datasets that the method covers, seeds and missing runs."""
    own = [side.get(method, []) for side in held]
    values = [dataset_values(side, metric) for side in own]
    averages: list[Entry] = []
    for span in spans:
        sides = [average(side[name] for name in span) if set(span) <= set(side) else None for side in values]
        averages += [*sides, average(sides) if all(sides) else None]
    runs = [[sum(dataset_of(record) == name for record in side) for name in spans[0]] for side in own]
    seeds = " / ".join(number_range(counts) for counts in runs)
    missing = " / ".join(str(sum(max(SEEDS - count, 0) for count in counts)) for counts in runs)
    return Row(method, (*averages, seeds, missing), group=_group(method))


def suite_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """The averages of both groups, and every dataset."""
    methods = by_method(results.records())

    def value(record: Record) -> float:
        return float(record["metrics"][metric])

    rows = [_both_groups(method, own, DIRECTIONS, value, results) for method, own in methods.items()]
    details = []
    for name in _present(results.records()):
        cells = []
        for own in methods.values():
            of_dataset = [record for record in own if dataset_of(record) == name]
            sides = [_mean(of_dataset, direction, value) for direction in DIRECTIONS]
            cells.append(" / ".join("–" if side is None else side.text() for side in sides))
        details.append(Row(SHORT.get(name, name), tuple(cells)))
    limits = "{references} references, {test_normal} normal and {test_anomalous} anomalous test graphs".format(**LIMITS)
    notes = [
        means_note(results, deviations=False),
        f"Averaged within a dataset first. A task has at most {limits}. `both` is the mean of the directions.",
    ]
    head = _group_head("method", [f"class {direction}" for direction in DIRECTIONS], "seeds")
    return [
        make_table(results, metric, head, rows, notes, marked=range(6)),
        make_table(results, metric, ("dataset", *methods), details, ["Class anomalous / class normal."]),
    ]


def known_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """One row per method and number of known anomalies, both groups and directions."""
    methods, rows = by_method(results.records()), []
    for m in KNOWN:
        for method, own in methods.items():
            value = variant_reader(str(m), metric)
            row = _both_groups(method, own, KNOWN_DIRECTIONS, value, results, f"m = {m}")
            rows += [row] if any(isinstance(entry, Value) for entry in row.entries) else []
    note = (
        "m known anomalies, at most half of them, drawn at random and never tested; the test set is the same for "
        "every m. Classifiers need at least one."
    )
    limits = sorted({limit for record in results.records() if (limit := record["configuration"].get("limit"))})
    notes = [f"A task has at most {limit} references and {limit} test graphs." for limit in limits]
    head = _group_head("known anomalies", KNOWN_DIRECTIONS, "draws")
    return [make_table(results, metric, head, rows, [note, *notes])]


def share_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """One row per method, one column per share of anomalies in the test set."""
    rows = []
    for method, own in sorted(by_method(results.records()).items(), key=lambda item: _group(item[0])):
        names = _present(own)
        entries = [group_average(own, names, None, variant_reader(f"{share}%", metric)) for share in SHARES]
        rows.append(Row(method, (*entries, seeds_of(own), str(len(names))), group=_group(method)))
    head = ("anomalies in the test set", *(f"{share}%" for share in SHARES), "seeds", "datasets")
    return [make_table(results, metric, head, rows, [means_note(results, deviations=False)])]


def variant_reader(name: str, metric: str) -> Measure:
    """A reader of one variant of a record; None where the record lacks it."""
    return lambda record: record.get("variants", {}).get(name, {}).get(metric)


def _group_head(first: str, directions: Sequence[str], seeds: str) -> tuple[str, ...]:
    sides = [f"{group}, {direction}" for group in GROUPS for direction in directions]
    return (first, *sides, *(f"{group}, both" for group in GROUPS), seeds, "missing datasets")


def _both_groups(
    method: str, records: Sequence[Record], directions: Sequence[str], value: Measure, results: Results, group: str = ""
) -> Row:
    """Averages per group and direction, per group over both directions, seeds, and datasets only other rows have.

    Rows are compared, so a group with a missing dataset has no average.
    """
    absent = [name for name in _present(results.records()) if name not in _present(records)]
    sides: list[list[Entry]] = [
        [None if set(names) & set(absent) else group_average(records, names, way, value) for way in directions]
        for names in GROUPS.values()
    ]
    both = [average(side) if all(isinstance(entry, Value) for entry in side) else None for side in sides]
    missing = ", ".join(SHORT.get(name, name) for name in absent) or "0"
    return Row(method, (*sides[0], *sides[1], *both, seeds_of(records), missing), group=group)


def group_average(records: Sequence[Record], names: Iterable[str], direction: str | None, value: Measure) -> Entry:
    """The mean over datasets of their means over classes and seeds."""
    groups = grouped(records, dataset_of)
    return average([_mean(groups.get(name, []), direction, value) for name in names])


def _mean(records: Sequence[Record], direction: str | None, value: Measure) -> Value | None:
    chosen = [record for record in records if direction in (None, record["cell"].get("direction"))]
    return average([Value(number) for record in chosen if (number := value(record)) is not None])


def _present(records: Iterable[Record]) -> list[str]:
    return dataset_order(map(dataset_of, records))
