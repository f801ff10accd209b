"""A table of figures, its two renderings (Markdown, CSV), and its place in a page."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphglass.errors import BenchError
from graphglass.files.atomic import write_whole

FORMATS = ("md", "csv")


@dataclass(frozen=True)
class Value:
    """One figure: a mean, its sample standard deviation, and how many runs they are over (0: not known)."""

    mean: float
    std: float = float("nan")
    runs: int = 0
    digits: int = 1

    def text(self) -> str:
        """The mean, and after ± the deviation where there is one."""
        spread = "" if math.isnan(self.std) else f"±{self.std:.{self.digits}f}"
        return f"{self.mean:.{self.digits}f}{spread}"


Entry = Value | str | None


@dataclass(frozen=True)
class Row:
    """A name and one entry per column.

    A `quoted` row repeats published figures and is not compared with the others. Rows of one `group` follow each other
    under its name.
    """

    name: str
    entries: tuple[Entry, ...]
    quoted: bool = False
    group: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under a head, with a title that names the protocol and notes that say what is missing."""

    title: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    marked: frozenset[int] = frozenset()  # columns whose best entry is set in bold
    lower_is_better: bool = False

    def render(self, format: str = "md") -> str:  # noqa: A002 - the option is called --format
        """The table as text."""
        if format not in FORMATS:
            raise BenchError(f"Unknown format {format!r}. The formats are: {', '.join(FORMATS)}.")
        return self._markdown() if format == "md" else self._csv()

    def _best(self) -> set[tuple[int, int]]:
        best = set()
        for column in self.marked:
            own = [(i, row.entries[column]) for i, row in enumerate(self.rows) if not row.quoted]
            means = [(i, entry.mean) for i, entry in own if isinstance(entry, Value)]
            if len(means) > 1:
                top = (min if self.lower_is_better else max)(mean for _, mean in means)
                best |= {(i, column) for i, mean in means if mean == top}
        return best

    def _markdown(self) -> str:
        lines = [f"### {self.title}", "", *markdown(self.head, [])]
        best, group = self._best(), ""
        for i, row in enumerate(self.rows):
            if row.group != group:
                group = row.group
                lines.append(_markdown_line([f"***{group}***", *[""] * (len(self.head) - 1)]))
            cells = [entry.text() if isinstance(entry, Value) else entry or "–" for entry in row.entries]
            cells = [f"**{cell}**" if (i, column) in best else cell for column, cell in enumerate(cells)]
            lines.append(_markdown_line([f"*{row.name}*" if row.quoted else row.name, *cells]))
        return "\n".join([*lines, "", *(f"{note}\n" for note in self.notes)]).rstrip() + "\n"

    def _csv(self) -> str:
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        names = [part for name in self.head[1:] for part in (name, f"{name} std", f"{name} runs")]
        writer.writerow([self.head[0], "source", "group", *names])
        for row in self.rows:
            cells: list[str | float | int] = []
            for entry in row.entries:
                if isinstance(entry, Value):
                    spread = "" if math.isnan(entry.std) else round(entry.std, 4)
                    cells += [round(entry.mean, 4), spread, entry.runs or ""]
                else:
                    cells += [entry or "", "", ""]
            writer.writerow([row.name, "published" if row.quoted else "measured", row.group, *cells])
        return stream.getvalue()


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = "---:") -> list[str]:
    """The lines of a Markdown table; `align` stands under every column but the first."""
    return [_markdown_line(cells) for cells in (head, ["---", *[align] * (len(head) - 1)], *rows)]


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def insert(text: str, page: str | Path, name: str = "results") -> None:
    """Put `text` between the marks ``<!-- name:begin -->`` and ``<!-- name:end -->`` of a page."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, after = _around(Path(page).read_text(encoding="utf-8"), begin, end, page)
    write_whole(Path(page), f"{before}{begin}\n{text.rstrip()}\n{end}{after}".encode())


def filled(page: str | Path, parts: Mapping[str, str]) -> str:
    """The content of a page with each text between the marks ``<!-- name -->`` and ``<!-- end -->``."""
    content = Path(page).read_text(encoding="utf-8")
    for name, text in parts.items():
        begin, end = f"<!-- {name} -->", "<!-- end -->"
        before, after = _around(content, begin, end, page)
        content = f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}"
    return content


def _around(content: str, begin: str, end: str, page: str | Path) -> tuple[str, str]:
    before, mark, rest = content.partition(begin)
    _, closing, after = rest.partition(end)
    if not mark or not closing:
        raise BenchError(f"{page} has no place for results: it needs the lines {begin} and {end}.")
    return before, after
