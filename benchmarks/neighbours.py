"""Exact nearest neighbours: our blocked product beside faiss' flat index, on the same unit rows, one thread each.

python benchmarks/neighbours.py [--output results/benchmarks/neighbours.json]
"""

import argparse
import json
import time
from pathlib import Path

import faiss
import numpy as np
from threadpoolctl import threadpool_limits

from graphglass.sphere.neighbours import nearest
from graphglass.sphere.slices import normalise


def seconds(function, repeats=3):
    best, answer = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        answer = function()
        best = min(best, time.perf_counter() - start)
    return best, answer


def flat(queries, references, k):
    index = faiss.IndexFlatIP(references.shape[1])
    index.add(references)
    return index.search(queries, k)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/neighbours.json"))
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(1)
    rng = np.random.default_rng(0)
    rows = []
    with threadpool_limits(1):
        for references in (1_000, 10_000, 100_000):
            bank = normalise(rng.normal(size=(references, 128))).astype(np.float32)
            queries = normalise(rng.normal(size=(200, 128))).astype(np.float32)
            ours, (_, found) = seconds(lambda: nearest(queries, bank, 5))  # noqa: B023
            theirs, (_, expected) = seconds(lambda: flat(queries, bank, 5))  # noqa: B023
            same = float((np.sort(found, axis=1) == np.sort(expected, axis=1)).mean())
            rows.append(
                {"references": references, "queries": 200, "seconds": ours, "faiss_flat_seconds": theirs, "same": same}
            )
            print(f"{references:>7} references: ours {ours:.4f} s, faiss flat {theirs:.4f} s, equal {same:.4f}")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
