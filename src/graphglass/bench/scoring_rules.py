"""Scoring rules side by side on one trained model (tab:scoring)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from graphglass.bench.datasets import Datasets
from graphglass.bench.methods import factory
from graphglass.bench.metrics import evaluate
from graphglass.bench.protocols import blind, split
from graphglass.bench.records import Cell
from graphglass.bench.runner import Job, Outcome
from graphglass.bench.single import classes, counts, fit_and_score
from graphglass.errors import BenchError
from graphglass.graphs import GraphSet

DATASETS = ("AIDS", "IMDB-BINARY", "PROTEINS", "MUTAG", "ENZYMES", "DHFR")


def scoring_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    protocol: str,
    seeds: int,
    *,
    flip: bool = False,
) -> list[Job]:
    """One job per dataset, method and seed; methods are those with `score_variants` (GLASS)."""
    for method in methods:
        if not hasattr(factory(method)(0), "score_variants"):
            raise BenchError(f"Method {method!r} has one scoring rule only; tab:scoring takes glass and glass-paper.")

    def job(name: str, method: str, seed: int) -> Job:
        def run(cells: Sequence[Cell]) -> Iterator[Outcome]:
            yield scoring_cell(datasets.get(name), method, cells[0], protocol, flip=flip)

        return Job(method, ({"dataset": name, "seed": seed},), (name,), run)

    return [job(name, method, seed) for name in names for method in methods for seed in range(seeds)]


def scoring_cell(graphs: GraphSet, method: str, cell: Cell, protocol: str, *, flip: bool = False) -> Outcome:
    """Fit once, then evaluate the method's own score and every rule of the paper."""
    assert graphs.labels is not None
    seed = int(cell["seed"])
    parts = split(graphs.labels, protocol, seed, flip=flip)
    references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
    detector: Any
    detector, scores, seconds = fit_and_score(factory(method)(seed), references, queries)
    start = time.perf_counter()
    rules = detector.score_variants(queries)
    seconds["variants"] = time.perf_counter() - start
    variants = {rule: evaluate(values, parts.anomalous) for rule, values in rules.items()}
    return Outcome(
        cell, evaluate(scores, parts.anomalous), seconds, counts(parts), classes(parts), variants
    )  # fmt: skip
