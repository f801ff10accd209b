"""fig:private_tradeoffs: the privacy budget above, the number of references below, one column per setting."""

from __future__ import annotations

from typing import Any

from graphglass.bench import paper_figures as paper
from graphglass.bench.private_scores import EPSILONS, REFERENCES
from graphglass.bench.private_series import SIZES
from graphglass.bench.private_tables import MAIN
from graphglass.bench.records import Record, Results
from graphglass.bench.table_model import Value
from graphglass.bench.tables import METRIC_TITLES, SHORT, grouped, variant_entry
from graphglass.errors import BenchError
from graphglass.privacy.joint_features import KERNELS

_COLOURS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#E69F00")


def draw_private(pyplot: Any, results: Results, metric: str) -> Any:
    """The figure from the records; the method with the most records is drawn."""
    methods = grouped([r for r in results.records() if "target-nn" in r["variants"]], lambda record: record["method"])
    if not methods:
        raise BenchError(f"{results.folder} has no finished cell yet.")
    method = max(methods, key=lambda name: len(methods[name]))
    groups = grouped(methods[method], lambda r: (str(r["cell"]["source"]), str(r["cell"]["dataset"])))
    settings = [setting for setting in MAIN if setting in groups] or list(groups)[:4]
    figure, axes = pyplot.subplots(2, len(settings), figsize=(3.4 * len(settings), 6.4), squeeze=False)
    for column, (source, name) in enumerate(settings):
        own = groups[source, name]
        _budgets(axes[0][column], own, metric)
        if metric == "auroc":
            _published(axes[0][column], source, name)
        _sizes(axes[1][column], own, metric)
        axes[0][column].set_title(f"{source} → {SHORT.get(name, name)}", fontsize=10)
    for row in axes:
        row[0].set_ylabel(METRIC_TITLES[metric])
    handles: dict[str, Any] = {}
    for axis in axes.ravel():
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="upper center", ncols=4, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.9))
    return figure


def _colour(kernel: str) -> str:
    return _COLOURS[list(KERNELS).index(kernel) % len(_COLOURS)]


def _budgets(axis: Any, own: list[Record], metric: str) -> None:
    places = [int(epsilon) for epsilon in EPSILONS]
    for kernel in KERNELS:
        for suffix, style in (("", "-o"), (" +source", "--s")):
            values = [variant_entry(own, f"{kernel} eps={epsilon}{suffix}", metric) for epsilon in places]
            _errorbar(axis, places, values, style, _colour(kernel), _label(kernel, suffix))
        _level(axis, variant_entry(own, f"{kernel} sketch", metric), _colour(kernel), "--", f"{kernel}, no noise")
    _level(axis, variant_entry(own, "target-nn", metric), "#000000", "-", "target 5-NN")
    axis.set_xscale("log", base=2)
    axis.set_xticks(places, [str(place) for place in places])
    axis.set_xlabel(f"ε at n = {own[0]['counts']['summarised']}")


def _sizes(axis: Any, own: list[Record], metric: str) -> None:
    for kernel in KERNELS:
        for suffix, style in (("", "-o"), (" +source", "--s")):
            values = [
                variant_entry(own, f"{kernel}{'' if n == REFERENCES else f' n={n}'} eps=4{suffix}", metric)
                for n in SIZES
            ]
            _errorbar(axis, list(SIZES), values, style, _colour(kernel), _label(kernel, suffix))
        _level(axis, variant_entry(own, f"{kernel} source", metric), _colour(kernel), ":", f"{kernel}, source alone")
    axis.set_xscale("log", base=2)
    axis.set_xticks(SIZES, [str(n) for n in SIZES])
    axis.set_xlabel("references n at ε = 4")


def _published(axis: Any, source: str, name: str) -> None:
    row = paper.DISJOINT[source, name]
    points = [(epsilon, row[f"eps={epsilon}"][0]) for epsilon in (1, 4, 8)]
    axis.plot(*zip(*points, strict=True), "o", color="#888888", fillstyle="none", label="published, ε")


def _label(kernel: str, suffix: str) -> str:
    return f"{kernel} kernel{', with source' if suffix else ''}"


def _errorbar(axis: Any, places: list[int], values: list[Any], style: str, colour: str, label: str) -> None:
    known = [(place, value) for place, value in zip(places, values, strict=True) if isinstance(value, Value)]
    if known:
        axis.errorbar(
            [place for place, _ in known], [value.mean for _, value in known],
            yerr=[0.0 if value.std != value.std else value.std for _, value in known],
            fmt=style, color=colour, markersize=3.5, linewidth=1.1, elinewidth=0.7, label=label,
        )  # fmt: skip


def _level(axis: Any, value: Any, colour: str, style: str, label: str) -> None:
    if isinstance(value, Value):
        axis.axhline(value.mean, color=colour, linestyle=style, linewidth=0.9, alpha=0.7, label=label)
