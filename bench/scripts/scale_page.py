"""Draw the figures of the scale benchmark and put its tables into docs/scale.md, from the records alone.

python bench/scripts/scale_page.py
"""

import json
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot

from glassbench.table_model import filled, markdown

RECORDS = Path("bench/results/benchmarks/scale.json")
PEERS = Path("bench/results/benchmarks/peers.json")
PAGE = Path("docs/scale.md")
FIGURES = Path("bench/results/benchmarks")
PART = 20_000  # graphs of a part
# Colour-blind safe (Okabe and Ito).
BLUE, GREEN = "#0072B2", "#009E73"


def main():
    records = {row["cell"]: row for row in json.loads(RECORDS.read_text())}
    for name, draw in {"scale-stages.png": draw_stages, "scale-references.png": draw_references}.items():
        figure = draw(records)
        figure.savefig(FIGURES / name, dpi=150, bbox_inches="tight")
        pyplot.close(figure)
    parts = {
        "graphs": graphs_table, "alone": alone_note, "peers": peers_table,
        "stages": stages_table, "exact": exact_table, "large": large_table,
        "search": search_table, "cost": cost_table, "workers": workers_note,
    }  # fmt: skip
    PAGE.write_text(filled(PAGE, {name: "\n".join(lines(records)) for name, lines in parts.items()}))


def short(value):
    """Three significant digits without an exponent."""
    return f"{float(f'{value:.3g}'):,.10g}"


def cells(records, prefix):
    return sorted((row for cell, row in records.items() if cell.startswith(prefix)), key=lambda row: size(row, prefix))


def size(row, prefix):
    return row["graphs"] if prefix == "graphs/" else row["references"]


def graphs_table(records):
    head = ["graphs", "wall seconds", "CPU seconds", "graphs per CPU second", "all processes", "largest process"]
    return markdown(
        head,
        [
            [
                f"{row['graphs']:,}", short(row["seconds"]), short(row["cpu_seconds"]),
                short(row["graphs"] / row["cpu_seconds"]),
                f"{row['total_memory_mb'] / 1024:.2f} GB", f"{row['largest_process_mb'] / 1024:.2f} GB",
            ]
            for row in cells(records, "graphs/")
        ],
    )  # fmt: skip


def alone_note(records):
    row = records["alone"]
    return [
        f"One process, `glass score` on a Parquet file of {row['graphs']:,} of these graphs, takes",
        f"{short(row['cpu_seconds'])} CPU seconds, {short(row['cpu_rate'])} graphs per CPU second. They include",
        "the start, loading the model, and the reasons of the 1,000 most abnormal graphs.",
    ]


def peers_table(_):
    """Milliseconds of other libraries and ours, from one run."""
    rows = [
        [row["task"], row["library"], *(short(1000 * row[name]) for name in ("theirs", "ours")),
         short(float(f"{row['theirs'] / row['ours']:.2g}"))]
        for row in json.loads(PEERS.read_text())["rows"]
    ]  # fmt: skip
    return markdown(["task", "library", "its CPU ms", "ours", "times"], rows)


def stages_table(records):
    stages = records["stages"]
    total = sum(stages["cpu_seconds"].values())
    rows = [
        [name, short(1e6 * seconds / stages["graphs"]), f"{100 * seconds / total:.0f}%", short(stages["rate"][name])]
        for name, seconds in stages["cpu_seconds"].items()
    ]
    return markdown(["stage", "CPU µs per graph", "share", "graphs per CPU second"], rows)


def exact_table(records):
    rows = []
    for row in cells(records, "exact/"):
        for kind, found in row["kinds"].items():
            rows.append([
                f"{row['references']:,}", kind, short(found["ms_per_query"]), short(found["calibration_seconds"]),
                f"{found['megabytes']:,.0f} MB",
            ])  # fmt: skip
    return markdown(["references", "channels", "CPU ms per query", "calibration CPU s", "in memory"], rows)


def large_table(records):
    head = ["references", "build CPU s", "load CPU s", "model", "memory to build", "to load", "to score"]
    memory = ("building_memory_mb", "loading_memory_mb", "serving_memory_mb")
    return markdown(
        head,
        [
            [
                f"{row['references']:,}", short(row["build_seconds"]), short(row["loading_seconds"]),
                f"{row['model_bytes'] / 2**30:.2f} GB", *(f"{row[name] / 1024:.1f} GB" for name in memory),
            ]
            for row in cells(records, "large/")
        ],
    )  # fmt: skip


def search_table(records):
    head = [
        "references", "CPU ms per query", "all compared", "recall@3", "AUROC", "500 calibrated", "all compared",
    ]  # fmt: skip
    return markdown(
        head,
        [
            [
                f"{row['references']:,}", short(row["ms_per_query"]), short(row["exact_ms_per_query"]),
                f"{row['recall']:.3f}", *(f"{row[name]:.1f}" for name in ("auroc", "alike_auroc", "exact_auroc")),
            ]
            for row in cells(records, "large/")
        ],
    )  # fmt: skip


def cost_table(records):
    """CPU hours from the measured cost of a graph."""
    costs = query_costs(records)
    head = ["graphs", *(f"{count:,} references" for count in sorted(costs))]
    rows = [
        [f"10^{power}", *(short(10**power * costs[count] / 3.6e6) for count in sorted(costs))] for power in range(6, 10)
    ]
    return markdown(head, rows)


def query_costs(records):
    """CPU milliseconds of a graph by references: reading, profile and rows, then comparing with the references."""
    stages = records["stages"]
    fixed = sum(
        1000 * seconds / stages["graphs"]
        for name, seconds in stages["cpu_seconds"].items()
        if name not in ("patterns", "tables")
    )
    costs = {
        row["references"]: fixed + sum(found["ms_per_query"] for found in row["kinds"].values())
        for row in cells(records, "exact/")
    }
    return costs | {row["references"]: row["ms_per_query"] for row in cells(records, "large/")}


def workers_note(records, workers=100, graphs=10**9):
    """What a hundred workers need for a billion graphs, from the same costs."""
    costs, large = query_costs(records), cells(records, "large/")[-1]
    few, many = (graphs * costs[count] / 3.6e6 / workers for count in (min(costs), large["references"]))
    seconds = PART * min(costs.values()) / 1000
    return [
        (
            f"With {workers} workers a billion graphs take {short(few)} hours against {min(costs):,} references and "
            f"{short(many)} hours against {large['references']:,}."
        ),
        "",
        (
            f"- A worker needs at least {short(seconds)} s for a part of {PART:,} graphs, so the scheduler gets at "
            f"most {short(workers / seconds)} results a second: it is not what breaks."
        ),
        (
            f"- Memory breaks first. Against {large['references']:,} references every worker loads the model for "
            f"itself: {short(large['loading_seconds'])} CPU seconds and {large['serving_memory_mb'] / 1024:.1f} GB "
            f"each, {short(workers * large['serving_memory_mb'] / 1024)} GB in all."
        ),
        f"- Then the result: {graphs // PART:,} files of scores. No command sorts them into one ranking.",
    ]


def axes_of(pyplot_axes, title, xlabel, ylabel):
    pyplot_axes.set_title(title, loc="left", fontsize=11)
    pyplot_axes.set_xlabel(xlabel)
    pyplot_axes.set_ylabel(ylabel)
    pyplot_axes.grid(alpha=0.25)
    for side in ("top", "right"):
        pyplot_axes.spines[side].set_visible(False)


def draw_references(records):
    figure, axes = pyplot.subplots(figsize=(6.4, 3.8))
    exact = [
        *((row["references"], sum(found["ms_per_query"] for found in row["kinds"].values()))
          for row in cells(records, "exact/")),
        *((row["references"], row["exact_ms_per_query"]) for row in cells(records, "large/")),
    ]  # fmt: skip
    axes.loglog(*zip(*sorted(exact), strict=True), "o-", color=BLUE, label="every reference compared")
    indexed = [(row["references"], row["ms_per_query"]) for row in cells(records, "large/")]
    axes.loglog(*zip(*indexed, strict=True), "D--", color=GREEN, label="candidates from the index")
    axes.legend(frameon=False)
    axes_of(axes, "All channels of the default detector", "references", "CPU milliseconds per query")
    figure.tight_layout()
    return figure


def draw_stages(records):
    stages = records["stages"]
    names = list(stages["cpu_seconds"])[::-1]
    values = [1e6 * stages["cpu_seconds"][name] / stages["graphs"] for name in names]
    figure, axes = pyplot.subplots(figsize=(7, 3.2))
    axes.barh(names, values, color=BLUE)
    for i, value in enumerate(values):
        axes.annotate(short(value), (value, i), textcoords="offset points", xytext=(4, -3), fontsize=9)
    axes_of(axes, f"Where the time goes, {stages['references']:,} references", "CPU microseconds per graph", "")
    axes.grid(axis="y", visible=False)
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    main()
