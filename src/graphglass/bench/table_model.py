"""A table of figures and its three renderings: Markdown, CSV, LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphglass.errors import BenchError

FORMATS = ("md", "csv", "tex")


@dataclass(frozen=True)
class Value:
    """One figure: a mean, its sample standard deviation, and how many runs they are over (0: not known)."""

    mean: float
    std: float = float("nan")
    runs: int = 0
    digits: int = 1

    def text(self, plus_minus: str = "±") -> str:
        spread = "" if math.isnan(self.std) else f"{plus_minus}{self.std:.{self.digits}f}"
        return f"{self.mean:.{self.digits}f}{spread}"


Entry = Value | str | None


@dataclass(frozen=True)
class Row:
    """A name and one entry per column.

    Attributes
    ----------
    quoted : bool
        The row repeats published figures and is not compared with the others.
    group : str
        Rows of one group follow each other under its name.
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
    marked: frozenset[int] = field(default_factory=frozenset)  # columns whose best entry is set in bold
    lower_is_better: bool = False

    def render(self, format: str = "md") -> str:  # noqa: A002 - the option is called --format
        """The table as text."""
        if format not in FORMATS:
            raise BenchError(f"Unknown format {format!r}. The formats are: {', '.join(FORMATS)}.")
        return {"md": self._markdown, "csv": self._csv, "tex": self._latex}[format]()

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
        best = self._best()
        lines = [f"### {self.title}", "", _line(self.head), _line(["---"] + ["---:"] * (len(self.head) - 1))]
        group = ""
        for i, row in enumerate(self.rows):
            if row.group != group:
                group = row.group
                lines.append(_line([f"***{group}***", *([""] * len(row.entries))]))
            cells = [_text(entry) for entry in row.entries]
            cells = [f"**{cell}**" if (i, column) in best else cell for column, cell in enumerate(cells)]
            lines.append(_line([f"*{row.name}*" if row.quoted else row.name, *cells]))
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
            writer.writerow([row.name, "paper" if row.quoted else "measured", row.group, *cells])
        return stream.getvalue()

    def _latex(self) -> str:
        best = self._best()
        lines = [
            f"% {self.title}",
            rf"\begin{{tabular}}{{@{{}}l{'c' * (len(self.head) - 1)}@{{}}}}",
            r"\toprule",
            " & ".join(_escaped(name) for name in self.head) + r" \\",
            r"\midrule",
        ]
        group = ""
        for i, row in enumerate(self.rows):
            if row.group != group:
                group = row.group
                lines.append(rf"\multicolumn{{{len(self.head)}}}{{@{{}}l}}{{\emph{{{_escaped(group)}}}}} \\")
            cells = [_escaped(_text(entry, r"$\pm$")) for entry in row.entries]
            cells = [rf"\textbf{{{cell}}}" if (i, column) in best else cell for column, cell in enumerate(cells)]
            name = rf"\emph{{{_escaped(row.name)}}}" if row.quoted else _escaped(row.name)
            lines.append(" & ".join([name, *cells]) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}", *(f"% {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"


def _text(entry: Entry, plus_minus: str = "±") -> str:
    return entry.text(plus_minus) if isinstance(entry, Value) else entry or "–"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str) -> str:
    for sign in "&%#_":
        text = text.replace(sign, rf"\{sign}")
    return text.replace("–", "--").replace("→", r"$\to$")
