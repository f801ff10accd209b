"""Few-shot calibration (tab:fewshot): trusted target normals join the source references, encoders stay frozen."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from graphglass.bench.datasets import Datasets
from graphglass.bench.metrics import evaluate
from graphglass.bench.protocols import blind
from graphglass.bench.records import Cell
from graphglass.bench.reference_swap import SourceModel
from graphglass.bench.runner import Job, Outcome
from graphglass.bench.single import classes, counts
from graphglass.bench.source_models import SourceEncoders
from graphglass.bench.transfer import POOLS, source_references, target_split
from graphglass.errors import BenchError

SHOTS = (0, 1, 4, 8, 16, 32)
# The paper names no sources; these are the pools of its private series that do not hold the target.
SOURCES = {"MUTAG": "protein", "PROTEINS": "mol", "IMDB-BINARY": "mol"}


def few_shot_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    protocol: str,
    seeds: int,
    *,
    flip: bool = False,
    encoders: SourceEncoders | None = None,
) -> list[Job]:
    """One job per target, method and seed; every number of shots is measured in it."""
    for name in names:
        if name not in SOURCES:
            raise BenchError(f"tab:fewshot has the targets {', '.join(SOURCES)}; found {name!r}.")

    def job(name: str, method: str, seed: int) -> Job:
        def run(cells: Sequence[Cell]) -> Iterator[Outcome]:
            yield few_shot_cell(datasets, method, cells[0], protocol, flip=flip, encoders=encoders)

        cell: Cell = {"source": SOURCES[name], "dataset": name, "seed": seed}
        return Job(method, (cell,), (*POOLS[SOURCES[name]], name), run)

    return [job(name, method, seed) for name in names for method in methods for seed in range(seeds)]


def few_shot_cell(
    datasets: Datasets,
    method: str,
    cell: Cell,
    protocol: str,
    *,
    flip: bool = False,
    encoders: SourceEncoders | None = None,
) -> Outcome:
    """Scores at k = 0, 1, 4, 8, 16, 32 and all target normals: nested prefixes of one seeded order.

    Each prefix joins the source references, and also stands alone in their place (``only``).
    """
    seed, name = int(cell["seed"]), str(cell["dataset"])
    start = time.perf_counter()
    sources = source_references(datasets, str(cell["source"]), protocol, seed, flip=flip)
    model = SourceModel(method, seed, sources, encoders)
    middle = time.perf_counter()
    if not model.takes_references:
        raise BenchError(f"Method {method!r} cannot take further references without training.")
    graphs = datasets.get(name)
    chosen = target_split(graphs, sources, protocol, seed, flip=flip)
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
    return Outcome(cell, variants["all"], seconds, counts(chosen), classes(chosen), variants | alone)
