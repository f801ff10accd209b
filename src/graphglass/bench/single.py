"""Benchmarks on one dataset at a time: detection (tab:main_results), scoring rules (tab:scoring), encoders (tab:scale).

References and queries come from one split of one dataset. The three benchmarks differ in the detector they build and
in what they ask it besides its own score.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.bench.cell_work import Job, Outcome, cell_jobs
from graphglass.bench.datasets import Datasets
from graphglass.bench.methods import KERNELS, TRAINING_FREE, Detector, factory
from graphglass.bench.metrics import evaluate
from graphglass.bench.protocols import Splits, blind
from graphglass.bench.records import Cell
from graphglass.errors import BenchError
from graphglass.graphs import GraphSet

SCORING_DATASETS = ("AIDS", "IMDB-BINARY", "PROTEINS", "MUTAG", "ENZYMES", "DHFR")
PRESETS = {"glass-paper": "paper"}  # methods that read text
Ask = Callable[[Any, GraphSet], dict[str, NDArray[np.float64]]]


def single_jobs(datasets: Datasets, names: Sequence[str], methods: Sequence[str], splits: Splits) -> list[Job]:
    """One job per dataset, method and seed."""

    def measure(method: str, cell: Cell) -> Outcome:
        return single_cell(datasets.get(str(cell["dataset"])), method, cell, splits)

    return cell_jobs(methods, measure, dataset=names, seed=splits.seeds)


def scoring_jobs(datasets: Datasets, names: Sequence[str], methods: Sequence[str], splits: Splits) -> list[Job]:
    """The same with every scoring rule of the paper as a variant; methods must have `score_variants` (GLASS)."""
    for method in methods:
        if not hasattr(factory(method)(0), "score_variants"):
            raise BenchError(f"Method {method!r} has one scoring rule only; tab:scoring takes glass-paper.")

    def measure(method: str, cell: Cell) -> Outcome:
        graphs, detector = datasets.get(str(cell["dataset"])), factory(method)(int(cell["seed"]))
        return dataset_cell(graphs, detector, cell, splits, lambda fitted, queries: fitted.score_variants(queries))

    return cell_jobs(methods, measure, dataset=names, seed=splits.seeds)


def text_jobs(
    datasets: Datasets, names: Sequence[str], methods: Sequence[str], encoders: Sequence[str], splits: Splits
) -> list[Job]:
    """One job per dataset, encoder, method and seed; the graph and text codes alone are variants."""
    for method in methods:
        if method not in PRESETS:
            raise BenchError(f"Method {method!r} reads no text; tab:scale takes {' and '.join(PRESETS)}.")

    def measure(method: str, cell: Cell) -> Outcome:
        from graphglass.detector import GLASS

        def codes_alone(fitted: Any, queries: GraphSet) -> dict[str, NDArray[np.float64]]:
            rules = fitted.score_variants(queries)
            return {rule: rules[rule] for rule in ("graph", "text")}

        detector = GLASS(PRESETS[method], encoder=str(cell["encoder"]), random_state=int(cell["seed"]))
        return dataset_cell(datasets.get(str(cell["dataset"])), detector, cell, splits, codes_alone)

    return cell_jobs(methods, measure, dataset=names, encoder=encoders, seed=splits.seeds)


def single_cell(graphs: GraphSet, method: str, cell: Cell, splits: Splits) -> Outcome:
    """Fit a method on the references of one split and evaluate its scores of the test graphs."""
    seed = int(cell["seed"])
    if method in TRAINING_FREE + KERNELS:  # compiled code is loaded outside the clock
        few = blind(graphs, splits.of(graphs, seed).references[:2])
        factory(method)(seed).fit(few).decision_function(few)
    return dataset_cell(graphs, factory(method)(seed), cell, splits)


def dataset_cell(graphs: GraphSet, detector: Detector, cell: Cell, splits: Splits, ask: Ask | None = None) -> Outcome:
    """Fit on one split, score its test graphs, and evaluate what else the fitted detector is asked for."""
    parts = splits.of(graphs, int(cell["seed"]))
    references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
    fitted, scores, seconds = fit_and_score(detector, references, queries)
    variants = {}
    if ask is not None:
        start = time.perf_counter()
        variants = {name: evaluate(values, parts.anomalous) for name, values in ask(fitted, queries).items()}
        seconds["variants"] = time.perf_counter() - start
    return Outcome(cell, evaluate(scores, parts.anomalous), seconds, parts.counts, parts.classes, variants)


def fit_and_score(
    detector: Detector, references: GraphSet, queries: GraphSet
) -> tuple[Detector, NDArray[np.float64], dict[str, float]]:
    """The fitted detector, its scores of the queries, and the seconds of both."""
    start = time.perf_counter()
    fitted = detector.fit(references)
    middle = time.perf_counter()
    scores = fitted.decision_function(queries)
    return fitted, scores, {"fit": middle - start, "score": time.perf_counter() - middle}
