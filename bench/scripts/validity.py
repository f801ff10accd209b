"""How many new normal graphs have a p-value of at most alpha.

    python bench/scripts/validity.py --data DATA [--parts sizes,copies] [--splits 60]

A valid p-value is at most alpha for a share of at most floor(alpha (n + 1)) / (n + 1) new normal graphs. The part
``sizes`` draws 5 to 100 references and new graphs from the largest class of a dataset, the part ``copies`` 400
references that are then listed once, in part twice, twice or three times; a fresh split each time. Molecules count once
however often they are listed; HDFS and IMDB-BINARY keep their repeats, so they are listed once. Writes
bench/results/benchmarks/validity.json, of which the page bench/docs/quality.md shows the copies.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import rdkit

from glassbench.datasets import Datasets
from glassbench.fingerprint import fingerprint
from graphglass import GraphGlass, GraphSet, read_graphs
from graphglass.channels.profiled_graphs import measure_graphs

OUT = Path("bench/results/benchmarks/validity.json")
NAMES = ("MUTAG", "NCI1", "ENZYMES", "PROTEINS", "IMDB-BINARY")
SIZES = (5, 10, 20, 40, 64, 65, 100)
ALPHAS = (0.05, 0.1, 0.2)
NEW = 40  # new normal graphs of a split
NCI = Path(rdkit.__file__).parent / "Data" / "NCI" / "first_5K.smi"  # comes with RDKit
REFERENCES = 400
LISTED = {"once": (1, 1), "half of them twice": (2, 1), "twice": (2, 2), "three times": (3, 3)}  # each half, how often
MOST_NEW = 1000


def shares(datasets: Datasets, name: str, splits: int) -> dict[str, list[float]]:
    """For every number of references, the share of new normal graphs at each alpha."""
    graphs = _largest_class(datasets, name)
    measured = measure_graphs(graphs[np.random.default_rng(0).permutation(len(graphs))[:400]])
    found: dict[str, list[float]] = {}
    for size in SIZES:
        hits = []
        for seed in range(splits):
            order = np.random.default_rng([size, seed]).permutation(len(measured))[: size + NEW]
            if len(order) == size + NEW:
                p_values = GraphGlass().fit(measured[order[:size]]).p_values(measured[order[size:]])
                hits.append([(p_values <= alpha + 1e-12).mean() for alpha in ALPHAS])
        if hits:
            found[str(size)] = [round(float(value), 4) for value in np.mean(hits, axis=0)]
    return found


def copies(graphs: GraphSet, ways: dict[str, tuple[int, int]], splits: int) -> Iterator[dict[str, Any]]:
    """For every way to list the references, the share of new normal graphs at each alpha, over some splits."""
    measured = measure_graphs(graphs)
    hits: dict[str, list[list[float]]] = {way: [] for way in ways}
    repeated = []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(measured))
        references, new = order[:REFERENCES], measured[order[REFERENCES : REFERENCES + MOST_NEW]]
        for way, (first, second) in ways.items():
            half = REFERENCES // 2
            rows = np.concatenate([np.tile(references[:half], first), np.tile(references[half:], second)])
            detector = GraphGlass().fit(measured[rows])
            p_values = detector.p_values(new)
            hits[way].append([(p_values <= alpha + 1e-12).mean() for alpha in ALPHAS])
            repeated.append(detector.method_facts()["repeats"].partition(";")[0])
    for way, found in hits.items():
        shares = [round(float(value), 4) for value in np.mean(found, axis=0)]
        yield {"listed": way, "repeats": repeated[0], "splits": splits, "shares": shares}


def _largest_class(datasets: Datasets, name: str) -> GraphSet:
    graphs = datasets.get(name)
    classes, counts = np.unique(np.asarray(graphs.labels), return_counts=True)
    return graphs.without_labels()[np.asarray(graphs.labels) == classes[np.argmax(counts)]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--parts", default="sizes,copies")
    parser.add_argument("--splits", type=int, default=60)
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # what is repeated, at every fit
    datasets = Datasets(options.data)
    record = json.loads(OUT.read_text()) if OUT.exists() else {}
    parts = options.parts.split(",")
    if "sizes" in parts:
        found = {name: shares(datasets, name, options.splits) for name in NAMES}
        record |= {"splits": options.splits, "alphas": ALPHAS, "shares": found}
        _print_sizes(found)
    if "copies" in parts:
        sets = [("NCI", read_graphs(NCI), LISTED)]
        sets += [(name, _largest_class(datasets, name), {"once": (1, 1)}) for name in ("HDFS_100k", "IMDB-BINARY")]
        rows = [{"set": name, **row} for name, graphs, ways in sets for row in copies(graphs, ways, options.splits)]
        record["copies"] = {"references": REFERENCES, "fingerprint": fingerprint("graphglass"), "rows": rows}
    OUT.write_text(json.dumps(record, indent=1) + "\n")


def _print_sizes(record: dict[str, dict[str, list[float]]]) -> None:
    for size in SIZES:
        rows = [found[str(size)] for found in record.values() if str(size) in found]
        bounds = [np.floor(alpha * (size + 1) + 1e-9) / (size + 1) for alpha in ALPHAS]
        means = np.mean(rows, axis=0)
        cells = [f"{mean:.3f} of {bound:.3f}" for mean, bound in zip(means, bounds, strict=True)]
        print(f"| {size} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
