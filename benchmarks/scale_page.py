"""Draw the figures of the scale benchmark and put its tables into docs/scale.md, from the records alone.

python benchmarks/scale_page.py
"""

import json
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

RECORDS = Path("results/benchmarks/scale.json")
PAGE = Path("docs/scale.md")
FIGURES = Path("results/benchmarks")
# Colour-blind safe (Okabe and Ito).
ORANGE, BLUE, GREEN, PINK, GREY = "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#666666"
KINDS = {"sphere": ("graph", "text"), "pattern": ("pattern",), "table": ("size", "structure", "direction", "geometry")}
SAMPLE = 20_000


def main():
    records = {row["cell"]: row for row in json.loads(RECORDS.read_text())}
    figures = {
        "scale-graphs.png": draw_graphs,
        "scale-references.png": draw_references,
        "scale-stages.png": draw_stages,
    }
    for name, draw in figures.items():
        figure = draw(records)
        figure.savefig(FIGURES / name, dpi=150, bbox_inches="tight")
        pyplot.close(figure)
    text = PAGE.read_text()
    parts = {
        "graphs": graphs_table, "stages": stages_table, "search": search_table, "channels": channels_table,
        "large": large_table, "workers": workers_table, "cost": cost_table,
    }  # fmt: skip
    for name, lines in parts.items():
        pattern = rf"<!-- {name} -->.*?<!-- end -->"
        if not re.search(pattern, text, flags=re.DOTALL):
            raise SystemExit(f"{PAGE} has no part marked {name!r}.")
        body = f"<!-- {name} -->\n\n" + "\n".join(lines(records)) + "\n\n<!-- end -->"
        text = re.sub(pattern, lambda _, body=body: body, text, flags=re.DOTALL)
    PAGE.write_text(text)


def table(head, rows):
    marks = ["---", *["---:"] * (len(head) - 1)]
    return ["| " + " | ".join(row) + " |" for row in [head, marks, *rows]]


def power(number):
    return f"{number:,}"


def short(value):
    """Three significant digits without an exponent."""
    return f"{float(f'{value:.3g}'):,.10g}"


# What the records say.


def runs(records):
    """Graphs, seconds, processor seconds, memory and bytes of every size; the largest is the sum of its runs."""
    pieces = [row for cell, row in records.items() if cell.startswith("graphs/100000/")]
    found = [records["graphs/1000"], records["graphs/10000"], records["graphs/100000/0"]]
    if len(pieces) > 1:
        sums = {name: sum(row[name] for row in pieces) for name in (
            "graphs", "seconds", "cpu_seconds", "bytes_in", "bytes_out",
        )}  # fmt: skip
        highest = {name: max(row[name] for row in pieces) for name in ("total_memory_mb", "largest_process_mb")}
        found.append({**sums, **highest})
    return found


def search(records):
    return [row for cell, row in records.items() if cell.startswith("references/")]


def channel_costs(records):
    """References -> kind -> (milliseconds a query, megabytes, seconds of calibration or None)."""
    costs = {}
    for cell, row in records.items():
        if cell.startswith("channels/"):
            costs[row["references"]] = {
                kind: [
                    None if any(row["channels"][name][field] is None for name in names)
                    else sum(row["channels"][name][field] for name in names)
                    for field in ("ms_per_query", "megabytes", "calibration_seconds")
                ]
                for kind, prefixes in KINDS.items()
                if (names := [name for name in row["channels"] if name.split(":")[0] in prefixes])
            }  # fmt: skip
    return dict(sorted(costs.items()))


def at(costs, kind, references):
    """Milliseconds a query of one kind of channel, along the line between the measured sizes (logarithmic)."""
    sizes = list(costs)
    low = max((size for size in sizes if size <= references), default=sizes[0])
    high = min((size for size in sizes if size >= references), default=sizes[-1])
    if low == high:
        return costs[low][kind][0] * references / low
    share = (references - low) / (high - low)
    return (1 - share) * costs[low][kind][0] + share * costs[high][kind][0]


# Tables.


def graphs_table(records):
    return table(
        ["graphs", "wall seconds", "CPU seconds", "graphs per CPU second", "all processes", "largest process"],
        [
            [
                power(row["graphs"]), short(row["seconds"]), short(row["cpu_seconds"]),
                short(row["graphs"] / row["cpu_seconds"]),
                f"{row['total_memory_mb'] / 1024:.2f} GB", f"{row['largest_process_mb'] / 1024:.2f} GB",
            ]
            for row in runs(records)
        ],
    )  # fmt: skip


def stages_table(records):
    stages = records["stages"]
    total = sum(stages["cpu_seconds"].values())
    rows = [
        [name, short(1e6 * seconds / stages["graphs"]), f"{100 * seconds / total:.0f}%", short(stages["rate"][name])]
        for name, seconds in stages["cpu_seconds"].items()
    ]
    return table(["stage", "CPU µs per graph", "share", "graphs per CPU second"], rows)


def search_table(records):
    rows = sorted(search(records), key=lambda row: (row["references"], ("flat", "hnsw", "ivf").index(row["kind"])))
    return table(
        ["references", "index", "build CPU s", "CPU ms per query", "recall@3", "file"],
        [
            [
                power(row["references"]), row["kind"], short(row["build_seconds"]), short(row["ms_per_query"]),
                f"{row['recall_on_queries']:.3f}", f"{row['bytes'] / 2**20:,.0f} MB",
            ]
            for row in rows
        ],
    )  # fmt: skip


def channels_table(records):
    costs = channel_costs(records)
    rows = []
    for count, kinds in costs.items():
        for kind, (milliseconds, megabytes, calibration) in kinds.items():
            shown = "not run" if calibration is None else short(calibration)
            rows.append([power(count), kind, short(milliseconds), f"{megabytes:,.0f} MB", shown])
    last, kinds = list(costs.items())[-1]
    for kind, (milliseconds, megabytes, _) in kinds.items():
        factor = 1_000_000 / last
        name = f"1,000,000 (×{factor:.0f})"
        rows.append([name, kind, short(milliseconds * factor), f"{megabytes * factor:,.0f} MB", "–"])
    return table(["references", "channels", "CPU ms per query", "in memory", "calibration CPU s"], rows)


def large_table(records):
    rows = []
    for cell, row in records.items():
        if not cell.startswith("large/"):
            continue
        recalls = [facts["recall"] for facts in row["index"].values()]
        first = row["processes"][0]
        rows.append(
            [
                power(row["references"]), next(iter(row["index"].values()))["kind"],
                f"{min(recalls):.3f}–{max(recalls):.3f}", short(row["encoding_seconds"]),
                short(row["indexing_seconds"]), short(row["calibrating_seconds"]),
                f"{row['model_bytes'] / 2**30:.2f} GB",
                short(max(item["loading_seconds"] for item in row["processes"])),
                f"{first['rss_mb'] / 1024:.2f} / {first['pss_mb'] / 1024:.2f} GB",
                short(1000 * first["sphere_seconds"] / first["graphs"]),
                short(1000 * first["scoring_seconds"] / first["graphs"]),
            ]
        )  # fmt: skip
    if not rows:
        return ["Not measured yet."]
    head = [
        "references", "index", "recall@3 by code", "encode", "index (CPU s)", "calibrate", "model", "load (CPU s)",
        "a process: RSS / its share", "spherical ms per query", "all ms per query",
    ]  # fmt: skip
    return table(head, rows)


def workers_table(records):
    rows = {}
    for cell, row in records.items():
        if cell.startswith("workers/"):
            rows.setdefault(row["workers"], []).append(row)
    if not rows:
        return ["Not measured yet."]
    mean = {count: sum(row["rate"] for row in found) / len(found) for count, found in sorted(rows.items())}
    return table(
        ["workers", "graphs", "wall seconds, each attempt", "graphs per second", "efficiency"],
        [
            [
                str(count), power(rows[count][0]["graphs"]), ", ".join(short(row["seconds"]) for row in rows[count]),
                short(rate), f"{rate / mean[1] / count:.2f}",
            ]
            for count, rate in mean.items()
        ],
    )  # fmt: skip


def cost_table(records):
    costs, run = channel_costs(records), runs(records)[-1]
    measured = 1000 * run["cpu_seconds"] / run["graphs"]  # with 1,000 references

    def channels(references):
        return sum(at(costs, kind, references) for kind in KINDS)

    into, out = run["bytes_in"] / run["graphs"], run["bytes_out"] / run["graphs"]
    rows = []
    for graphs in (10**6, 10**7, 10**8, 10**9):
        cells = [f"10^{len(str(graphs)) - 1}"]
        for references in (1_000, 10_000, SAMPLE):
            each = measured + channels(references) - channels(1_000)
            cells.append(short(graphs * each / 3.6e6))
        cells += [f"{short(graphs * into / 1e9)} GB", f"{short(graphs * out / 1e9)} GB", power(-(-graphs // 20_000))]
        rows.append(cells)
    head = [
        "graphs", "1,000 references", "10,000 references", f"{SAMPLE:,} references", "read", "written",
        "parts of 20,000",
    ]  # fmt: skip
    return table(head, rows)


# Figures.


def axes_of(pyplot_axes, title, xlabel, ylabel):
    pyplot_axes.set_title(title, loc="left", fontsize=11)
    pyplot_axes.set_xlabel(xlabel)
    pyplot_axes.set_ylabel(ylabel)
    pyplot_axes.grid(alpha=0.25)
    for side in ("top", "right"):
        pyplot_axes.spines[side].set_visible(False)


def draw_graphs(records):
    rows = runs(records)
    sizes = [row["graphs"] for row in rows]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8))
    left.loglog(sizes, [row["cpu_seconds"] for row in rows], "o-", color=BLUE, label="CPU seconds")
    left.loglog(sizes, [row["seconds"] for row in rows], "s--", color=GREY, label="wall seconds, machine shared")
    left.legend(frameon=False)
    axes_of(left, "Time from parts to scores", "graphs", "seconds")
    for field, label, look, colour in (
        ("total_memory_mb", "all processes", "o-", ORANGE),
        ("largest_process_mb", "largest process", "s-", GREEN),
    ):
        right.semilogx(sizes, [row[field] / 1024 for row in rows], look, color=colour, label=label)
    right.axhline(4, color=GREY, linewidth=0.8, linestyle=":")
    right.set_ylim(0, 4.4)
    right.legend(frameon=False, loc="center right")
    axes_of(right, "Resident memory at its highest", "graphs", "GB")
    figure.tight_layout()
    return figure


def draw_references(records):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2))
    looks = {"flat": (BLUE, "exact"), "hnsw": (GREEN, "neighbour graph"), "ivf": (ORANGE, "inverted lists")}
    for kind, (colour, label) in looks.items():
        rows = sorted((row for row in search(records) if row["kind"] == kind), key=lambda row: row["references"])
        sizes, times = [row["references"] for row in rows], [row["ms_per_query"] for row in rows]
        left.loglog(sizes, times, "o-", color=colour, label=label)
        if kind != "flat":
            for row in (row for row in rows if row["references"] >= 100_000):  # below, exact search is used
                place, recall = (row["references"], row["ms_per_query"]), f"{row['recall_on_queries']:.3f}"
                shift = (0, 8 if kind == "ivf" else -14)
                left.annotate(
                    recall, place, fontsize=8, color=colour, textcoords="offset points", xytext=shift, ha="center"
                )
    left.legend(frameon=False)
    axes_of(left, "One spherical code; the numbers are recall@3", "references", "CPU milliseconds per query")
    costs = channel_costs(records)
    for kind, colour in zip(KINDS, (BLUE, PINK, GREEN), strict=True):
        times = [found[kind][0] for found in costs.values()]
        right.loglog(list(costs), times, "o-", color=colour, label=f"{kind}, exact")
    indexed = [(row["references"], row["processes"][0]) for cell, row in records.items() if cell.startswith("large/")]
    if indexed:
        sizes = [count for count, _ in indexed]
        right.loglog(
            sizes, [1000 * item["sphere_seconds"] / item["graphs"] for _, item in indexed], "D--", color=ORANGE,
            label="sphere, indexed",
        )  # fmt: skip
    right.axvline(SAMPLE, color=GREY, linewidth=0.8, linestyle=":")
    right.annotate(
        "past this, a sample stands\nfor all in pattern and table", (SAMPLE, right.get_ylim()[0]),
        fontsize=8, color=GREY, textcoords="offset points", xytext=(4, 6),
    )  # fmt: skip
    right.legend(frameon=False, fontsize=9)
    axes_of(right, "All channels of the default detector", "references", "CPU milliseconds per query")
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
