"""Benchmarks between domains: transfer (tab:cross, and tab:dp_all without privacy) and few-shot (tab:fewshot).

A method is fitted on the normal references of the source datasets. Transfer scores a target with the source's
references (zero-shot), with eight of the target's own and with all of them (matched). Few-shot adds a growing number of
target normals to the source references, and also uses them in place of the source references.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from graphglass.bench.cell_work import Job, Outcome, cell_jobs
from graphglass.bench.datasets import Datasets
from graphglass.bench.metrics import evaluate
from graphglass.bench.protocols import Split, Splits, blind
from graphglass.bench.records import Cell
from graphglass.bench.reference_swap import SourceModel
from graphglass.bench.source_models import SourceEncoders
from graphglass.errors import BenchError
from graphglass.graphs import GraphSet

# Source pools of the private series; the paper does not name those of tab:cross, so they serve both.
POOLS: dict[str, tuple[str, ...]] = {
    "mol": ("AIDS", "MUTAG", "NCI1"),
    "protein": ("PROTEINS", "DD", "ENZYMES"),
    "social": ("IMDB-BINARY", "COLLAB", "REDDIT-BINARY"),
}
POOLS["all"] = POOLS["mol"] + POOLS["protein"] + POOLS["social"]

CROSS = (
    ("mol", "IMDB-BINARY"), ("mol", "REDDIT-BINARY"), ("social", "MUTAG"), ("social", "AIDS"),
    ("mol", "PROTEINS"), ("mol", "DD"), ("mol", "ENZYMES"), ("protein", "MUTAG"), ("protein", "AIDS"),
    ("protein", "IMDB-BINARY"), ("protein", "REDDIT-BINARY"), ("all", "PROTEINS"), ("all", "IMDB-BINARY"),
    ("all", "MUTAG"),
)  # fmt: skip
DISJOINT = tuple(
    (source, target)
    for source, targets in {
        "mol": ("BZR", "COLLAB", "COX2", "DD", "DHFR", "ENZYMES", "IMDB-BINARY", "PROTEINS", "REDDIT-BINARY"),
        "protein": ("AIDS", "BZR", "COLLAB", "COX2", "DHFR", "IMDB-BINARY", "MUTAG", "NCI1", "REDDIT-BINARY"),
    }.items()
    for target in targets
)
PAIRS = tuple(dict.fromkeys(CROSS + DISJOINT))
FEW = 8  # target normals of transfer's middle column
SHOTS = (0, 1, 4, 8, 16, 32)
# The paper names no sources for tab:fewshot; these are the pools of its private series that do not hold the target.
FEW_SHOT_SOURCES = {"MUTAG": "protein", "PROTEINS": "mol", "IMDB-BINARY": "mol"}


def transfer_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    splits: Splits,
    *,
    sources: Sequence[str] = tuple(POOLS),
    encoders: SourceEncoders | None = None,
) -> list[Job]:
    """One job per source, method and seed: fitted once, then every target in `names` that the paper pairs with it."""

    def run(source: str, method: str, seed: int, cells: Sequence[Cell]) -> Iterator[Outcome]:
        return transfer_cells(datasets, source, method, seed, cells, splits, encoders)

    return pool_jobs(PAIRS, sources, names, methods, splits.seeds, run)


def pool_jobs(
    pairs: Sequence[tuple[str, str]],
    sources: Sequence[str],
    names: Sequence[str],
    methods: Sequence[str],
    seeds: Sequence[int],
    run: Callable[[str, str, int, Sequence[Cell]], Iterator[Outcome]],
    settings: Callable[[str], dict[str, Any]] = lambda method: {},
) -> list[Job]:
    """One job per source pool, method and seed, with a cell for every target in `names` that `pairs` has for the pool.

    `settings` says what the records of a method depend on besides the method's own settings.
    """
    jobs = []
    for source, method, seed in product(sources, methods, seeds):
        targets = [target for origin, target in pairs if origin == source and target in names]
        cells: tuple[Cell, ...] = tuple({"source": source, "dataset": t, "seed": seed} for t in targets)
        needed = tuple(dict.fromkeys([*POOLS[source], *targets]))
        if cells:
            jobs.append(Job(method, cells, needed, partial(run, source, method, seed), settings(method)))
    return jobs


def transfer_cells(
    datasets: Datasets,
    source: str,
    method: str,
    seed: int,
    cells: Sequence[Cell],
    splits: Splits,
    encoders: SourceEncoders | None = None,
) -> Iterator[Outcome]:
    """Fit on one source pool and evaluate the targets of `cells`."""
    start = time.perf_counter()
    parts = source_references(datasets, source, splits, seed)
    model = SourceModel(method, seed, parts, encoders)
    seconds = {"fit": time.perf_counter() - start}
    for cell in cells:
        start = time.perf_counter()
        name = str(cell["dataset"])
        graphs = datasets.get(name)
        chosen = target_split(graphs, parts, splits, seed, known=name in POOLS[source])
        references, queries = blind(graphs, chosen.references), blind(graphs, chosen.test)
        variants = {"zero-shot": evaluate(model.zero_shot(queries), chosen.anomalous)}
        if model.takes_references:
            few = model.matched(references[:FEW], queries)
            variants[f"{FEW} shots"] = evaluate(few, chosen.anomalous)
            variants["matched"] = evaluate(model.matched(references, queries), chosen.anomalous)
        spent = seconds | {"score": time.perf_counter() - start}
        yield Outcome(cell, variants["zero-shot"], spent, chosen.counts, chosen.classes, variants)


def few_shot_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    splits: Splits,
    *,
    encoders: SourceEncoders | None = None,
) -> list[Job]:
    """One job per target, method and seed; every number of shots is measured in it."""
    for name in names:
        if name not in FEW_SHOT_SOURCES:
            raise BenchError(f"tab:fewshot has the targets {', '.join(FEW_SHOT_SOURCES)}; found {name!r}.")

    def measure(method: str, cell: Cell) -> Outcome:
        return few_shot_cell(datasets, method, cell, splits, encoders)

    jobs = []
    for name in names:
        source = FEW_SHOT_SOURCES[name]
        for job in cell_jobs(methods, measure, dataset=(name,), source=(source,), seed=splits.seeds):
            jobs.append(replace(job, datasets=(*POOLS[source], name)))
    return jobs


def few_shot_cell(
    datasets: Datasets, method: str, cell: Cell, splits: Splits, encoders: SourceEncoders | None = None
) -> Outcome:
    """Scores at k = 0, 1, 4, 8, 16, 32 and all target normals: nested prefixes of one seeded order.

    Each prefix is added to the source references, and also used without them (``only``).
    """
    seed, name = int(cell["seed"]), str(cell["dataset"])
    start = time.perf_counter()
    sources = source_references(datasets, str(cell["source"]), splits, seed)
    model = SourceModel(method, seed, sources, encoders)
    middle = time.perf_counter()
    if not model.takes_references:
        raise BenchError(f"Method {method!r} cannot take further references without training.")
    graphs = datasets.get(name)
    chosen = target_split(graphs, sources, splits, seed)
    references, queries = blind(graphs, chosen.references), blind(graphs, chosen.test)
    variants = {"0": evaluate(model.zero_shot(queries), chosen.anomalous)}
    alone, added = {}, 0
    for shots in [*SHOTS[1:], len(references)]:
        label = "all" if shots == len(references) else str(shots)
        if shots > len(references) or label in variants:
            continue
        scores = model.extended(references[added:shots], queries)
        variants[label], added = evaluate(scores, chosen.anomalous), shots
        alone[f"{label} only"] = evaluate(model.matched(references[:shots], queries), chosen.anomalous)
    seconds = {"fit": middle - start, "score": time.perf_counter() - middle}
    return Outcome(cell, variants["all"], seconds, chosen.counts, chosen.classes, variants | alone)


def source_references(datasets: Datasets, source: str, splits: Splits, seed: int) -> dict[str, GraphSet]:
    """The normal references of every dataset of a source pool, blinded."""
    pool = {name: datasets.get(name) for name in POOLS[source]}
    return {name: blind(graphs, splits.of(graphs, seed).references) for name, graphs in pool.items()}


def target_split(
    graphs: GraphSet, sources: dict[str, GraphSet], splits: Splits, seed: int, *, known: bool = False
) -> Split:
    """The target's split without records that a source holds exactly, labels and attributes included.

    A target within the source pool (`known`) is kept whole: its own references are part of the source.
    """
    parts = splits.of(graphs, seed)
    if known:
        return parts
    seen = {digest for part in sources.values() for digest in part.content_hashes()}
    fresh = np.array([digest not in seen for digest in graphs.content_hashes()])
    kept = fresh[parts.test]
    return replace(
        parts,
        references=parts.references[fresh[parts.references]],
        test=parts.test[kept],
        anomalous=parts.anomalous[kept],
    )
