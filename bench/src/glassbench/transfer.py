"""Benchmarks between domains: transfer (tab:cross, and tab:dp_all without privacy) and few-shot (tab:fewshot).

A method is fitted on the normal references of the source datasets. Transfer scores a target with the source's
references (zero-shot), with eight of the target's own and with all of them (matched). Few-shot adds a growing number of
target normals to the source references, and also uses them in place of the source references.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glassbench.datasets import DOMAINS
from glassbench.jobs import Job, Outcome, Plan, cell_jobs
from glassbench.methods import GLASS, KERNELS, TRAINING_FREE, factory
from glassbench.metrics import evaluate
from glassbench.protocols import Split, blind
from glassbench.records import Cell
from graphglass.errors import BenchError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    from glassbench.source_models import SourceEncoders

# Source pools of the private series, which leave every target unseen. The paper does not name those of tab:cross and
# tab:fewshot; `mol-six` holds the molecule sources that the README of the authors' code names for them.
POOLS: dict[str, tuple[str, ...]] = {
    "mol": ("AIDS", "MUTAG", "NCI1"),
    "protein": ("PROTEINS", "DD", "ENZYMES"),
    "social": ("IMDB-BINARY", "COLLAB", "REDDIT-BINARY"),
}
POOLS["all"] = POOLS["mol"] + POOLS["protein"] + POOLS["social"]
POOLS["mol-six"] = (*POOLS["mol"], "BZR", "COX2", "DHFR")

CROSS = (
    ("mol", "IMDB-BINARY"), ("mol", "REDDIT-BINARY"), ("social", "MUTAG"), ("social", "AIDS"),
    ("mol", "PROTEINS"), ("mol", "DD"), ("mol", "ENZYMES"), ("protein", "MUTAG"), ("protein", "AIDS"),
    ("protein", "IMDB-BINARY"), ("protein", "REDDIT-BINARY"), ("all", "PROTEINS"), ("all", "IMDB-BINARY"),
    ("all", "MUTAG"),
)  # fmt: skip
SIX = tuple(("mol-six", target) for source, target in CROSS if source == "mol")
DISJOINT = tuple(
    (source, target)
    for source, targets in {
        "mol": ("BZR", "COLLAB", "COX2", "DD", "DHFR", "ENZYMES", "IMDB-BINARY", "PROTEINS", "REDDIT-BINARY"),
        "protein": ("AIDS", "BZR", "COLLAB", "COX2", "DHFR", "IMDB-BINARY", "MUTAG", "NCI1", "REDDIT-BINARY"),
    }.items()
    for target in targets
)
PAIRS = tuple(dict.fromkeys(CROSS + SIX + DISJOINT))
STRUCTURE = ", structure only"  # ends the names of measurements without labels and attributes
FEW = 8  # target normals of transfer's middle column
SHOTS = (0, 1, 4, 8, 16, 32)
# Pools of the private series that do not hold the target.
FEW_SHOT_SOURCES = {"MUTAG": "protein", "PROTEINS": "mol", "IMDB-BINARY": "mol"}


def transfer_jobs(plan: Plan, sources: Sequence[str] = tuple(POOLS)) -> list[Job]:
    """One job per source, method and seed: fitted once, then every target of the plan that the paper pairs with it."""

    def run(source: str, method: str, seed: int, cells: Sequence[Cell]) -> Iterator[Outcome]:
        start = time.perf_counter()
        parts = source_references(plan, source, seed)
        model = SourceModel(method, seed, source, parts, plan.encoders)
        seconds = {"fit": time.perf_counter() - start}
        for cell in cells:
            start = time.perf_counter()
            # A target within the pool is kept whole: its own references are part of the source.
            known = cell["dataset"] in POOLS[source]
            references, queries, chosen = target(plan, cell, {} if known else parts)
            variants = {}
            for suffix, asked in model.for_target(str(cell["dataset"])).items():
                variants[f"zero-shot{suffix}"] = evaluate(asked.zero_shot(queries), chosen.anomalous)
                if model.takes_references:
                    few = asked.matched(references[:FEW], queries)
                    variants[f"{FEW} shots{suffix}"] = evaluate(few, chosen.anomalous)
                    variants[f"matched{suffix}"] = evaluate(asked.matched(references, queries), chosen.anomalous)
            spent = seconds | {"score": time.perf_counter() - start}
            yield Outcome(cell, variants["zero-shot"], spent, chosen.counts, chosen.classes, variants)

    return pool_jobs(plan, PAIRS, sources, run, _prompts)


def pool_jobs(
    plan: Plan,
    pairs: Sequence[tuple[str, str]],
    sources: Sequence[str],
    run: Callable[[str, str, int, Sequence[Cell]], Iterator[Outcome]],
    settings: Callable[[str], dict[str, object]] = lambda method: {},
) -> list[Job]:
    """One job per source pool, method and seed, with a cell for every target of the plan that `pairs` has for the pool.

    `settings` says what the records of a method depend on besides the method's own settings.
    """
    jobs = []
    for source, method, seed in product(sources, plan.methods, plan.seeds):
        targets = [name for origin, name in pairs if origin == source and name in plan.names]
        cells: tuple[Cell, ...] = tuple({"source": source, "dataset": name, "seed": seed} for name in targets)
        needed = tuple(dict.fromkeys([*POOLS[source], *targets]))
        if cells:
            jobs.append(Job(method, cells, needed, partial(run, source, method, seed), settings(method)))
    return jobs


def few_shot_jobs(plan: Plan) -> list[Job]:
    """One job per target, method and seed; k = 0, 1, 4, 8, 16, 32 and all target normals are measured in it.

    The shots are nested prefixes of one seeded order. Each is added to the source references, and also used without
    them (``only``).
    """
    for name in plan.names:
        if name not in FEW_SHOT_SOURCES:
            raise BenchError(f"tab:fewshot has the targets {', '.join(FEW_SHOT_SOURCES)}; found {name!r}.")

    def measure(method: str, cell: Cell) -> Outcome:
        start = time.perf_counter()
        source, seed = str(cell["source"]), int(cell["seed"])
        sources = source_references(plan, source, seed)
        model = SourceModel(method, seed, source, sources, plan.encoders)
        middle = time.perf_counter()
        if not model.takes_references:
            raise BenchError(f"Method {method!r} cannot take further references without training.")
        references, queries, chosen = target(plan, cell, sources)
        counts = sorted({shots for shots in SHOTS[1:] if shots <= len(references)} | {len(references)})
        variants = {}
        for suffix, asked in model.for_target(str(cell["dataset"])).items():
            variants[f"0{suffix}"] = evaluate(asked.zero_shot(queries), chosen.anomalous)
            for added, shots in pairwise([0, *counts]):
                label = "all" if shots == len(references) else str(shots)
                scores = asked.extended(references[added:shots], queries)
                variants[f"{label}{suffix}"] = evaluate(scores, chosen.anomalous)
                alone = asked.matched(references[:shots], queries)
                variants[f"{label} only{suffix}"] = evaluate(alone, chosen.anomalous)
        seconds = {"fit": middle - start, "score": time.perf_counter() - middle}
        return Outcome(cell, variants["all"], seconds, chosen.counts, chosen.classes, variants)

    jobs = []
    for name in plan.names:
        source = FEW_SHOT_SOURCES[name]
        for job in cell_jobs(replace(plan, names=[name]), measure, source=[source]):
            jobs.append(replace(job, datasets=(*POOLS[source], name), settings=_prompts(job.method)))
    return jobs


def _prompts(method: str) -> dict[str, object]:
    """Where the domains in the prompts of GLASS come from, for the records."""
    return {"domain": "of the source and of the target"} if method in GLASS else {}


def source_references(plan: Plan, source: str, seed: int) -> dict[str, GraphSet]:
    """The normal references of every dataset of a source pool, blinded."""
    pool = {name: plan.datasets.get(name) for name in POOLS[source]}
    return {name: blind(graphs, plan.split(graphs, seed).references) for name, graphs in pool.items()}


def target(plan: Plan, cell: Cell, sources: Mapping[str, GraphSet]) -> tuple[GraphSet, GraphSet, Split]:
    """References and queries of a target, blinded, and its split.

    Records that a source holds exactly, labels and attributes included, are left out.
    """
    graphs, parts = plan.task(cell)
    seen = {digest for part in sources.values() for digest in part.content_hashes()}
    fresh = np.array([digest not in seen for digest in graphs.content_hashes()])
    kept = fresh[parts.test]
    parts = replace(
        parts,
        references=parts.references[fresh[parts.references]],
        test=parts.test[kept],
        anomalous=parts.anomalous[kept],
    )
    return blind(graphs, parts.references), blind(graphs, parts.test), parts


class SourceModel:
    """A method fitted on the normal graphs of source datasets, which can be given other references.

    GLASS keeps its encoders and swaps references. A training-free or kernel method has nothing to keep: new references
    are a new fit. Across domains labels and attributes mean different things, so these methods then compare structure
    alone; GLASS decides for itself what it reads (:meth:`graphglass.GLASS.for_any_domain`).

    `source` names the pool, which prompts of GLASS name as the domain.
    """

    def __init__(
        self,
        method: str,
        seed: int,
        source: str,
        sources: Mapping[str, GraphSet],
        encoders: SourceEncoders | None = None,
    ) -> None:
        self._method, self._seed = method, seed
        self._read: Callable[[GraphSet], GraphSet] = lambda graphs: graphs
        self._pool = concatenate([_named(name, part.structure_only()) for name, part in sources.items()])
        detector: Any = factory(method)(seed)
        self._swaps = hasattr(detector, "with_references")
        self._reads_prompts = getattr(detector, "settings", lambda: None)() is not None  # GLASS
        if self._reads_prompts:
            detector.set_params(domain="graph" if source == "all" else source.removesuffix("-six"))
        if not self._swaps:
            self._detector: Any = detector.fit(self._pool)
        else:
            self._detector = detector.fit(dict(sources)) if encoders is None else encoders.fit(detector, sources)

    @property
    def takes_references(self) -> bool:
        """Whether references can be exchanged without training."""
        return self._swaps or self._method in TRAINING_FREE + KERNELS

    def for_target(self, name: str) -> dict[str, SourceModel]:
        """This model for graphs of a dataset; GLASS also by structure alone, named by a suffix."""
        if not self._reads_prompts:
            return {"": self}
        kept = copy.copy(self)
        kept._detector = copy.copy(self._detector).set_params(domain=DOMAINS.get(name, "graph"))
        bare = copy.copy(kept)
        bare._detector = copy.copy(kept._detector).set_params(features="structure").for_any_domain()
        bare._read = GraphSet.structure_only
        return {"": kept, STRUCTURE: bare}

    def zero_shot(self, queries: GraphSet) -> NDArray[np.float64]:
        """Scores against the source references."""
        return _scores(self._detector, self._read(queries) if self._swaps else queries.structure_only())

    def matched(self, references: GraphSet, queries: GraphSet) -> NDArray[np.float64]:
        """Scores against target references alone."""
        references, queries = self._read(references), self._read(queries)
        if not self._swaps:
            return _scores(self._fresh(references), queries)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A single reference")  # the ranking by one shot is measured
            return _scores(self._detector.with_references(references), queries)

    def extended(self, shots: GraphSet, queries: GraphSet) -> NDArray[np.float64]:
        """Scores against the source references and all `shots` so far: trusted target normals not added before."""
        named = _named("shot", shots)
        if self._swaps:
            self._detector.add_references(self._read(named))
            return self.zero_shot(queries)
        self._pool = concatenate([self._pool, named.structure_only()])
        return _scores(self._fresh(self._pool), queries.structure_only())

    def _fresh(self, references: GraphSet) -> Any:
        return factory(self._method)(self._seed).fit(references)


def _scores(detector: Any, queries: GraphSet) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = detector.decision_function(queries)
    return scores


def _named(prefix: str, graphs: GraphSet) -> GraphSet:
    return replace(graphs, ids=tuple(f"{prefix}/{identifier}" for identifier in graphs.ids))
