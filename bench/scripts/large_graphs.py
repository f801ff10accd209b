"""Processor time and memory to score one graph of a million edges.

    python bench/scripts/large_graphs.py                  # writes the record and the table of docs/security.md
    python bench/scripts/large_graphs.py --table          # only the table, from the record

The detector is `GraphGlass()` on sixty small random trees. Every graph is scored in its own process; the kernels were
compiled before. Memory is the peak of the process, with the interpreter, the libraries and the graph.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
import numpy as np

from glassbench.table_model import insert
from graphglass import GraphGlass, profile
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet

EDGES = 1_000_000
RECORD = Path("bench/results/security/large_graphs.json")
PAGE = Path("docs/security.md")
SHAPES = ("star", "path", "binary tree", "ten hubs", "random", "complete bipartite", "complete")


def large_graph(shape: str, edges: int = EDGES) -> GraphSet:
    """One graph of about this many edges."""
    numbers = np.arange(1, edges + 1)
    side = round(edges**0.5)
    if shape in ("complete", "complete bipartite"):
        first, second = (
            np.triu_indices(round((2 * edges) ** 0.5), 1) if shape == "complete" else np.indices((side, side))
        )
        offset = 0 if shape == "complete" else side
        sources, targets = first.ravel(), second.ravel() + offset
    elif shape == "random":
        sources, targets = np.random.default_rng(0).integers(0, edges // 5, (2, edges))
    else:
        before = {"star": numbers * 0, "path": numbers - 1, "binary tree": (numbers - 1) // 2, "ten hubs": numbers % 10}
        sources, targets = before[shape], numbers
    return canonical_graph_set([int(max(sources.max(), targets.max())) + 1], sources, targets)


def small_trees(count: int = 60) -> GraphSet:
    """Random trees of 10 to 40 nodes."""
    random = np.random.default_rng(0)
    sizes = random.integers(10, 40, count)
    starts = np.cumsum(sizes) - sizes
    targets = np.concatenate([start + np.arange(1, size) for start, size in zip(starts, sizes, strict=True)])
    sources = np.concatenate(
        [
            start + (random.random(size - 1) * np.arange(1, size)).astype(int)
            for start, size in zip(starts, sizes, strict=True)
        ]
    )
    return canonical_graph_set(sizes, sources, targets)


def measure(shape: str, edges: int = EDGES) -> dict[str, Any]:
    """Score one large graph in this process."""
    detector, graph = GraphGlass().fit(small_trees()), large_graph(shape, edges)
    detector.decision_function(large_graph(shape, 20_000))  # kernels of large graphs load now
    start = time.process_time()
    score = float(detector.decision_function(graph)[0])
    seconds = time.process_time() - start
    # Not ru_maxrss: a process starts with the peak of the one that started it.
    peak = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
    return {
        "shape": shape, "nodes": graph.node_count, "edges": graph.edge_count, "cpu_s": round(seconds, 2),
        "peak_gb": round(peak * 1024 / 1e9, 2), "score": score, "estimated": bool(profile(graph).estimated[0]),
    }  # fmt: skip


def table(record: dict[str, Any]) -> str:
    """The Markdown table of a record."""
    lines = ["| graph | nodes | edges | CPU s | peak memory, GB | estimated |", "|---|---:|---:|---:|---:|---|"]
    for row in record["rows"]:
        marked = "yes" if row["estimated"] else "no"
        size = f"{row['nodes']:,} | {row['edges']:,}"
        lines.append(f"| {row['shape']} | {size} | {row['cpu_s']:.1f} | {row['peak_gb']:.2f} | {marked} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, help="measure this one in this process and print it")
    parser.add_argument("--table", action="store_true", help="only write the table of the page")
    options = parser.parse_args()
    if options.shape:
        print(json.dumps(measure(options.shape)))
        return
    if not options.table:
        rows = []
        for shape in SHAPES:
            command = [sys.executable, __file__, "--shape", shape]
            subprocess.run(command, check=True, capture_output=True)  # compiles kernels
            rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            print(rows[-1], flush=True)
        RECORD.parent.mkdir(parents=True, exist_ok=True)
        RECORD.write_text(json.dumps({"python": sys.version.split()[0], "rows": rows}, indent=1) + "\n")
    insert(table(json.loads(RECORD.read_text())), PAGE, "large")


if __name__ == "__main__":
    main()
