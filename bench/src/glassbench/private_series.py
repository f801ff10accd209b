"""Private reference summaries (tab:dp_main, tab:dp_all, tab:dp_modalities, tab:dp_resolution, tab:dp_extra).

An encoder is trained on a public source pool. A target's normal references are then summarised as a release would
summarise them, with seeded noise on public data, and the target's test graphs are ranked by the summary. Encoder and
feature map never see the target: graphs are read as the source's were, and nothing is fitted on references.

A release without a model summarises public sketches of the same references; the source takes no part in it.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from glassbench.jobs import Job, Outcome, Plan
from glassbench.methods import GLASS, factory
from glassbench.metrics import evaluate
from glassbench.records import Cell
from glassbench.source_models import SourceEncoders
from glassbench.transfer import DISJOINT, pool_jobs, source_references, target
from graphglass.channels.neighbours import mean_angle, mean_distance, nearest
from graphglass.errors import BenchError, PrivacyError
from graphglass.glass.joint_features import MAIN_CHANNELS, JointFeatures
from graphglass.graphs.graph_set import GraphSet
from graphglass.privacy.noise_scale import gaussian_sigma
from graphglass.privacy.private_summary import SHRINKAGE, shrunk
from graphglass.privacy.sketch_features import SketchFeatures

SKETCH = "graphglass"  # the default trains nothing, and its release is the public sketch
METHODS = (SKETCH, *GLASS)
EPSILONS = (1.0, 2.0, 4.0, 8.0)
EPSILON = 4.0
DELTA = 1e-5
DRAWS = 10
NEIGHBOURS = 5
REFERENCES = 128  # of the main tables; fewer where a target has fewer
SIZES = (1, 4, 8, 16, 32, 64, 128, 256)
SITES = (2, 4)
INSTRUCTION = "domain-invariant"  # read by encoders that follow instructions, the same for every graph
Codes = Mapping[str, NDArray[Any]]
Metrics = dict[str, float]


def _channels(*widths: int, views: Sequence[str] = ("graph", "text")) -> tuple[tuple[str, int], ...]:
    return tuple((f"{view}:{width}", width) for view in views for width in widths)


# tab:dp_modalities and tab:dp_resolution: the paper's kernel with one thing changed.
_PAPER = JointFeatures()
DIAGNOSTICS: dict[str, JointFeatures] = {
    "graph": replace(_PAPER, channels=_channels(64, 128, views=["graph"])),
    "text": replace(_PAPER, channels=_channels(64, 128, views=["text"])),
    "64 only": replace(_PAPER, channels=_channels(64)),
    "128 only": replace(_PAPER, channels=_channels(128)),
    "256 only": replace(_PAPER, channels=_channels(256)),
    "all four slices": replace(_PAPER, channels=_channels(64, 128, 256, 512)),
    "M=64": replace(_PAPER, frequencies=64),
    "M=256": replace(_PAPER, frequencies=256),
    "kappa=1": replace(_PAPER, kappa=1.0),
    "kappa=16": replace(_PAPER, kappa=16.0),
}


def private_jobs(plan: Plan, sources: Sequence[str] = ("mol", "protein")) -> list[Job]:
    """One job per source pool, method and seed: one encoder, then every target of the plan outside its pool."""
    for method in plan.methods:
        if method not in METHODS:
            raise BenchError(f"Method {method!r} has no private release; choose one of {', '.join(METHODS)}.")

    def run(source: str, method: str, seed: int, cells: Sequence[Cell]) -> Iterator[Outcome]:
        if method == SKETCH:
            return _sketch_cells(plan, source, seed, cells)
        return _code_cells(plan, method, source, seed, cells)

    return pool_jobs(plan, DISJOINT, sources, run, settings)


def settings(method: str) -> dict[str, Any]:
    """Everything the records depend on besides the encoder."""
    shared = {"delta": DELTA, "draws": DRAWS, "neighbours": NEIGHBOURS}
    if method == SKETCH:
        return {"private": {"sketch": SketchFeatures().digest(), **shared}}
    return {
        "private": {
            "features": _PAPER.to_json(),
            "diagnostics": {name: features.to_json() for name, features in DIAGNOSTICS.items()},
            "references": REFERENCES,
            "shrinkage": SHRINKAGE,
            **shared,
        }
    }


def _code_cells(plan: Plan, method: str, source: str, seed: int, cells: Sequence[Cell]) -> Iterator[Outcome]:
    """Embed the source once, then measure each target of `cells`."""
    start = time.perf_counter()
    encoders = plan.encoders or SourceEncoders()
    parts = source_references(plan, source, seed)
    untrained: Any = factory(method)(seed)
    detector = encoders.fit_encoder(untrained, parts, instruction=INSTRUCTION)
    embedded = [detector.channel_embeddings(part) for part in parts.values()]
    public = {name: np.concatenate([codes[name] for codes in embedded]) for name in embedded[0]}
    seconds = {"fit": time.perf_counter() - start}
    for cell in cells:
        start = time.perf_counter()
        normals, tested, chosen = target(plan, cell, parts)
        references, queries = (detector.channel_embeddings(part) for part in (normals[: max(SIZES)], tested))
        middle = time.perf_counter()
        variants = measure(public, references, queries, chosen.anomalous, f"{source}|{cell['dataset']}|{seed}")
        spent = seconds | {"embed": middle - start, "score": time.perf_counter() - middle}
        used = chosen.counts | {"summarised": min(REFERENCES, len(normals))}
        yield Outcome(cell, variants["eps=4"], spent, used, chosen.classes, variants)


def _sketch_cells(plan: Plan, source: str, seed: int, cells: Sequence[Cell]) -> Iterator[Outcome]:
    """Measure each target of `cells` with 128 and with all references."""
    parts = source_references(plan, source, seed)
    for cell in cells:
        start = time.perf_counter()
        references, queries, chosen = target(plan, cell, parts)
        place = f"sketch|{source}|{cell['dataset']}|{seed}"
        variants: dict[str, Metrics] = {}
        for name, some in (("n=128", references[:REFERENCES]), ("all", references)):
            variants |= measure_sketches(some, queries, chosen.anomalous, name, place, seed)
        used = chosen.counts | {"summarised": len(references)}
        spent = {"fit": 0.0, "score": time.perf_counter() - start}
        yield Outcome(cell, variants["n=128 eps=4"], spent, used, chosen.classes, variants)


def measure(
    source: Codes, references: Codes, queries: Codes, anomalous: NDArray[np.bool_], place: str
) -> dict[str, Metrics]:
    """Every condition of one target and seed, by name.

    ``source-nn`` and ``target-nn`` are mean angles to the five nearest references, with ``cosine`` the mean of 1 - cos.
    ``exact`` is the kernel density itself, ``no noise`` the summary without noise, ``eps=E`` a release, all of the main
    number of references; ``n=N`` names another number, ``J=J`` sites, ``+source`` shrinkage; ``source`` is its prior.
    """
    available = len(next(iter(references.values())))
    main = min(REFERENCES, available)
    others = [n for n in SIZES if n <= available and n != main]
    names = [name for name, _ in MAIN_CHANNELS]
    found = {}
    for name, known in {"source-nn": source, "target-nn": _first(references, main)}.items():
        found[name] = evaluate(neighbour_scores(queries, known, names), anomalous)
        found[f"{name} cosine"] = evaluate(neighbour_scores(queries, known, names, mean_distance), anomalous)
    for n in others:
        found[f"target-nn n={n}"] = evaluate(neighbour_scores(queries, _first(references, n), names), anomalous)
    found["exact"] = evaluate(density_scores(_PAPER, queries, _first(references, main)), anomalous)
    rows = Features.of(_PAPER, source, references, queries)
    found["source"] = evaluate(-(rows.queries @ rows.prior), anomalous)
    conditions = [
        ("no noise", main, math.inf, 1),
        *((f"eps={epsilon:g}", main, epsilon, 1) for epsilon in EPSILONS),
        *((f"n={n} no noise", n, math.inf, 1) for n in others),
        *((f"n={n} eps={EPSILON:g}", n, EPSILON, 1) for n in others),
        *((f"J={sites} eps={EPSILON:g}", main, EPSILON, sites) for sites in SITES),
    ]
    for name, n, epsilon, sites in conditions:
        release = rows.release(n, epsilon, f"{place}|paper {name}", sites=sites)
        found[name] = averaged(release.scores(rows.queries), anomalous)
        found[f"{name} +source"] = averaged(release.with_prior(rows.prior, n).scores(rows.queries), anomalous)
    for name, features in DIAGNOSTICS.items():
        rows = Features.of(within_width(features, references), source, references, queries)
        release = rows.release(main, EPSILON, f"{place}|{name}")
        found[f"{name} eps={EPSILON:g}"] = averaged(release.scores(rows.queries), anomalous)
    return found


def measure_sketches(
    references: GraphSet, queries: GraphSet, anomalous: NDArray[np.bool_], name: str, place: str, seed: int
) -> dict[str, Metrics]:
    """Every condition of a release without a model, by name.

    ``NAME detector`` is the whole detector, ``NAME 5-nn`` the five nearest by the kernel of the release at epsilon 4,
    ``NAME eps=E`` a release, and ``NAME no noise`` that of epsilon 4 without noise.
    """
    detector = factory(SKETCH)(seed).fit(references)
    found = {f"{name} detector": evaluate(detector.decision_function(queries), anomalous)}
    rows: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for epsilon in (*EPSILONS, math.inf):
        budget = epsilon if math.isfinite(epsilon) else EPSILON
        features = SketchFeatures.for_budget(len(references), budget, DELTA)
        if features.sharpness not in rows:
            rows = {features.sharpness: (features(references), features(queries))}
        summarised, asked = rows[features.sharpness]
        draws = _draws(summarised, epsilon, f"{place}|{name}|{epsilon:g}")
        scores = [sum(features.contributions(asked, mean, draws.sigma).values()) for mean in draws.means]
        title = "no noise" if math.isinf(epsilon) else f"eps={epsilon:g}"
        found[f"{name} {title}"] = averaged(np.array(scores), anomalous)
    closest = np.sort(asked @ summarised.T, axis=1)[:, -NEIGHBOURS:]  # of epsilon 4, the last
    found[f"{name} 5-nn"] = evaluate(-closest.mean(axis=1), anomalous)
    return found


def within_width(features: JointFeatures, codes: Codes) -> JointFeatures:
    """The same map with slices wider than the codes replaced by their full width, as training replaces them."""
    full = max(rows.shape[1] for rows in codes.values())
    slices = [(name.partition(":")[0], min(width, full)) for name, width in features.channels]
    return replace(features, channels=tuple((f"{view}:{width}", width) for view, width in slices))


def neighbour_scores(
    queries: Codes,
    references: Codes,
    channels: Iterable[str],
    distance: Callable[[NDArray[np.float64]], NDArray[np.float64]] = mean_angle,
) -> NDArray[np.float64]:
    """Mean distance to the five nearest references, averaged over the channels, (queries,).

    ``mean_angle`` is the angular mean of the private tables, ``mean_distance`` the 1 - cos of eq:knn_distance.
    """
    nearby = [nearest(queries[name], references[name], NEIGHBOURS)[0] for name in channels]
    return np.asarray(np.mean([distance(similarities) for similarities in nearby], axis=0))


def density_scores(features: JointFeatures, queries: Codes, references: Codes) -> NDArray[np.float64]:
    """Minus the exact kernel density that the features of `features` approximate (eq:dp_sphere_kernel), (queries,)."""
    parts = []
    for name, _ in features.channels:
        left, right = (np.asarray(codes[name], np.float64) for codes in (queries, references))
        squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2.0 * left @ right.T
        parts.append(np.exp(-0.5 * features.kappa * np.maximum(squares, 0.0)).mean(axis=1))
    return np.asarray(-np.mean(parts, axis=0))


@dataclass(frozen=True, eq=False)
class SimulatedSummary:
    """Means with pseudorandom noise that anyone who knows the seed can remove; it cannot be written as a release."""

    means: NDArray[np.float64]  # (draws, P)
    sigma: float

    def scores(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """eq:dp_score of every query under every draw, (draws, n)."""
        return -(self.means @ features.T)

    def with_prior(self, prior: NDArray[np.float64], references: int) -> SimulatedSummary:
        """The draws shrunk toward a public mean (eq:dp_mix)."""
        return SimulatedSummary(shrunk(self.means, prior, references), self.sigma)

    def save(self, *_: Any, **__: Any) -> NoReturn:
        """Always refused."""
        raise PrivacyError("A simulated summary protects nobody: its noise follows from a seed. Use release().")

    to_bytes = save


def simulate(
    features: NDArray[np.float64], *, epsilon: float, seed: int, delta: float = 1e-5, draws: int = 10, sites: int = 1
) -> SimulatedSummary:
    """Benchmark-only draws of eq:dp_release over public reference features (n, P); an epsilon of ``inf`` adds no noise.

    With J equal disjoint sites at fixed total n, the noise grows by the square root of J.
    """
    mean = np.asarray(features, np.float64).mean(axis=0)
    if epsilon == float("inf"):
        return SimulatedSummary(np.repeat(mean[None, :], draws, axis=0), 0.0)
    sigma = gaussian_sigma(epsilon, delta, len(features)) * sites**0.5
    noise = np.random.default_rng(seed).standard_normal((draws, len(mean)))
    return SimulatedSummary(mean + sigma * noise, sigma)


@dataclass(frozen=True, eq=False)
class Features:
    """The joint features of one target under one kernel.

    Attributes
    ----------
    references : float64 (references, P)
        In their fixed order; smaller reference sets are prefixes.
    queries : float64 (queries, P)
    prior : float64 (P,)
        Mean feature of the public source graphs.
    """

    references: NDArray[np.float64]
    queries: NDArray[np.float64]
    prior: NDArray[np.float64]

    @classmethod
    def of(cls, features: JointFeatures, source: Codes, references: Codes, queries: Codes) -> Features:
        return cls(features(references), features(queries), features(source).mean(axis=0))

    def release(self, n: int, epsilon: float, place: str, *, sites: int = 1) -> SimulatedSummary:
        """Seeded draws over the first `n` references; `place` names the condition; each has other noise."""
        return _draws(self.references[:n], epsilon, f"{place}|{n}|{epsilon:g}|{sites}", sites)


def _draws(rows: NDArray[np.float64], epsilon: float, place: str, sites: int = 1) -> SimulatedSummary:
    draws = DRAWS if math.isfinite(epsilon) else 1
    return simulate(rows, epsilon=epsilon, seed=zlib.crc32(place.encode()), delta=DELTA, draws=draws, sites=sites)


def averaged(scores: NDArray[np.float64], anomalous: NDArray[np.bool_]) -> Metrics:
    """Metrics averaged over the draws, (draws, queries), and the deviation of the AUROC among them."""
    found = [evaluate(row, anomalous) for row in scores]
    means = {name: float(np.mean([metrics[name] for metrics in found])) for name in found[0]}
    if len(found) > 1:
        means["auroc_sd"] = float(np.std([metrics["auroc"] for metrics in found], ddof=1))
    return means


def _first(codes: Codes, n: int) -> Codes:
    return {name: rows[:n] for name, rows in codes.items()}
