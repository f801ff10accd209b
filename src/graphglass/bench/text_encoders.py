"""Text encoders side by side (tab:scale): the paper's recipe with one encoder after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphglass.bench.datasets import Datasets
from graphglass.bench.metrics import evaluate
from graphglass.bench.protocols import blind, split
from graphglass.bench.records import Cell
from graphglass.bench.runner import Job, Outcome
from graphglass.bench.single import classes, counts, fit_and_score
from graphglass.errors import BenchError
from graphglass.graphs import GraphSet

METHODS = {"glass": "default", "glass-paper": "paper"}


def text_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    encoders: Sequence[str],
    protocol: str,
    seeds: int,
    *,
    flip: bool = False,
) -> list[Job]:
    """One job per dataset, encoder, method and seed."""
    for method in methods:
        if method not in METHODS:
            raise BenchError(f"Method {method!r} reads no text; tab:scale takes {' and '.join(METHODS)}.")

    def job(name: str, method: str, encoder: str, seed: int) -> Job:
        def run(cells: Sequence[Cell]) -> Iterator[Outcome]:
            yield text_cell(datasets.get(name), method, cells[0], protocol, flip=flip)

        return Job(method, ({"dataset": name, "encoder": encoder, "seed": seed},), (name,), run)

    return [
        job(name, method, encoder, seed)
        for name in names
        for encoder in encoders
        for method in methods
        for seed in range(seeds)
    ]


def text_cell(graphs: GraphSet, method: str, cell: Cell, protocol: str, *, flip: bool = False) -> Outcome:
    """Fit with the cell's encoder; the variants show how the text view does alone."""
    from graphglass.detector import GLASS

    assert graphs.labels is not None
    seed = int(cell["seed"])
    parts = split(graphs.labels, protocol, seed, flip=flip)
    references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
    detector = GLASS(METHODS[method], encoder=str(cell["encoder"]), random_state=seed)
    _, scores, seconds = fit_and_score(detector, references, queries)
    rules = detector.score_variants(queries)
    variants = {rule: evaluate(rules[rule], parts.anomalous) for rule in ("graph", "text")}
    return Outcome(
        cell, evaluate(scores, parts.anomalous), seconds, counts(parts), classes(parts), variants
    )  # fmt: skip
