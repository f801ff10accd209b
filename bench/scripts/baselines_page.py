"""Put the figures of the deep baselines into their page, from records alone.

    python bench/scripts/baselines_page.py            # rewrites the marked parts of bench/docs/baselines.md

Run it again when more cells of `bench/results/single/minority` or rows of `bench/results/benchmarks/baselines.json`
 exist.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean

from glassbench.datasets import TWELVE
from glassbench.paper_figures import MAIN_RESULTS
from glassbench.records import Results
from glassbench.table_entries import SHORT
from glassbench.table_model import filled, markdown
from glassbench.tables import tables

PAGE = Path("bench/docs/baselines.md")
COSTS = Path("bench/results/benchmarks/baselines.json")
OWN_CODE = Path("bench/results/benchmarks/own_code.json")
RECORDS = Path("bench/results/single/minority")
FLIP = Path("bench/results/single/minority-flip")
SHARES = Path("bench/results/anomaly-share/minority")
NAMES = {
    "ocgin": "OCGIN",
    "glocalkd": "GLocalKD",
    "ocgtl": "OCGTL",
    "signet": "SIGNET",
    "signet-batch": "SIGNETBatch",
    "gladc": "GLADC",
    "cvtgad": "CVTGAD",
    "cvtgad-batch": "CVTGADBatch",
    "muse": "MUSE",
    "uniform": "UniFORM",
}


def main() -> None:
    PAGE.write_text(page())


def page() -> str:
    """The page as the records have it."""
    costs = json.loads(COSTS.read_text())
    parts = {
        "own-code": own_code(),
        "share": [tables(str(SHARES))[0].render("md")],
        "cost": cost(costs),
        "figures": figures(RECORDS, published=True),
        "flip": figures(FLIP, published=False),
    }
    return filled(PAGE, {name: "\n".join(lines) for name, lines in parts.items()})


def own_code() -> list[str]:
    """The authors' code, ours with the same score on the same split, and the published figure."""
    measured = json.loads(OWN_CODE.read_text())["rows"]
    results = Results.open(RECORDS)
    rows = []
    for method in dict.fromkeys(row["method"] for row in measured):
        first = {r["cell"]["dataset"]: r for r in results.records(method) if r["cell"]["seed"] == 0}
        pairs, published = [], MAIN_RESULTS[(method.removesuffix("-batch"),)]
        for row in (row for row in measured if row["method"] == method):
            name, last = row["dataset"], row["last_epoch"]
            ours = first[name]["metrics"]["auroc"] if name in first else None
            if ours is not None:
                pairs.append((last, ours))
            shown = "" if ours is None else f"{ours:.1f}"
            theirs = " or ".join(f"{value:.1f}" for value in last)
            best = f"{row['best_test_epoch']:.1f}"
            rows.append([method, SHORT.get(name, name), best, theirs, shown, f"{published[name][0]:.1f}"])
        if len(pairs) > 1:
            theirs = " or ".join(
                f"{mean(last[min(i, len(last) - 1)] for last, _ in pairs):.1f}" for i in range(len(pairs[0][0]))
            )
            average = f"{mean(ours for _, ours in pairs):.1f}"
            rows.append([f"**{method}**", f"**mean of {len(pairs)}**", "", f"**{theirs}**", f"**{average}**", ""])
    head = ["method", "dataset", "own code, best test epoch", "own code, last epoch", "ours, last epoch", "published"]
    return markdown(head, rows, "---")


def cost(costs: dict) -> list[str]:
    rows = [
        [
            NAMES[row["method"]],
            SHORT.get(row["dataset"], row["dataset"]),
            str(row["steps"]),
            f"{row['fit_cpu_seconds']:.1f}",
            f"{row['score_cpu_seconds']:.2f}",
            f"{row['peak_mib']:,}",
        ]
        for part in ("cost", "large")
        for row in costs.get(part, [])
    ]
    head = ["method", "dataset", "steps", "fit, CPU s", "scores, CPU s", "peak memory, MiB"]
    return markdown(head, rows, "---") if rows else ["Not measured yet."]


def figures(folder: Path, *, published: bool) -> list[str]:
    results = Results.open(folder)
    rows = []
    for method, name in NAMES.items():
        cells = defaultdict(list)
        for record in results.records(method):
            cells[record["cell"]["dataset"]].append(record["metrics"]["auroc"])
        if cells or published:
            rows.append([name, *(f"{mean(cells[d]):.1f} ({len(cells[d])})" if cells[d] else "" for d in TWELVE)])
        if published:
            known = MAIN_RESULTS[(method.removesuffix("-batch"),)]
            rows.append(["published", *(f"{known[d][0]:.1f}" for d in TWELVE)])
    head = ["method", *(SHORT.get(d, d) for d in TWELVE)]
    return markdown(head, rows, "---") if rows else ["Not measured yet."]


if __name__ == "__main__":
    main()
