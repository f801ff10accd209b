"""Put measured figures into the pages on structure, serving, language and training.

    python bench/scripts/measured_pages.py

Run it again after `structure.py`, `serving.py`, `encoders.py`, `anchor_choice.py` or `training.py`. A test compares the
pages with `bench/results/benchmarks`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from glassbench.datasets import TWELVE
from glassbench.table_entries import SHORT
from glassbench.table_model import filled, markdown

RESULTS = Path("bench/results/benchmarks")
HOMES = {"structure": "bench/docs", "serving": "docs", "language": "docs", "training": "bench/docs"}


def main() -> None:
    for page, text in pages().items():
        page.write_text(text)


def pages() -> dict[Path, str]:
    """Every page as the result files have it."""
    parts = {
        "structure": {"descriptors": descriptors(), "sketch": sketch()},
        "serving": {"serving": serving()},
        "language": {"encoders": encoders(), "anchors": anchors()},
        "training": {"epochs": epochs()},
    }
    return {(page := Path(f"{HOMES[name]}/{name}.md")): filled(page, blocks) for name, blocks in parts.items()}


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(markdown(head, rows))


def graphs(row: dict[str, Any]) -> str:
    return f"{SHORT.get(row['dataset'], row['dataset'])}, {row['graphs']} graphs"


def times(ratio: float) -> str:
    """A ratio with two digits, or all before the point."""
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}"


def descriptors() -> str:
    rows = [[graphs(row), *map(times, row["ratio"].values())] for row in results("structure")["descriptors"]]
    return table(["descriptors, how many times faster", "NetworkX", "igraph (C)"], rows)


def sketch() -> str:
    head = ["sketch, how many times faster", "NumPy `eigvalsh` per graph", "SciPy `eigsh`, nine values"]
    rows = [
        [graphs(row), *map(times, row["ratio"].values()), f"{row['largest_difference']:.0e}"]
        for row in results("structure")["sketch"]
    ]
    return table([*head, "largest difference of an eigenvalue"], rows)


def serving() -> str:
    columns = ("request", "clients", "server", "p50_ms", "p99_ms", "graphs_per_second", "processor_ms_per_graph")
    head = ["request", "clients", "server", "p50 ms", "p99 ms", "graphs/s", "processor ms/graph"]
    found = results("serving")
    note = (
        f"With 32 clients, shared batches give {found['throughput_ratio_32_clients']:.1f} times the throughput for "
        f"{found['processor_ratio_32_clients']:.1f} times less processor time per graph. Measured on "
        f"{found['machine']}; load average {found['load_average']}."
    )
    return table(head, [[str(row[name]) for name in columns] for row in found["rows"]]) + f"\n\n{note}"


def encoders() -> str:
    head = [
        "encoder",
        "style",
        "CPU ms per prompt",
        "CPU s to start",
        "Spearman 64 / 128 / 256 / all",
        "R²",
        "peak MiB",
    ]
    rows = []
    for row in results("encoders")["rows"]:
        whole = str(row["fingerprint"]["dimension"])
        correlations = " / ".join(f"{row['spearman'][width]:.2f}" for width in ("64", "128", "256", whole))
        rows.append([
            row["encoder"], row["style"], f"{row['cpu_ms_per_prompt']:.3g}", f"{row['start_cpu_seconds']:.2f}",
            correlations, f"{row['read_out_r2']:.2f}", str(row["memory_peak_mib"]),
        ])  # fmt: skip
    return table(head, rows)


def anchors() -> str:
    found = results("anchor_choice")
    rows = [
        [name, *(f"{values[dataset]:.1f}" for dataset in TWELVE), f"{found['mean'][name]:.1f}"]
        for name, values in found["auroc"].items()
    ]
    return table(["encoder/style", *(SHORT.get(name, name) for name in TWELVE), "mean"], rows)


def epochs() -> str:
    head = [
        "one epoch, CPU seconds",
        "GraphGlass, with prototypes",
        "GraphGlass, without",
        "PyG, without",
        "times faster",
        "times less memory",
    ]
    rows = []
    for row in results("training")["subsets"]:
        ours, plain, ratio = row["compressed"], row["edge_list"], row["edge_list_over_compressed"]
        seconds = (ours["full_cpu_seconds"], ours["cpu_seconds"], plain["cpu_seconds"])
        ratios = (ratio["cpu_seconds"], ratio["epoch_mib"])
        rows.append([graphs(ours | row), *(f"{value:.2f}" for value in seconds), *map(times, ratios)])
    return table(head, rows)


if __name__ == "__main__":
    main()
