"""How many new normal graphs have a p-value of at most alpha, for reference sets of 5 to 100 graphs.

    python bench/scripts/validity.py --data DATA [--splits 60]

A valid p-value is at most alpha for a share of at most floor(alpha (n + 1)) / (n + 1) new normal graphs. References and
new graphs are drawn from the largest class of a dataset, a fresh split each time. Writes
bench/results/benchmarks/validity.json and prints it as a table.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from glassbench.datasets import Datasets
from graphglass import GraphGlass
from graphglass.channels.profiled_graphs import measure_graphs

OUT = Path("bench/results/benchmarks/validity.json")
NAMES = ("MUTAG", "NCI1", "ENZYMES", "PROTEINS", "IMDB-BINARY")
SIZES = (5, 10, 20, 40, 64, 65, 100)
ALPHAS = (0.05, 0.1, 0.2)
NEW = 40  # new normal graphs of a split


def shares(datasets: Datasets, name: str, splits: int) -> dict[str, list[float]]:
    """For every number of references, the share of new normal graphs at each alpha."""
    graphs = datasets.get(name)
    classes, counts = np.unique(np.asarray(graphs.labels), return_counts=True)
    normal = np.flatnonzero(np.asarray(graphs.labels) == classes[np.argmax(counts)])
    measured = measure_graphs(graphs.without_labels()[np.random.default_rng(0).permutation(normal)[:400]])
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=60)
    options = parser.parse_args()
    datasets = Datasets(options.data)
    record = {name: shares(datasets, name, options.splits) for name in NAMES}
    OUT.write_text(json.dumps({"splits": options.splits, "alphas": ALPHAS, "shares": record}, indent=1) + "\n")
    for size in SIZES:
        rows = [found[str(size)] for found in record.values() if str(size) in found]
        bounds = [np.floor(alpha * (size + 1) + 1e-9) / (size + 1) for alpha in ALPHAS]
        means = np.mean(rows, axis=0)
        cells = [f"{mean:.3f} of {bound:.3f}" for mean, bound in zip(means, bounds, strict=True)]
        print(f"| {size} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
