"""Put the figures of the deep baselines into their page, from records alone.

    python benchmarks/baselines_page.py            # rewrites the marked parts of docs/baselines.md

Run it again when more cells of `results/single/minority` or rows of `results/benchmarks/baselines.json` exist.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import mean

from graphglass.bench.datasets import TWELVE
from graphglass.bench.paper_figures import MAIN_RESULTS
from graphglass.bench.records import Results
from graphglass.bench.tables import SHORT

PAGE = Path("docs/baselines.md")
COSTS = Path("results/benchmarks/baselines.json")
RECORDS = Path("results/single/minority")
FLIP = Path("results/single/minority-flip")
LARGE = ("DD", "NCI1", "COLLAB", "REDDIT-BINARY")
NAMES = {
    "ocgin": "OCGIN",
    "glocalkd": "GLocalKD",
    "ocgtl": "OCGTL",
    "signet": "SIGNET",
    "gladc": "GLADC",
    "cvtgad": "CVTGAD",
    "muse": "MUSE",
    "uniform": "UniFORM",
}


def main() -> None:
    costs = json.loads(COSTS.read_text())
    text = PAGE.read_text()
    for name, lines in {
        "batch-mates": batch_mates(costs),
        "cost": cost(costs),
        "whole": whole_runs(),
        "figures": figures(RECORDS, published=True),
        "flip": figures(FLIP, published=False),
    }.items():
        pattern = rf"<!-- {name} -->.*?<!-- end -->"
        if not re.search(pattern, text, flags=re.DOTALL):
            raise SystemExit(f"{PAGE} has no part marked {name!r}.")
        body = f"<!-- {name} -->\n\n" + "\n".join(lines) + "\n\n<!-- end -->"
        text = re.sub(pattern, lambda _, body=body: body, text, flags=re.DOTALL)
    PAGE.write_text(text)


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]]


def batch_mates(costs: dict) -> list[str]:
    rows = [
        [
            NAMES[row["method"]],
            SHORT.get(row["dataset"], row["dataset"]),
            f"{100 * row['anomalous_share_of_test']:.0f}%",
            f"{row['auroc_against_test_batch']:.1f}",
            f"{row['auroc_against_references']:.1f}",
        ]
        for row in costs.get("batch_mates", [])
    ]
    head = ["method", "dataset", "anomalies in the test set", "against the test batch", "against references (ours)"]
    return table(head, rows) if rows else ["Not measured yet."]


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
    return table(head, rows) if rows else ["Not measured yet."]


def whole_runs() -> list[str]:
    """What the recorded cells of the large datasets took: their quickest seed, as other work only adds to it."""
    results = Results.open(RECORDS)
    rows = []
    for method, name in NAMES.items():
        cells = defaultdict(list)
        for record in results.records(method):
            cells[record["cell"]["dataset"]].append(record)
        for dataset in LARGE:
            found = cells[dataset]
            if found:
                seconds = [f"{min(record['seconds'][part] for record in found):.1f}" for part in ("fit", "score")]
                memory = max(record["peak_memory_mb"] for record in found)
                rows.append([name, SHORT.get(dataset, dataset), *seconds, f"{memory:,.0f}"])
    return table(["method", "dataset", "fit, s", "scores, s", "peak memory, MB"], rows)


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
            rows.append(["published", *(f"{MAIN_RESULTS[(method,)][d][0]:.1f}" for d in TWELVE)])
    return table(["method", *(SHORT.get(d, d) for d in TWELVE)], rows) if rows else ["Not measured yet."]


if __name__ == "__main__":
    main()
