"""Averages over all single-domain results, and putting a table between two marks of a page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from graphglass.bench import paper_figures as paper
from graphglass.bench.datasets import TWELVE
from graphglass.bench.methods import TRANSDUCTIVE, in_table_order
from graphglass.bench.metrics import summary
from graphglass.bench.private_tables import macro_tables
from graphglass.bench.records import MANIFEST, Purpose, Record, Results, result_folders
from graphglass.bench.table_model import Entry, Row, Table, Value
from graphglass.bench.tables import LOWER_IS_BETTER, METRIC_TITLES, dataset_values
from graphglass.errors import BenchError
from graphglass.storage.atomic import write_whole

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
SEEDS = 5  # of a complete row


def short_tables(root: str | Path, protocol: str = "minority", metric: str = "auroc") -> list[Table]:
    """The averages: of one folder of private results its macro averages, else those of all single-domain results."""
    if (Path(root) / MANIFEST).exists() and Results.open(root).purpose.benchmark == "private":
        return macro_tables(Results.open(root), metric)
    return [summary_table(root, protocol, metric)]


def summary_table(root: str | Path, protocol: str = "minority", metric: str = "auroc") -> Table:
    """Averages over the datasets in both directions of a protocol, in three groups of rows.

    The groups are methods that score a graph alone, methods whose score depends on the test batch, and the averages
    that the papers publish under their own protocols.
    """
    folders = [_folder(root, Purpose("single", protocol, flip)) for flip in (False, True)]
    records = [folder.records() if folder is not None else [] for folder in folders]
    if not any(records):
        raise BenchError(f"{root} holds no single-domain results of protocol {protocol!r}.")
    names = [name for name in TWELVE if any(r["cell"]["dataset"] == name for side in records for r in side)]
    methods = in_table_order({record["method"] for side in records for record in side})
    rows = []
    for group, chosen in (
        ("scored alone", [method for method in methods if method not in TRANSDUCTIVE]),
        ("scored in a test batch", [method for method in methods if method in TRANSDUCTIVE]),
    ):
        rows += [_summary_row(method, group, records, names, metric) for method in chosen]
    if metric == "auroc":
        for (method,), figures in paper.MAIN_RESULTS.items():
            average = Value(sum(mean for mean, _ in figures.values()) / len(figures))
            rows.append(Row(method, (average, None, None, None, None), quoted=True, group="published"))
    head = ("method", protocol, "flipped", "both", "seeds", f"missing of {len(names) * SEEDS}")
    note = (
        f"Averages over {len(names)} datasets; (n) marks an average over the n datasets that have records, which does "
        "not compare with the others. Seeds and missing runs are those of either direction; a full row has five seeds."
    )
    title = f"Average {METRIC_TITLES[metric]} over {len(names)} datasets, protocol {protocol}"
    return Table(title, head, tuple(rows), (note,), frozenset(range(3)), metric in LOWER_IS_BETTER)


def _folder(root: str | Path, purpose: Purpose) -> Results | None:
    found = [folder for folder in result_folders(root) if folder.purpose == purpose and folder.records()]
    if len(found) > 1:
        two = " and ".join(str(folder.folder) for folder in found[:2])
        raise BenchError(f"{two} hold results of one kind, {purpose.title}; name one of them instead of {root}.")
    return found[0] if found else None


def _summary_row(method: str, group: str, records: list[list[Record]], names: list[str], metric: str) -> Row:
    averages: list[Entry] = []
    seeds, missing = [], []
    for side in records:
        own = [record for record in side if record["method"] == method]
        values = dataset_values(own, metric)
        runs = [sum(record["cell"]["dataset"] == name for record in own) for name in names]
        mean = summary(value.mean for value in values.values())[0] if values else None
        if mean is None:
            averages.append(None)
        else:
            averages.append(Value(mean) if len(values) == len(names) else f"{mean:.1f} ({len(values)})")
        least, most = min(runs, default=0), max(runs, default=0)
        seeds.append(str(most) if least == most else f"{least}–{most}")
        missing.append(str(sum(max(SEEDS - count, 0) for count in runs)))
    whole = [entry.mean for entry in averages if isinstance(entry, Value)]
    both = Value(sum(whole) / 2) if len(whole) == 2 else None
    return Row(method, (*averages, both, " / ".join(seeds), " / ".join(missing)), group=group)


def insert(text: str, page: str | Path) -> None:
    """Put `text` between the result marks of a page, in place of what is there."""
    path = Path(page)
    before, _, after = _parts(path.read_text(encoding="utf-8"), BEGIN, END, path)
    write_whole(path, f"{before}{BEGIN}\n{text.rstrip()}\n{END}{after}".encode())


def filled(page: str | Path, parts: Mapping[str, str]) -> str:
    """The content of a page with each text between the marks ``<!-- name -->`` and ``<!-- end -->``."""
    content = Path(page).read_text(encoding="utf-8")
    for name, text in parts.items():
        begin, end = f"<!-- {name} -->", "<!-- end -->"
        before, _, after = _parts(content, begin, end, Path(page))
        content = f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}"
    return content


def _parts(content: str, begin: str, end: str, path: Path) -> tuple[str, str, str]:
    before, mark, rest = content.partition(begin)
    inside, closing, after = rest.partition(end)
    if not mark or not closing:
        raise BenchError(f"{path} has no place for results: it needs the lines {begin} and {end}.")
    return before, inside, after
