"""The summary of all single-domain results, and putting a table between two marks of a page."""

from __future__ import annotations

from pathlib import Path

from graphglass.bench import paper_figures as paper
from graphglass.bench.datasets import TWELVE
from graphglass.bench.methods import in_table_order
from graphglass.bench.private_tables import macro_tables
from graphglass.bench.records import MANIFEST, Purpose, Results, result_folders
from graphglass.bench.table_model import Entry, Row, Table, Value
from graphglass.bench.tables import LOWER_IS_BETTER, METRIC_TITLES, means_note, single_table
from graphglass.errors import BenchError
from graphglass.storage.atomic import write_whole

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"


def summary_table(root: str | Path, protocol: str = "minority", metric: str = "auroc") -> Table:
    """Average and rank over all twelve datasets, one row per method, both directions of a protocol side by side."""
    wanted = [Purpose("single", protocol, flip) for flip in (False, True)]
    folders = []
    for purpose in wanted:
        found = [folder for folder in result_folders(root) if folder.purpose == purpose and folder.records()]
        if len(found) > 1:
            two = " and ".join(str(folder.folder) for folder in found[:2])
            raise BenchError(f"{two} hold results of one kind, {purpose.title}; name one of them instead of {root}.")
        folders += found
    directions = [single_table(folder, metric) for folder in folders]
    if not directions:
        raise BenchError(f"{root} holds no single-domain results of protocol {protocol!r}.")
    # A direction that has not seen every dataset says so, and is not averaged with the other.
    sizes = [len(table.head) - 3 for table in directions]
    titles = [
        purpose.title if size == max(sizes) else f"{purpose.title}, {size} datasets"
        for purpose, size in zip([folder.purpose for folder in folders], sizes, strict=True)
    ]
    columns: dict[str, dict[str, Entry]] = {}
    for title, table in zip(titles, directions, strict=True):
        for row in table.rows:
            if not row.quoted:
                columns.setdefault(row.name, {})[title] = row.entries[-2]
                columns[row.name][f"{title} rank"] = row.entries[-1]
    both = len(titles) == 2 and directions[0].head == directions[1].head
    rows = []
    for method in in_table_order(columns):
        values = columns[method]
        entries = [values.get(name) for title in titles for name in (title, f"{title} rank")]
        if not any(isinstance(entry, Value) for entry in entries):
            continue
        means = [entry.mean for title in titles if isinstance(entry := values.get(title), Value)]
        last: list[Entry] = [Value(sum(means) / 2) if len(means) == 2 else None] if both else []
        published = paper.MAIN_RESULTS.get(("glass" if method == "glass-paper" else method,))
        quoted = Value(sum(mean for mean, _ in published.values()) / len(TWELVE)) if published else None
        rows.append(Row(method, (*entries, *last, quoted if metric == "auroc" else None)))
    head = ["method", *(name for title in titles for name in (title, "rank")), *(["both directions"] if both else [])]
    marked = [i for i, name in enumerate([*head[1:], "paper"]) if name not in ("rank", "paper")]
    title = f"Average {METRIC_TITLES[metric]} over {max(sizes)} datasets, protocol {' and '.join(titles)}"
    notes = [means_note(folder, deviations=False) for folder in folders]
    notes.append("Averages are over datasets; `paper` is the average that its own table gives.")
    return Table(title, (*head, "paper"), tuple(rows), tuple(notes), frozenset(marked), metric in LOWER_IS_BETTER)


def short_tables(root: str | Path, protocol: str = "minority", metric: str = "auroc") -> list[Table]:
    """The averages: of one folder of private results its macro averages, else those of all single-domain results."""
    if (Path(root) / MANIFEST).exists() and Results.open(root).purpose.benchmark == "private":
        return macro_tables(Results.open(root), metric)
    return [summary_table(root, protocol, metric)]


def insert(text: str, page: str | Path) -> None:
    """Put `text` between the marks of a page, in place of what stood there."""
    path = Path(page)
    content = path.read_text(encoding="utf-8")
    before, mark, rest = content.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise BenchError(f"{path} has no place for results: it needs the lines {BEGIN} and {END}.")
    write_whole(path, f"{before}{BEGIN}\n{text.rstrip()}\n{END}{after}".encode())
