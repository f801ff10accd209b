"""Private summaries of public sketches: what a release without a model costs in accuracy.

The cells are those of the paper's series, so that both kinds of release are compared on the same graphs; the source
takes no further part.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.bench.cell_work import Outcome
from graphglass.bench.datasets import Datasets
from graphglass.bench.methods import factory
from graphglass.bench.metrics import evaluate
from graphglass.bench.private_scores import DELTA, DRAWS, EPSILONS, NEIGHBOURS, REFERENCES, averaged
from graphglass.bench.protocols import Splits, blind
from graphglass.bench.records import Cell
from graphglass.bench.transfer import source_references, target_split
from graphglass.graphs.graph_set import GraphSet
from graphglass.privacy.release.simulate import simulate
from graphglass.privacy.sketch_features import SketchFeatures


def sketch_cells(
    datasets: Datasets, source: str, seed: int, cells: Sequence[Cell], splits: Splits
) -> Iterator[Outcome]:
    """Measure each target of `cells` with 128 and with all references."""
    parts = source_references(datasets, source, splits, seed)
    for cell in cells:
        start = time.perf_counter()
        graphs = datasets.get(str(cell["dataset"]))
        chosen = target_split(graphs, parts, splits, seed)
        references, queries = blind(graphs, chosen.references), blind(graphs, chosen.test)
        place = f"sketch|{source}|{cell['dataset']}|{seed}"
        variants: dict[str, dict[str, float]] = {}
        for name, some in (("n=128", references[:REFERENCES]), ("all", references)):
            variants |= measure(some, queries, chosen.anomalous, name, place, seed)
        used = chosen.counts | {"summarised": len(references)}
        spent = {"fit": 0.0, "score": time.perf_counter() - start}
        yield Outcome(cell, variants["n=128 eps=4"], spent, used, chosen.classes, variants)


def measure(
    references: GraphSet, queries: GraphSet, anomalous: NDArray[np.bool_], name: str, place: str, seed: int
) -> dict[str, dict[str, float]]:
    """Every condition by name.

    ``NAME detector`` is the whole detector, ``NAME 5-nn`` the five nearest by the kernel of the release at epsilon 4,
    ``NAME eps=E`` a release, and ``NAME no noise`` that of epsilon 4 without noise.
    """
    detector = factory("glass")(seed).fit(references)
    found = {f"{name} detector": evaluate(detector.decision_function(queries), anomalous)}
    rows: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for epsilon in (*EPSILONS, math.inf):
        features = SketchFeatures.for_budget(len(references), 4.0 if math.isinf(epsilon) else epsilon, DELTA)
        if features.sharpness not in rows:
            rows = {features.sharpness: (features(references), features(queries))}
        summarised, asked = rows[features.sharpness]
        draws = simulate(
            summarised, epsilon=epsilon, seed=zlib.crc32(f"{place}|{name}|{epsilon:g}".encode()), delta=DELTA,
            draws=1 if math.isinf(epsilon) else DRAWS,
        )  # fmt: skip
        scores = [sum(features.contributions(asked, mean, draws.sigma).values()) for mean in draws.means]
        title = "no noise" if math.isinf(epsilon) else f"eps={epsilon:g}"
        found[f"{name} {title}"] = averaged(np.array(scores), anomalous)
        if math.isinf(epsilon):
            nearest = np.sort(asked @ summarised.T, axis=1)[:, -NEIGHBOURS:]
            found[f"{name} 5-nn"] = evaluate(-nearest.mean(axis=1), anomalous)
    return found
