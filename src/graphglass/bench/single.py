"""Single-domain detection (tab:main_results): references and queries from one dataset."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.bench.datasets import Datasets
from graphglass.bench.methods import KERNELS, TRAINING_FREE, Detector, factory
from graphglass.bench.metrics import evaluate
from graphglass.bench.protocols import Split, blind, split
from graphglass.bench.records import Cell
from graphglass.bench.runner import Job, Outcome
from graphglass.graphs import GraphSet


def single_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    protocol: str,
    seeds: int,
    *,
    flip: bool = False,
) -> list[Job]:
    """One job per dataset, method and seed."""

    def job(name: str, method: str, seed: int) -> Job:
        def run(cells: Sequence[Cell]) -> Iterator[Outcome]:
            yield single_cell(datasets.get(name), method, cells[0], protocol, flip=flip)

        return Job(method, ({"dataset": name, "seed": seed},), (name,), run)

    return [job(name, method, seed) for name in names for method in methods for seed in range(seeds)]


def single_cell(graphs: GraphSet, method: str, cell: Cell, protocol: str, *, flip: bool = False) -> Outcome:
    """Fit a method on the references of one split and evaluate its scores of the test graphs."""
    assert graphs.labels is not None
    seed = int(cell["seed"])
    parts = split(graphs.labels, protocol, seed, flip=flip)
    references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
    if method in TRAINING_FREE + KERNELS:  # compiled code is loaded outside the clock
        factory(method)(seed).fit(references[:2]).decision_function(references[:2])
    _, scores, seconds = fit_and_score(factory(method)(seed), references, queries)
    return Outcome(cell, evaluate(scores, parts.anomalous), seconds, counts(parts), classes(parts))


def fit_and_score(
    detector: Detector, references: GraphSet, queries: GraphSet
) -> tuple[Detector, NDArray[np.float64], dict[str, float]]:
    """The fitted detector, its scores of the queries, and the seconds of both."""
    start = time.perf_counter()
    fitted = detector.fit(references)
    middle = time.perf_counter()
    scores = fitted.decision_function(queries)
    return fitted, scores, {"fit": middle - start, "score": time.perf_counter() - middle}


def counts(parts: Split) -> dict[str, int]:
    """How many references and test graphs of either kind a split has."""
    anomalies = int(parts.anomalous.sum())
    return {
        "references": len(parts.references),
        "test_normal": len(parts.test) - anomalies,
        "test_anomalous": anomalies,
    }


def classes(parts: Split) -> dict[str, list[int]]:
    """The raw classes on either side of a split."""
    return {"normal": list(parts.normal_labels), "anomalous": list(parts.anomalous_labels)}
