"""Benchmarks on one split of one dataset at a time; they differ in what they ask a fitted detector besides its score.

Detection (tab:main_results), scoring rules (tab:scoring), text encoders (tab:scale), and test sets with 5, 10, 20, 50
and 75% anomalies. A method that scores each graph alone gives the same scores whatever else is tested. One that
compares a graph with its test batch can lose most of its AUROC as anomalies get rare.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glassbench.datasets import DOMAINS
from glassbench.jobs import Job, Outcome, Plan, cell_jobs
from glassbench.methods import GLASS, KERNELS, TRAINING_FREE, TRANSDUCTIVE, Detector, factory
from glassbench.metrics import evaluate
from glassbench.protocols import Split, blind
from glassbench.records import Cell
from graphglass.errors import BenchError
from graphglass.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    from glassbench.source_models import SourceEncoders

SCORING_DATASETS = ("AIDS", "IMDB-BINARY", "PROTEINS", "MUTAG", "ENZYMES", "DHFR")
SHARES = (5, 10, 20, 50, 75)  # percent


def single_jobs(plan: Plan) -> list[Job]:
    """One job per dataset, method and seed; what GLASS trained is also scored by the paper's other rules."""

    def measure(method: str, cell: Cell) -> Outcome:
        graphs, parts = plan.task(cell)
        if method in TRAINING_FREE + KERNELS:  # compiled code is loaded outside the clock
            few = blind(graphs, parts.references[:2])
            factory(method)(parts.seed).fit(few).decision_function(few)
        rules = None if method in GLASS else ()
        return dataset_cell(graphs, parts, built(method, cell), cell, plan.encoders, rules=rules)

    return dataset_jobs(plan, measure)


def scoring_jobs(plan: Plan) -> list[Job]:
    """The same for methods with several scoring rules (tab:scoring)."""
    for method in plan.methods:
        if method not in GLASS:
            raise BenchError(f"Method {method!r} has one scoring rule only; tab:scoring takes {' and '.join(GLASS)}.")
    return single_jobs(plan)


def text_jobs(plan: Plan, texts: Sequence[str]) -> list[Job]:
    """One job per dataset, text encoder, method and seed; the graph and text codes alone are variants."""
    for method in plan.methods:
        if method not in GLASS:
            raise BenchError(f"Method {method!r} reads no text; tab:scale takes {' and '.join(GLASS)}.")

    def measure(method: str, cell: Cell) -> Outcome:
        detector = built(method, cell, encoder=str(cell["encoder"]))
        return dataset_cell(*plan.task(cell), detector, cell, plan.encoders, rules=("graph", "text"))

    return dataset_jobs(plan, measure, encoder=texts)


def share_jobs(plan: Plan) -> list[Job]:
    """One job per dataset, method and seed; every share of anomalies is measured in it."""

    def measure(method: str, cell: Cell) -> Outcome:
        graphs, parts = plan.task(cell)
        references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
        fitted, scores, seconds = fit_and_score(built(method, cell), references, queries, plan.encoders)
        variants = {}
        for share in SHARES:
            rows = drawn(parts.anomalous, share, parts.seed)
            found = fitted.decision_function(queries[rows]) if method in TRANSDUCTIVE else scores[rows]
            variants[f"{share}%"] = evaluate(found, parts.anomalous[rows])
        return Outcome(cell, evaluate(scores, parts.anomalous), seconds, parts.counts, parts.classes, variants)

    return dataset_jobs(plan, measure, {"shares": list(SHARES)})


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


def built(method: str, cell: Cell, **options: Any) -> Any:
    """The method of a cell; the prompts of GLASS name the domain of the dataset, as the paper's do."""
    detector: Any = factory(method)(int(cell["seed"]))
    if method in GLASS:
        detector.set_params(domain=DOMAINS.get(str(cell["dataset"]), "graph"), **options)
    return detector


def dataset_jobs(
    plan: Plan,
    measure: Callable[[str, Cell], Outcome],
    settings: dict[str, Any] | None = None,
    **fields: Any,
) -> list[Job]:
    """Jobs of :func:`built` methods; their records say where the domain of the prompts comes from."""
    said = {"domain": "of the dataset"}
    jobs = cell_jobs(plan, measure, settings, **fields)
    return [replace(job, settings=job.settings | said) if job.method in GLASS else job for job in jobs]


def dataset_cell(
    graphs: GraphSet,
    parts: Split,
    detector: Detector,
    cell: Cell,
    encoders: SourceEncoders | None = None,
    *,
    rules: Sequence[str] | None = (),
) -> Outcome:
    """Fit on one split and score its test graphs, also by the named scoring rules of GLASS; None for all of them."""
    references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
    fitted, scores, seconds = fit_and_score(detector, references, queries, encoders)
    variants = {}
    if rules != ():
        start = time.perf_counter()
        found = fitted.score_variants(queries)
        variants = {name: evaluate(found[name], parts.anomalous) for name in rules or found}
        seconds["variants"] = time.perf_counter() - start
    return Outcome(cell, evaluate(scores, parts.anomalous), seconds, parts.counts, parts.classes, variants)


def fit_and_score(
    detector: Any, references: GraphSet, queries: GraphSet, encoders: SourceEncoders | None = None
) -> tuple[Any, NDArray[np.float64], dict[str, float]]:
    """The fitted detector, its scores of the queries, and the seconds of both.

    An encoder that was trained before counts with the seconds that its training took.
    """
    start = time.perf_counter()
    if encoders is not None and hasattr(detector, "fit_encoder"):
        fitted: Any = encoders.fit(detector, references)
    else:
        fitted = detector.fit(references)
    middle = time.perf_counter()
    scores = fitted.decision_function(queries)
    embedder = getattr(fitted, "embedder_", None)
    spent = 0.0 if embedder is None else sum(embedder.graph.history.seconds)
    return fitted, scores, {"fit": max(middle - start, spent), "score": time.perf_counter() - middle}
