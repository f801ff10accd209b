"""Put the tables of the paper, as the records have them, into `docs/reproduction.md`.

    python benchmarks/reproduction_page.py
    python benchmarks/reproduction_page.py --count DATA      # counts the datasets of tab:dataset_stats again first

Run it again when records were added. A test compares the page with the records.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from graphglass.bench.datasets import TWELVE
from graphglass.bench.records import Record, Results
from graphglass.bench.table_model import filled
from graphglass.bench.tables import tables
from graphglass.graphs import GraphSet
from graphglass.graphs.tu_catalogue import load_dataset

PAGE = Path("docs/reproduction.md")
RESULTS = Path("results")
STATS = Path("results/benchmarks/dataset_stats.json")
# The part of the page, and the folder whose records of glass-paper it shows.
FOLDERS = {
    "main": "single/minority",
    "main-flip": "single/minority-flip",
    "selection": "select-test/minority",
    "scoring": "scoring/minority",
    "scale": "text/minority",
    "private": "private/minority",
    "cross": "transfer/minority",
    "few-shot": "few-shot/minority",
    "lora": "lora/minority",
}
METHOD = "glass-paper"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=Path, metavar="DATA", help="folder of dataset zips")
    if root := parser.parse_args().count:
        STATS.write_text(json.dumps({name: counted(load_dataset(name, root)) for name in TWELVE}, indent=1) + "\n")
    PAGE.write_text(page())


def counted(graphs: GraphSet) -> dict[str, float]:
    """One row of tab:dataset_stats; `columns` are one-hot labels and attributes."""
    labels = 0 if graphs.node_labels is None else len(np.unique(graphs.node_labels))
    attributes = len(graphs.attribute_names)
    return {
        "graphs": len(graphs),
        "classes": len(np.unique(graphs.labels)),
        "mean nodes": round(float(graphs.sizes.mean()), 2),
        "mean edges": round(float(graphs.edge_counts.mean()), 2),
        "node labels": labels,
        "edge labels": 0 if graphs.edge_labels is None else len(np.unique(graphs.edge_labels)),
        "attributes": attributes,
        "columns": labels + attributes,
    }


def stats() -> str:
    rows = json.loads(STATS.read_text())
    head = ["dataset", *rows[TWELVE[0]]]
    lines = [head, ["---"] * len(head), *([name, *map(str, row.values())] for name, row in rows.items())]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page() -> str:
    """The page as the records have it."""
    return filled(PAGE, {name: part(RESULTS / folder) for name, folder in FOLDERS.items()} | {"stats": stats()})


def part(folder: Path) -> str:
    """How many cells there are, and their table; the table of the main benchmark has its own page for the others."""
    records = Results.open(folder).records(METHOD) if folder.exists() else []
    if not records:
        return "**No records yet.**"
    return f"{coverage(records)}\n\n{shown(folder, records)}"


def coverage(records: list[Record]) -> str:
    names = [name for name in TWELVE if any(record["cell"]["dataset"] == name for record in records)]
    seeds = sorted({record["cell"]["seed"] for record in records})
    threads = sorted({record["threads"] for record in records})
    return (
        f"Cells: {len(records)}; datasets: {', '.join(names)}; seeds: {', '.join(map(str, seeds))}; "
        f"threads: {', '.join(map(str, threads))}."
    )


def shown(folder: Path, records: list[Record]) -> str:
    if records[0]["benchmark"] != "single":
        return "\n".join(table.render("md") for table in tables(str(folder)))
    (table,) = tables(str(folder))
    rows = [row for row in table.rows if row.name.startswith(METHOD)]
    columns = [
        i for i in range(len(table.head) - 3) if any(row.entries[i] is not None for row in rows if not row.quoted)
    ]
    lines = [["row", *(table.head[i + 1] for i in columns), "mean"]]
    for row in rows:
        values = [row.entries[i] for i in columns]
        mean = sum(value.mean for value in values) / len(values)
        lines.append([row.name, *(value.text() for value in values), f"{mean:.1f}"])
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
