"""Private reference summaries (tab:dp_main, tab:dp_all, tab:dp_modalities, tab:dp_resolution, tab:dp_extra).

An encoder is trained on a public source pool. A target's normal references are then summarised as a release would
summarise them, with seeded noise on public data, and the target's test graphs are ranked by the summary. Encoder and
feature map never see the target: graphs are read as the source's were, and nothing is fitted on references.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.bench.cell_work import Job, Outcome
from graphglass.bench.datasets import Datasets
from graphglass.bench.methods import factory
from graphglass.bench.metrics import evaluate
from graphglass.bench.private_scores import (
    DELTA,
    DRAWS,
    EPSILONS,
    NEIGHBOURS,
    REFERENCES,
    Codes,
    Features,
    averaged,
    density_scores,
    neighbour_scores,
)
from graphglass.bench.private_sketch import sketch_cells
from graphglass.bench.protocols import Splits, blind
from graphglass.bench.records import Cell
from graphglass.bench.source_models import SourceEncoders
from graphglass.bench.transfer import DISJOINT, pool_jobs, source_references, target_split
from graphglass.errors import BenchError
from graphglass.privacy.joint_features import DEFAULT_KERNEL, KERNELS, MAIN_CHANNELS, JointFeatures
from graphglass.privacy.private_summary import SHRINKAGE
from graphglass.privacy.sketch_features import SketchFeatures
from graphglass.sphere.neighbours import mean_distance

SKETCH = "glass"  # the default trains nothing, and its release is the public sketch
METHODS = (SKETCH, "glass-paper")
EPSILON = 4.0
SIZES = (1, 4, 8, 16, 32, 64, 128, 256)
SITES = (2, 4)
INSTRUCTION = "domain-invariant"  # read by encoders that follow instructions, the same for every graph


def _channels(*widths: int, views: Sequence[str] = ("graph", "text")) -> tuple[tuple[str, int], ...]:
    return tuple((f"{view}:{width}", width) for view in views for width in widths)


# tab:dp_modalities and tab:dp_resolution: the paper's kernel with one thing changed.
_PAPER = JointFeatures.of_kernel("paper")
DIAGNOSTICS: dict[str, JointFeatures] = {
    "graph": replace(_PAPER, channels=_channels(64, 128, views=["graph"])),
    "text": replace(_PAPER, channels=_channels(64, 128, views=["text"])),
    "64 only": replace(_PAPER, channels=_channels(64)),
    "128 only": replace(_PAPER, channels=_channels(128)),
    "256 only": replace(_PAPER, channels=_channels(256)),
    "all four slices": replace(_PAPER, channels=_channels(64, 128, 256, 512)),
    "M=64": replace(_PAPER, frequencies=64),
    "M=256": replace(_PAPER, frequencies=256),
    "kappa=1": replace(_PAPER, kappas=(1.0,)),
    "kappa=16": replace(_PAPER, kappas=(16.0,)),
}


def private_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    splits: Splits,
    *,
    sources: Sequence[str] = ("mol", "protein"),
    encoders: SourceEncoders | None = None,
) -> list[Job]:
    """One job per source pool, training and seed: one encoder, then every target in `names` outside its pool."""
    kept = encoders or SourceEncoders()
    for method in methods:
        if method not in METHODS:
            raise BenchError(f"Method {method!r} has no private release; choose one of {', '.join(METHODS)}.")

    def run(source: str, method: str, seed: int, cells: Sequence[Cell]) -> Iterator[Outcome]:
        if method == SKETCH:
            return sketch_cells(datasets, source, seed, cells, splits)
        return private_cells(datasets, source, method, seed, cells, splits, kept)

    def fixed(method: str) -> dict[str, Any]:
        return sketch_settings() if method == SKETCH else settings()

    return pool_jobs(DISJOINT, sources, names, methods, splits.seeds, run, fixed)


def sketch_settings() -> dict[str, Any]:
    """Everything the records of a release without a model depend on."""
    return {"private": {"sketch": SketchFeatures().digest(), "delta": DELTA, "draws": DRAWS, "neighbours": NEIGHBOURS}}


def settings() -> dict[str, Any]:
    """Everything the records depend on besides the encoder."""
    kernels = {name: JointFeatures.of_kernel(name).to_json() for name in KERNELS}
    return {
        "private": {
            "kernels": kernels,
            "diagnostics": {name: features.to_json() for name, features in DIAGNOSTICS.items()},
            "delta": DELTA,
            "draws": DRAWS,
            "neighbours": NEIGHBOURS,
            "references": REFERENCES,
            "shrinkage": SHRINKAGE,
        }
    }


def private_cells(
    datasets: Datasets,
    source: str,
    method: str,
    seed: int,
    cells: Sequence[Cell],
    splits: Splits,
    encoders: SourceEncoders,
) -> Iterator[Outcome]:
    """Embed the source once, then measure each target of `cells`."""
    start = time.perf_counter()
    parts = source_references(datasets, source, splits, seed)
    untrained: Any = factory(method)(seed)
    detector = encoders.fit_encoder(untrained, parts, instruction=INSTRUCTION)
    embedded = [encoders.codes(detector, part) for part in parts.values()]
    public = {name: np.concatenate([codes[name] for codes in embedded]) for name in embedded[0]}
    seconds = {"fit": time.perf_counter() - start}
    for cell in cells:
        start = time.perf_counter()
        graphs = datasets.get(str(cell["dataset"]))
        chosen = target_split(graphs, parts, splits, seed)
        references = encoders.codes(detector, blind(graphs, chosen.references[: max(SIZES)]))
        queries = encoders.codes(detector, blind(graphs, chosen.test))
        middle = time.perf_counter()
        place = f"{source}|{cell['dataset']}|{seed}"
        variants = measure(public, references, queries, chosen.anomalous, place)
        spent = seconds | {"embed": middle - start, "score": time.perf_counter() - middle}
        used = chosen.counts | {"summarised": min(REFERENCES, len(chosen.references))}
        yield Outcome(cell, variants[f"{DEFAULT_KERNEL} eps=4"], spent, used, chosen.classes, variants)


def measure(
    source: Codes, references: Codes, queries: Codes, anomalous: NDArray[np.bool_], place: str
) -> dict[str, dict[str, float]]:
    """Every condition of one target and seed, by name.

    ``source-nn`` and ``target-nn`` are mean angles to the five nearest references, with ``cosine`` the mean of 1 - cos.
    ``KERNEL exact`` is the kernel density itself, ``KERNEL sketch`` the summary without noise, ``KERNEL eps=E`` a
    release, all of the main number of references; ``n=N`` names another number, ``J=J`` sites, ``+source`` shrinkage.
    """
    available = len(next(iter(references.values())))
    main = min(REFERENCES, available)
    names = [name for name, _ in MAIN_CHANNELS]
    found = {
        "source-nn": evaluate(neighbour_scores(queries, source, names), anomalous),
        "target-nn": evaluate(neighbour_scores(queries, _first(references, main), names), anomalous),
    }
    for name, known in {"source-nn": source, "target-nn": _first(references, main)}.items():
        found[f"{name} cosine"] = evaluate(neighbour_scores(queries, known, names, mean_distance), anomalous)
    for n in _sweep(available, main):
        found[f"target-nn n={n}"] = evaluate(neighbour_scores(queries, _first(references, n), names), anomalous)
    for kernel in KERNELS:
        features = JointFeatures.of_kernel(kernel)
        found[f"{kernel} exact"] = evaluate(density_scores(features, queries, _first(references, main)), anomalous)
        rows = Features.of(features, source, references, queries)
        found[f"{kernel} source"] = evaluate(-(rows.queries @ rows.prior), anomalous)

        def add(name: str, n: int, epsilon: float, sites: int = 1, rows: Features = rows) -> None:
            release = rows.release(n, epsilon, f"{place}|{name}", sites=sites)
            found[name] = averaged(release.scores(rows.queries), anomalous)
            found[f"{name} +source"] = averaged(release.with_prior(rows.prior, n).scores(rows.queries), anomalous)

        add(f"{kernel} sketch", main, math.inf)
        for epsilon in EPSILONS:
            add(f"{kernel} eps={epsilon:g}", main, epsilon)
        for n in _sweep(available, main):
            add(f"{kernel} n={n} sketch", n, math.inf)
            add(f"{kernel} n={n} eps={EPSILON:g}", n, EPSILON)
        for sites in SITES:
            add(f"{kernel} J={sites} eps={EPSILON:g}", main, EPSILON, sites)
    for name, features in DIAGNOSTICS.items():
        rows = Features.of(features, source, references, queries)
        release = rows.release(main, EPSILON, f"{place}|{name}")
        found[f"{name} eps={EPSILON:g}"] = averaged(release.scores(rows.queries), anomalous)
    return found


def _sweep(available: int, main: int) -> list[int]:
    return [n for n in SIZES if n <= available and n != main]


def _first(codes: Codes, n: int) -> Codes:
    return {name: rows[:n] for name, rows in codes.items()}
