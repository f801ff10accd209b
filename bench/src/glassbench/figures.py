"""Figures of a results folder as PNG files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from glassbench import paper_figures as paper
from glassbench.decomposition import SELECTION
from glassbench.private_series import EPSILONS, REFERENCES, SIZES
from glassbench.private_tables import MAIN
from glassbench.records import Record, Results, result_folders
from glassbench.table_entries import METRIC_TITLES, SHORT, grouped, variant_entry
from glassbench.table_model import Entry, Table, Value
from glassbench.tables import folder_tables
from graphglass.errors import BenchError

# Colour-blind safe (Okabe and Ito), the first for the method the eye should find.
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#000000")
_OUTSIDE = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}


def draw(root: str | Path, output: str | Path | None = None, metric: str = "auroc") -> list[Path]:
    """One figure per results folder at or below `root`; returns the files written, next to the records by default."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    painters = {"known": _known, "anomaly-share": _shares, "authors": _steps}
    written = []
    for results in result_folders(root):
        benchmark, target = results.purpose.benchmark, results.folder if output is None else Path(output)
        target.mkdir(parents=True, exist_ok=True)
        if benchmark == "private":
            figure = _private(pyplot, results, metric)
        else:
            figure = painters.get(benchmark, _heat)(pyplot, folder_tables(results, metric)[0])
        written.append(target / f"{results.purpose.file_name}-{metric}.png")
        figure.savefig(written[-1], dpi=150, bbox_inches="tight")
        pyplot.close(figure)
    return written


def _curve(axes: Any, places: Iterable[float], entries: Iterable[Entry], *, spread: bool = True, **style: Any) -> None:
    """Draw the entries that are known, with their deviation unless `spread` is False."""
    known = [(place, value) for place, value in zip(places, entries, strict=True) if isinstance(value, Value)]
    if known:
        deviations = [0.0 if math.isnan(value.std) else value.std for _, value in known]
        axes.errorbar(
            [place for place, _ in known], [value.mean for _, value in known], yerr=deviations if spread else None,
            **{"elinewidth": 1, **style},
        )  # fmt: skip


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]


def _marker(place: int) -> str:
    """Rows that share a colour differ in their marker."""
    return "os^D"[place // len(_COLOURS) % 4]


def _finish(axes: Any, title: str, **legend: Any) -> None:
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=8, frameon=False, **legend)


def _known(pyplot: Any, table: Table) -> Any:
    """Both groups of datasets side by side: a curve per method over the number of known anomalies."""
    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4.4), sharey=True)
    numbers = list(dict.fromkeys(row.group for row in table.rows))
    for axes, title in zip(panels, ("twelve, both", "suite, both"), strict=True):
        column = table.head.index(title) - 1
        for i, name in enumerate(dict.fromkeys(row.name for row in table.rows)):
            rows = [row for row in table.rows if row.name == name]
            places = [numbers.index(row.group) for row in rows]
            _curve(axes, places, [row.entries[column] for row in rows], color=_colour(i), marker="o", label=name)
        axes.set_xticks(range(len(numbers)), [number.removeprefix("m = ") for number in numbers])
        axes.set_xlabel("known anomalies")
        axes.set_title(title, fontsize=10)
    panels[0].set_ylabel("AUROC (%), mean of both directions")
    panels[1].legend(fontsize=8, frameon=False)
    return figure


def _shares(pyplot: Any, table: Table) -> Any:
    """A curve per method over the share of anomalies; dashed where the score depends on the test batch."""
    figure, axes = pyplot.subplots(figsize=(8, 4.8))
    shares = [name for name in table.head if name.endswith("%")]
    for i, row in enumerate(table.rows):
        line = "--" if row.group == "scored in a test batch" else "-"
        style: dict[str, Any] = {"linestyle": line, "marker": _marker(i), "color": _colour(i), "label": row.name}
        _curve(axes, range(len(shares)), row.entries[: len(shares)], spread=False, **style)
    axes.axhline(50, color="#888888", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(shares)), shares)
    axes.set_xlabel("anomalies in the test set; dashed: a graph's score depends on the test batch")
    _finish(axes, table.title, **_OUTSIDE)
    return figure


def _steps(pyplot: Any, table: Table) -> Any:
    """A line per dataset and a thick one for their mean, from the printed figures to those without test labels."""
    figure, axes = pyplot.subplots(figsize=(9, 5.2))
    drawn = [row for row in table.rows if all(isinstance(entry, Value) for entry in row.entries)]
    last = len(table.head) - 2  # another method: a point by itself
    chosen = [place for place, name in enumerate(table.head[1:]) if name.startswith(SELECTION)]
    axes.axvspan(chosen[0] - 0.5, chosen[-1] + 0.5, color="#EEEEEE", zorder=0)
    middle = sum(chosen) / len(chosen)
    axes.text(middle, 0.02, "chosen with test labels", transform=axes.get_xaxis_transform(), ha="center", fontsize=8)
    for i, row in enumerate(drawn):
        mean = row.name.startswith("mean")
        style: dict[str, Any] = {"color": "#000000" if mean else _colour(i), "linewidth": 3 if mean else 1}
        style |= {"marker": "D" if mean else _marker(i), "alpha": 1 if mean else 0.6, "markersize": 6 if mean else 4}
        style["zorder"] = 3 if mean else 2
        _curve(axes, range(last), row.entries[:-1], spread=False, label=row.name, **style)
        _curve(axes, [last], row.entries[-1:], spread=False, **style)
        for place, entry in enumerate(row.entries):
            if mean and isinstance(entry, Value):
                axes.annotate(f"{entry.mean:.1f}", (place, entry.mean), (0, 7), textcoords="offset points", ha="center",
                              fontsize=9, weight="bold", bbox={"color": "white", "alpha": 0.7, "pad": 0.5})  # fmt: skip
    axes.set_xticks(range(len(table.head) - 1), table.head[1:], rotation=20, ha="right", fontsize=8)
    axes.axhline(50, color="#888888", linewidth=0.8, linestyle=":")
    _finish(axes, table.title, **_OUTSIDE)
    return figure


def _heat(pyplot: Any, table: Table) -> Any:
    """Every figure in its cell, shaded by value."""
    rows = table.rows
    values = [[entry.mean if isinstance(entry, Value) else math.nan for entry in row.entries] for row in rows]
    figure, axes = pyplot.subplots(figsize=(1.3 * len(table.head) + 2, 0.32 * len(rows) + 1.4))
    axes.imshow(values, cmap="viridis", aspect="auto", vmin=40, vmax=100)
    for i, row in enumerate(rows):
        for j, entry in enumerate(row.entries):
            if isinstance(entry, Value):
                colour = "white" if entry.mean < 75 else "black"
                axes.text(j, i, entry.text(), ha="center", va="center", fontsize=7, color=colour)
    axes.set_xticks(range(len(table.head) - 1), table.head[1:], rotation=25, ha="right", fontsize=8)
    axes.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=8)
    axes.set_title(table.title, fontsize=10)
    return figure


def _private(pyplot: Any, results: Results, metric: str) -> Any:
    """fig:private_tradeoffs: the budget above, the number of references below, a column per setting.

    The method with the most records is drawn.
    """
    methods = grouped([r for r in results.records() if "target-nn" in r["variants"]], lambda record: record["method"])
    if not methods:
        raise BenchError(f"{results.folder} has no finished cell yet.")
    records = max(methods.values(), key=len)
    groups = grouped(records, lambda r: (str(r["cell"]["source"]), str(r["cell"]["dataset"])))
    settings = [setting for setting in MAIN if setting in groups] or list(groups)[:4]
    figure, axes = pyplot.subplots(2, len(settings), figsize=(3.4 * len(settings), 6.4), squeeze=False)
    budgets = [int(epsilon) for epsilon in EPSILONS]
    for (source, name), above, below in zip(settings, *axes, strict=True):
        own = groups[source, name]
        _releases(above, budgets, own, [f"eps={epsilon}" for epsilon in budgets], metric)
        _releases(below, SIZES, own, [f"{'' if n == REFERENCES else f'n={n} '}eps=4" for n in SIZES], metric)
        _level(above, variant_entry(own, "no noise", metric), _colour(1), "--", "summary without noise")
        _level(below, variant_entry(own, "source", metric), _colour(2), ":", "source alone")
        _level(above, variant_entry(own, "target-nn", metric), "#000000", "-", "target 5-NN")
        if metric == "auroc":
            points = [(epsilon, paper.DISJOINT[source, name][f"eps={epsilon}"][0]) for epsilon in (1, 4, 8)]
            above.plot(*zip(*points, strict=True), "o", color="#888888", fillstyle="none", label="published, ε")
        for axis, ticks in ((above, budgets), (below, SIZES)):
            axis.set_xscale("log", base=2)
            axis.set_xticks(ticks, [str(tick) for tick in ticks])
        above.set_xlabel(f"ε at n = {own[0]['counts']['summarised']}")
        below.set_xlabel("references n at ε = 4")
        above.set_title(f"{source} → {SHORT.get(name, name)}", fontsize=10)
    for row in axes:
        row[0].set_ylabel(METRIC_TITLES[metric])
    handles: dict[str, Any] = {}
    for axis in axes.ravel():
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="upper center", ncols=4, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.93))
    return figure


def _releases(axis: object, places: Sequence[int], own: list[Record], names: list[str], metric: str) -> None:
    """Releases alone and with the source prior."""
    look: dict[str, Any] = {"markersize": 3.5, "linewidth": 1.1, "elinewidth": 0.7}
    for colour, suffix, fmt, label in ((1, "", "-o", "summary"), (2, " +source", "--s", "summary with source prior")):
        entries = [variant_entry(own, name + suffix, metric) for name in names]
        _curve(axis, places, entries, fmt=fmt, label=label, color=_colour(colour), **look)


def _level(axis: Any, value: Entry, colour: str, style: str, label: str) -> None:
    if isinstance(value, Value):
        axis.axhline(value.mean, color=colour, linestyle=style, linewidth=0.9, alpha=0.7, label=label)
