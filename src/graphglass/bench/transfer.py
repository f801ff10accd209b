"""Transfer between domains (tab:cross, and the 18 disjoint settings of tab:dp_all without privacy).

A method is trained on the normal references of the source datasets and scores a target with the source's references
(zero-shot), with eight of the target's own and with all of them (matched).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.bench.datasets import Datasets
from graphglass.bench.metrics import evaluate
from graphglass.bench.protocols import Split, blind, split
from graphglass.bench.records import Cell
from graphglass.bench.reference_swap import SourceModel
from graphglass.bench.runner import Job, Outcome
from graphglass.bench.single import classes, counts
from graphglass.bench.source_models import SourceEncoders
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
SHOTS = 8  # trusted target normals of the few-shot column
PAIRS = tuple(dict.fromkeys(CROSS + DISJOINT))


def transfer_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    protocol: str,
    seeds: int,
    *,
    flip: bool = False,
    sources: Sequence[str] = tuple(POOLS),
    encoders: SourceEncoders | None = None,
) -> list[Job]:
    """One job per source, method and seed: trained once, then every target in `names` that the paper pairs with it."""

    def job(source: str, method: str, seed: int) -> Job:
        targets = [target for origin, target in PAIRS if origin == source and target in names]
        cells: tuple[Cell, ...] = tuple({"source": source, "dataset": t, "seed": seed} for t in targets)

        def run(cells: Sequence[Cell]) -> Iterator[Outcome]:
            yield from transfer_cells(datasets, source, method, seed, cells, protocol, flip=flip, encoders=encoders)

        return Job(method, cells, tuple(dict.fromkeys([*POOLS[source], *targets])), run)

    jobs = [job(source, method, seed) for source in sources for method in methods for seed in range(seeds)]
    return [item for item in jobs if item.cells]


def transfer_cells(
    datasets: Datasets,
    source: str,
    method: str,
    seed: int,
    cells: Sequence[Cell],
    protocol: str,
    *,
    flip: bool = False,
    encoders: SourceEncoders | None = None,
) -> Iterator[Outcome]:
    """Train on one source pool and evaluate the targets of `cells`."""
    start = time.perf_counter()
    parts = source_references(datasets, source, protocol, seed, flip=flip)
    model = SourceModel(method, seed, parts, encoders)
    seconds = {"fit": time.perf_counter() - start}
    for cell in cells:
        start = time.perf_counter()
        name = str(cell["dataset"])
        graphs = datasets.get(name)
        chosen = target_split(graphs, parts, protocol, seed, flip=flip, known=name in POOLS[source])
        references, queries = blind(graphs, chosen.references), blind(graphs, chosen.test)
        variants = {"zero-shot": evaluate(model.zero_shot(queries), chosen.anomalous)}
        if model.takes_references:
            shots = model.matched(references[:SHOTS], queries)
            variants[f"{SHOTS} shots"] = evaluate(shots, chosen.anomalous)
            variants["matched"] = evaluate(model.matched(references, queries), chosen.anomalous)
        spent = seconds | {"score": time.perf_counter() - start}
        yield Outcome(cell, variants["zero-shot"], spent, counts(chosen), classes(chosen), variants)


def source_references(
    datasets: Datasets, source: str, protocol: str, seed: int, *, flip: bool = False
) -> dict[str, GraphSet]:
    """The normal references of every dataset of a source pool, blinded."""
    parts = {}
    for name in POOLS[source]:
        graphs = datasets.get(name)
        assert graphs.labels is not None
        parts[name] = blind(graphs, split(graphs.labels, protocol, seed, flip=flip).references)
    return parts


def target_split(
    graphs: GraphSet,
    sources: dict[str, GraphSet],
    protocol: str,
    seed: int,
    *,
    flip: bool = False,
    known: bool = False,
) -> Split:
    """The target's split without records that a source holds exactly, labels and attributes included.

    A target within the source pool (`known`) is kept whole: its own references are part of the source.
    """
    assert graphs.labels is not None
    parts = split(graphs.labels, protocol, seed, flip=flip)
    if known:
        return parts
    seen = {digest for part in sources.values() for digest in part.content_hashes()}
    fresh = np.array([digest not in seen for digest in graphs.content_hashes()])
    return _restricted(parts, fresh)


def _restricted(parts: Split, fresh: NDArray[np.bool_]) -> Split:
    kept = fresh[parts.test]
    return Split(
        parts.protocol, parts.flip, parts.seed, parts.references[fresh[parts.references]], parts.test[kept],
        parts.anomalous[kept], parts.anomalous_labels, parts.normal_labels,
    )  # fmt: skip
