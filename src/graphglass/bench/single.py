"""Benchmarks on one dataset at a time: detection (tab:main_results), scoring rules (tab:scoring), encoders (tab:scale).

References and queries come from one split of one dataset. The three benchmarks differ in the detector they build and
in what they ask it besides its own score.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.bench.cell_work import Job, Outcome, cell_jobs
from graphglass.bench.datasets import DOMAINS, Datasets
from graphglass.bench.methods import KERNELS, TRAINING_FREE, Detector, factory
from graphglass.bench.metrics import evaluate
from graphglass.bench.protocols import Splits, blind
from graphglass.bench.records import Cell
from graphglass.bench.source_models import SourceEncoders
from graphglass.detector.paper_training import prepare
from graphglass.errors import BenchError
from graphglass.graphs import GraphSet

if TYPE_CHECKING:
    from graphglass.embedding.trained_encoder import TrainedEncoder

SCORING_DATASETS = ("AIDS", "IMDB-BINARY", "PROTEINS", "MUTAG", "ENZYMES", "DHFR")
PRESETS = ("glass-paper",)  # methods that read text
SELECTION_STEP = 10  # epochs between two looks at the test set
Ask = Callable[[Any, GraphSet], dict[str, NDArray[np.float64]]]


def single_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    splits: Splits,
    encoders: SourceEncoders | None = None,
) -> list[Job]:
    """One job per dataset, method and seed; `encoders` keeps what the paper preset trains."""

    def measure(method: str, cell: Cell) -> Outcome:
        return single_cell(datasets.get(str(cell["dataset"])), method, cell, splits, encoders)

    return named_domains(cell_jobs(methods, measure, dataset=names, seed=splits.seeds))


def scoring_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    splits: Splits,
    encoders: SourceEncoders | None = None,
) -> list[Job]:
    """The same with every scoring rule of the paper as a variant; methods must have `score_variants` (GLASS)."""
    for method in methods:
        if not hasattr(factory(method)(0), "score_variants"):
            raise BenchError(f"Method {method!r} has one scoring rule only; tab:scoring takes glass-paper.")

    def measure(method: str, cell: Cell) -> Outcome:
        graphs, detector = datasets.get(str(cell["dataset"])), built(method, cell)
        return dataset_cell(graphs, detector, cell, splits, lambda one, queries: one.score_variants(queries), encoders)

    return named_domains(cell_jobs(methods, measure, dataset=names, seed=splits.seeds))


def text_jobs(
    datasets: Datasets,
    names: Sequence[str],
    methods: Sequence[str],
    texts: Sequence[str],
    splits: Splits,
    encoders: SourceEncoders | None = None,
) -> list[Job]:
    """One job per dataset, encoder, method and seed; the graph and text codes alone are variants."""
    for method in methods:
        if method not in PRESETS:
            raise BenchError(f"Method {method!r} reads no text; tab:scale takes {' and '.join(PRESETS)}.")

    def measure(method: str, cell: Cell) -> Outcome:
        def codes_alone(fitted: Any, queries: GraphSet) -> dict[str, NDArray[np.float64]]:
            rules = fitted.score_variants(queries)
            return {rule: rules[rule] for rule in ("graph", "text")}

        detector = built(method, cell, encoder=str(cell["encoder"]))
        return dataset_cell(datasets.get(str(cell["dataset"])), detector, cell, splits, codes_alone, encoders)

    return named_domains(cell_jobs(methods, measure, dataset=names, encoder=texts, seed=splits.seeds))


def selection_jobs(
    datasets: Datasets, names: Sequence[str], methods: Sequence[str], splits: Splits, encoders: SourceEncoders
) -> list[Job]:
    """What choosing an epoch by its test AUROC adds: the best of every tenth epoch beside the last one.

    A diagnostic of reported figures. Its best epoch uses the labels of the test set, so it is no result of a method.
    """
    for method in methods:
        if method not in PRESETS:
            raise BenchError(f"Method {method!r} has no epochs to choose from here; --select test takes glass-paper.")

    def measure(method: str, cell: Cell) -> Outcome:
        graphs = datasets.get(str(cell["dataset"]))
        detector = built(method, cell)
        parts = splits.of(graphs, int(cell["seed"]))
        references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
        domain = prepare(references, detector.settings(), detector.domain)
        found: dict[int, dict[str, float]] = {}

        def look(trained: TrainedEncoder) -> None:
            if (epoch := len(trained.history)) % SELECTION_STEP == 0:
                fitted = built(method, cell).fit(domain, trained=trained)
                found[epoch] = evaluate(fitted.decision_function(queries), parts.anomalous)

        start = time.perf_counter()
        last = encoders.fit(detector, references, on_epoch=look)
        seconds = {"fit": time.perf_counter() - start}
        metrics = evaluate(last.decision_function(queries), parts.anomalous)
        best = max(found, key=lambda epoch: found[epoch]["auroc"])
        variants = {"last epoch": metrics, "best test epoch": found[best]}
        return Outcome(cell, metrics, seconds, parts.counts | {"best_epoch": best}, parts.classes, variants)

    return named_domains(cell_jobs(methods, measure, {"selection": "test"}, dataset=names, seed=splits.seeds))


def built(method: str, cell: Cell, **options: Any) -> Any:
    """The method of a cell; the prompts of the paper preset name the domain of the dataset, as the paper's do."""
    detector: Any = factory(method)(int(cell["seed"]))
    if method in PRESETS:
        detector.set_params(domain=DOMAINS.get(str(cell["dataset"]), "graph"), **options)
    return detector


def named_domains(jobs: Sequence[Job]) -> list[Job]:
    """Jobs whose records say where the domain of the prompts comes from."""
    said = {"domain": "of the dataset"}
    return [replace(job, settings=job.settings | said) if job.method in PRESETS else job for job in jobs]


def single_cell(
    graphs: GraphSet, method: str, cell: Cell, splits: Splits, encoders: SourceEncoders | None = None
) -> Outcome:
    """Fit a method on the references of one split and evaluate its scores of the test graphs."""
    seed = int(cell["seed"])
    if method in TRAINING_FREE + KERNELS:  # compiled code is loaded outside the clock
        few = blind(graphs, splits.of(graphs, seed).references[:2])
        factory(method)(seed).fit(few).decision_function(few)
    return dataset_cell(graphs, built(method, cell), cell, splits, encoders=encoders)


def dataset_cell(
    graphs: GraphSet,
    detector: Detector,
    cell: Cell,
    splits: Splits,
    ask: Ask | None = None,
    encoders: SourceEncoders | None = None,
) -> Outcome:
    """Fit on one split, score its test graphs, and evaluate what else the fitted detector is asked for."""
    parts = splits.of(graphs, int(cell["seed"]))
    references, queries = blind(graphs, parts.references), blind(graphs, parts.test)
    fitted, scores, seconds = fit_and_score(detector, references, queries, encoders)
    variants = {}
    if ask is not None:
        start = time.perf_counter()
        variants = {name: evaluate(values, parts.anomalous) for name, values in ask(fitted, queries).items()}
        seconds["variants"] = time.perf_counter() - start
    return Outcome(cell, evaluate(scores, parts.anomalous), seconds, parts.counts, parts.classes, variants)


def fit_and_score(
    detector: Any, references: GraphSet, queries: GraphSet, encoders: SourceEncoders | None = None
) -> tuple[Detector, NDArray[np.float64], dict[str, float]]:
    """The fitted detector, its scores of the queries, and the seconds of both.

    An encoder that was trained before counts with the seconds that its training took.
    """
    start = time.perf_counter()
    keeps = encoders is not None and getattr(detector, "preset", None) == "paper"
    fitted = encoders.fit(detector, references) if encoders is not None and keeps else detector.fit(references)
    middle = time.perf_counter()
    scores = fitted.decision_function(queries)
    embedder = getattr(fitted, "embedder_", None)
    spent = 0.0 if embedder is None else sum(embedder.graph.history.seconds)
    return fitted, scores, {"fit": max(middle - start, spent), "score": time.perf_counter() - middle}
