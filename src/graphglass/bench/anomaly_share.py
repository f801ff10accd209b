"""How a method depends on the share of anomalies in the test set: 5, 10, 20, 50 and 75%.

A method that scores each graph alone gives the same scores whatever else is tested, so its AUROC changes by sampling
only. A method that scores a graph by comparison with its test batch can lose most of its AUROC as anomalies get rare.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.bench.cell_work import Job, Outcome, cell_jobs
from graphglass.bench.datasets import Datasets
from graphglass.bench.methods import TRANSDUCTIVE, factory
from graphglass.bench.metrics import evaluate
from graphglass.bench.protocols import Splits, blind
from graphglass.bench.records import Cell
from graphglass.bench.single import fit_and_score

SHARES = (5, 10, 20, 50, 75)  # percent


def share_jobs(datasets: Datasets, names: Sequence[str], methods: Sequence[str], splits: Splits) -> list[Job]:
    """One job per dataset, method and seed; every share is measured in it."""

    def measure(method: str, cell: Cell) -> Outcome:
        graphs = datasets.get(str(cell["dataset"]))
        parts = splits.of(graphs, int(cell["seed"]))
        references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
        fitted, scores, seconds = fit_and_score(factory(method)(parts.seed), references, queries)
        variants = {}
        for share in SHARES:
            rows = drawn(parts.anomalous, share, parts.seed)
            found = fitted.decision_function(queries[rows]) if method in TRANSDUCTIVE else scores[rows]
            variants[f"{share}%"] = evaluate(found, parts.anomalous[rows])
        return Outcome(
            cell, evaluate(scores, parts.anomalous), seconds, parts.counts, parts.classes, variants
        )  # fmt: skip

    return cell_jobs(methods, measure, {"shares": list(SHARES)}, dataset=names, seed=splits.seeds)


def drawn(anomalous: NDArray[np.bool_], share: int, seed: int) -> NDArray[np.int64]:
    """Rows of a test set in which `share` percent are anomalies, as many as possible, at least one of either kind."""
    draw = np.random.default_rng([seed, share])
    normal, odd = draw.permutation(np.flatnonzero(~anomalous)), draw.permutation(np.flatnonzero(anomalous))
    wanted = max(1, round(len(normal) * share / (100 - share)))
    if wanted <= len(odd):
        odd = odd[:wanted]
    else:
        normal = normal[: max(1, round(len(odd) * (100 - share) / share))]
    return np.sort(np.concatenate([normal, odd])).astype(np.int64)
