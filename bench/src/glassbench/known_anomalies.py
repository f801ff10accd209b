"""Known anomalies as a second kind of reference, compared with classifiers trained on the same labels.

Of the anomalies of a split up to a hundred, at most half, are drawn at random and never tested. The first m of them are
known: m = 0, 1, 5, 20 and 100. The test set is the same for every m.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import Any

import numpy as np

from glassbench.datasets import Datasets
from glassbench.jobs import Job, Outcome, Plan, cell_jobs
from glassbench.methods import SUPERVISED, factory
from glassbench.metrics import evaluate
from glassbench.protocols import blind, split
from glassbench.records import Cell
from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.detector.reference_sets import equal_places
from graphglass.errors import BenchError

KNOWN = (0, 1, 5, 20, 100)
DIRECTIONS = ("minority", "flip")
METHODS = ("graphglass", *SUPERVISED)
log = logging.getLogger(__name__)


def known_jobs(plan: Plan, limit: int | None = None) -> list[Job]:
    """One job per dataset and method, with a cell for each direction and draw; a cell measures every m.

    With `limit` a task has at most that many references and as many test graphs, drawn at random.
    """
    for method in plan.methods:
        if method not in METHODS:
            raise BenchError(f"Method {method!r} takes no known anomalies; choose from {', '.join(METHODS)}.")

    def measure(method: str, cell: Cell) -> Outcome | None:
        return known_cell(plan.datasets, method, cell, limit)

    return cell_jobs(plan, measure, {"known": list(KNOWN), "limit": limit}, together=True, direction=DIRECTIONS)


def known_cell(datasets: Datasets, method: str, cell: Cell, limit: int | None = None) -> Outcome | None:
    """Fit with the first m known anomalies for each m, and score the same test graphs.

    None where the smallest class has fewer than three graphs: it is too small to give references or known anomalies
    and a test set as well.
    """
    graphs, seed = datasets.get(str(cell["dataset"])), int(cell["seed"])
    assert graphs.labels is not None
    smallest = int(np.unique(graphs.labels, return_counts=True)[1].min())
    if smallest < 3:
        log.warning("%s is skipped: its smallest class has %d graphs, fewer than 3.", cell["dataset"], smallest)
        return None
    parts = split(graphs.labels, "minority", seed, flip=cell["direction"] == "flip")
    anomalies = np.random.default_rng([seed, 0x5EED]).permutation(parts.test[parts.anomalous])
    pool = min(max(KNOWN), len(anomalies) // 2)
    known, references = anomalies[:pool], parts.references[:limit]
    keep = ~np.isin(parts.test, known)
    test, anomalous = parts.test[keep][:limit], parts.anomalous[keep][:limit]
    # Blinded in one call: no id occurs twice.
    shown = blind(graphs, np.concatenate([references, known]))
    normals, marked = shown[: len(references)], shown[len(references) :]
    queries: Any = blind(graphs, test)
    if method not in SUPERVISED:
        queries = measure_graphs(queries)  # once for every m
    # A graph that equals a normal reference says nothing about anomalies: the detector would skip it with a warning.
    fresh = equal_places(marked, normals) < 0
    variants, counts, seconds = {}, {}, {"fit": 0.0, "score": 0.0}
    detector: Any = factory(method)(seed)
    before = 0
    for m in KNOWN:
        used = min(m, pool)
        if not used and method in SUPERVISED:
            continue  # a classifier needs both kinds
        start = time.perf_counter()
        if method in SUPERVISED:
            detector.fit(normals, anomalies=marked[:used])
        elif not m:
            detector.fit(normals)
        elif fresh[before:used].any():  # the normals are measured once
            detector.add_anomalies(marked[before:used][fresh[before:used]])
        before = used
        middle = time.perf_counter()
        variants[str(m)] = evaluate(detector.decision_function(queries), anomalous)
        seconds["fit"] += middle - start
        seconds["score"] += time.perf_counter() - middle
        counts[f"known_{m}"] = used
    counts |= replace(parts, references=references, test=test, anomalous=anomalous).counts
    return Outcome(cell, next(iter(variants.values())), seconds, counts, parts.classes, variants)
