"""Seconds and memory of the deep baselines.

    python bench/scripts/baselines.py --data-root DATA --output bench/results/benchmarks/baselines.json

`cost`: one whole fit and the scores of the test graphs (protocol minority, seed 0) per method and small dataset, each
in its own process. `large`: the same with STEPS optimiser steps on DD and REDDIT-BINARY; memory does not grow with
further steps, and seconds per step times 300 is the default run. Processor time is the fairer clock on a busy machine.
Rows already in the output are kept.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch

from glassbench.baselines.deep import DeepDetector
from glassbench.methods import factory
from glassbench.protocols import split
from graphglass.graphs.datasets import load_dataset

METHODS = ("ocgin", "glocalkd", "ocgtl", "signet", "gladc", "cvtgad", "muse", "uniform")
SMALL, LARGE = ("MUTAG", "BZR"), ("DD", "REDDIT-BINARY")
STEPS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--output", type=Path, default=Path("bench/results/benchmarks/baselines.json"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--one", nargs=3, metavar=("PART", "METHOD", "DATASET"), help="measure one row and print it")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.one:
        print(json.dumps(measure(*options.one, options.data_root)))
        return
    wanted = [("cost", method, dataset) for dataset in SMALL for method in METHODS]
    wanted += [("large", method, dataset) for dataset in LARGE for method in METHODS]
    record = json.loads(options.output.read_text()) if options.output.exists() else {}
    record["machine"] = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": options.threads,
    }
    for part, method, dataset in wanted:
        rows = record.setdefault(part, [])
        if any((row["method"], row["dataset"]) == (method, dataset) for row in rows):
            continue
        rows.append(elsewhere(part, method, dataset, options))
        print(part, rows[-1], flush=True)
        rows.sort(key=lambda row: wanted.index((part, row["method"], row["dataset"])))
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(record, indent=1) + "\n")


def elsewhere(part: str, method: str, dataset: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", part, method, dataset, "--threads", str(options.threads)]
    if options.data_root is not None:
        command += ["--data-root", str(options.data_root)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def measure(part: str, method: str, dataset: str, data_root: Path | None) -> dict[str, Any]:
    graphs = load_dataset(dataset, data_root)
    assert graphs.labels is not None
    parts = split(graphs.labels, "minority", 0)
    detector = factory(method)(0)
    assert isinstance(detector, DeepDetector)
    if part == "large":
        detector.set_params(max_steps=STEPS)
    # Compiled kernels and first allocations are not what is measured.
    type(detector)(max_steps=1).fit(graphs[parts.references[:4]]).decision_function(graphs[parts.test[:4]])
    before, started = time.process_time(), time.perf_counter()
    detector.fit(graphs[parts.references])
    fitted, fitted_wall = time.process_time(), time.perf_counter()
    detector.decision_function(graphs[parts.test])
    scored, scored_wall = time.process_time(), time.perf_counter()
    return {
        "method": method,
        "dataset": dataset,
        "steps": detector.steps_,
        "fit_seconds": round(fitted_wall - started, 2),
        "fit_cpu_seconds": round(fitted - before, 2),
        "score_seconds": round(scored_wall - fitted_wall, 2),
        "score_cpu_seconds": round(scored - fitted, 2),
        "test_graphs": len(parts.test),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


if __name__ == "__main__":
    main()
