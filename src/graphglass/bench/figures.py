"""Figures of a results folder as PNG files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from graphglass.bench.private_figure import draw_private
from graphglass.bench.records import Results, result_folders
from graphglass.bench.table_model import Row, Table, Value
from graphglass.bench.tables import LAYOUTS, folder_tables
from graphglass.errors import MissingExtraError

# Colour-blind safe (Okabe and Ito), the first for the method the eye should find.
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#000000")


def draw(root: str | Path, output: str | Path | None = None, metric: str = "auroc") -> list[Path]:
    """One figure per results folder at or below `root`; returns the files written, beside the records by default."""
    written = []
    for folder in result_folders(root):
        target = Path(output) if output is not None else folder.folder
        target.mkdir(parents=True, exist_ok=True)
        written.append(_draw_folder(folder, target / f"{folder.purpose.file_name}-{metric}.png", metric))
    return written


def _draw_folder(results: Results, path: Path, metric: str) -> Path:
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("Drawing figures", "plots") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    if results.purpose.benchmark == "private":
        figure = draw_private(pyplot, results, metric)
    elif results.purpose.benchmark in ("suite", "known", "anomaly-share"):
        tables = folder_tables(results, metric)
        painter = {"suite": _heat, "known": _known_lines, "anomaly-share": _share_lines}[results.purpose.benchmark]
        figure = painter(pyplot, tables[0])
    else:
        painters = {"single": _dots, "few-shot": _lines}
        table = LAYOUTS[results.purpose.benchmark](results, metric)
        figure = painters.get(results.purpose.benchmark, _heat)(pyplot, table)
    figure.savefig(path, dpi=150, bbox_inches="tight")
    pyplot.close(figure)
    return path


def _dots(pyplot: Any, table: Table) -> Any:
    """Methods as dots over datasets, the paper's figures hollow."""
    columns = [i for i, name in enumerate(table.head[1:]) if name != "rank"]
    own = [row for row in table.rows if not row.quoted]
    figure, axes = pyplot.subplots(figsize=(11, 4.8))
    width = 0.8 / max(len(own), 1)
    for i, row in enumerate(own):
        colour = _COLOURS[i % len(_COLOURS)]
        marker = "o" if i < len(_COLOURS) else "s"
        places = [x - 0.4 + width * (i + 0.5) for x in range(len(columns))]
        shown = [(x, value) for x, c in zip(places, columns, strict=True) if isinstance(value := row.entries[c], Value)]
        axes.errorbar(
            [x for x, _ in shown], [value.mean for _, value in shown], yerr=[_spread(value) for _, value in shown],
            fmt=marker, color=colour, markersize=4.5, elinewidth=1, label=row.name,
        )  # fmt: skip
        quoted = next((q for q in table.rows if q.quoted and q.name == f"{row.name}, paper"), None)
        if quoted:
            known = [(x, v) for x, c in zip(places, columns, strict=True) if isinstance(v := quoted.entries[c], Value)]
            axes.plot([x for x, _ in known], [v.mean for _, v in known], marker, color=colour, fillstyle="none", ms=4.5)
    for edge in range(1, len(columns)):
        axes.axvline(edge - 0.5, color="#dddddd", linewidth=0.7)
    axes.axhline(50, color="#888888", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(columns)), [table.head[1:][c] for c in columns], rotation=30, ha="right")
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_title(f"{table.title}; hollow: the paper", fontsize=10)
    axes.legend(fontsize=8, frameon=False, ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _lines(pyplot: Any, table: Table) -> Any:
    """A curve per target over the number of shots, the paper's dashed."""
    figure, axes = pyplot.subplots(figsize=(8, 4.8))
    own = [row for row in table.rows if not row.quoted and not row.name.endswith(" only")]
    labels = [row.name for row in own]
    for column, name in enumerate(table.head[1:]):
        colour = _COLOURS[column % len(_COLOURS)]
        _curve(axes, own, labels, column, {"color": colour, "marker": "o", "label": name})
        quoted = [
            Row(row.name.removesuffix(", paper"), row.entries)
            for row in table.rows
            if row.quoted and row.name.removesuffix(", paper") in labels
        ]
        _curve(axes, quoted, labels, column, {"color": colour, "linestyle": "--", "alpha": 0.5})
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlabel("trusted target normals added to the source references")
    axes.set_title(f"{table.title}; dashed: the paper", fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return figure


def _curve(axes: Any, rows: list[Row], labels: list[str], column: int, style: dict[str, Any]) -> None:
    points = [(labels.index(row.name), row.entries[column]) for row in rows]
    known = [(x, value) for x, value in points if isinstance(value, Value)]
    if known:
        spreads = [_spread(value) for _, value in known]
        axes.errorbar([x for x, _ in known], [value.mean for _, value in known], yerr=spreads, elinewidth=1, **style)


def _known_lines(pyplot: Any, table: Table) -> Any:
    """Both groups of datasets side by side: a curve per method over the number of known anomalies."""
    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4.4), sharey=True)
    numbers = list(dict.fromkeys(row.group for row in table.rows))
    for axes, title in zip(panels, ("twelve, both", "suite, both"), strict=True):
        column = table.head.index(title) - 1
        for i, name in enumerate(dict.fromkeys(row.name for row in table.rows)):
            rows = [Row(row.group, row.entries) for row in table.rows if row.name == name]
            _curve(axes, rows, numbers, column, {"color": _COLOURS[i % len(_COLOURS)], "marker": "o", "label": name})
        axes.set_xticks(range(len(numbers)), [number.removeprefix("m = ") for number in numbers])
        axes.set_xlabel("known anomalies")
        axes.set_title(title, fontsize=10)
    panels[0].set_ylabel("AUROC (%), mean of both directions")
    panels[1].legend(fontsize=8, frameon=False)
    return figure


def _share_lines(pyplot: Any, table: Table) -> Any:
    """A curve per method over the share of anomalies; dashed where the score depends on the test batch."""
    figure, axes = pyplot.subplots(figsize=(8, 4.8))
    shares = [name for name in table.head if name.endswith("%")]
    for i, row in enumerate(table.rows):
        style = "--" if row.group == "scored in a test batch" else "-"
        known = [(x, entry.mean) for x, entry in enumerate(row.entries[: len(shares)]) if isinstance(entry, Value)]
        colour = _COLOURS[i % len(_COLOURS)]
        axes.plot([x for x, _ in known], [y for _, y in known], style, marker="o", color=colour, label=row.name)
    axes.axhline(50, color="#888888", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(shares)), shares)
    axes.set_xlabel("anomalies in the test set; dashed: a graph's score depends on the test batch")
    axes.set_title(table.title, fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _heat(pyplot: Any, table: Table) -> Any:
    """Every figure in its cell, shaded by value."""
    rows = list(table.rows)
    values = [[entry.mean if isinstance(entry, Value) else math.nan for entry in row.entries] for row in rows]
    figure, axes = pyplot.subplots(figsize=(1.3 * len(table.head) + 2, 0.32 * len(rows) + 1.4))
    axes.imshow(values, cmap="viridis", aspect="auto", vmin=40, vmax=100)
    for i, row in enumerate(rows):
        for j, entry in enumerate(row.entries):
            if isinstance(entry, Value):
                dark = entry.mean < 75
                axes.text(j, i, entry.text(), ha="center", va="center", fontsize=7, color="white" if dark else "black")
    axes.set_xticks(range(len(table.head) - 1), table.head[1:], rotation=25, ha="right", fontsize=8)
    axes.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=8)
    axes.set_title(table.title, fontsize=10)
    return figure


def _spread(value: Value) -> float:
    return 0.0 if math.isnan(value.std) else value.std
