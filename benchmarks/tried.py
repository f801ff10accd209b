"""Measure what the default detector does not use: other channels, other neighbourhoods, other rules of fusion.

    python benchmarks/quality.py measure --data DATA --seeds 0 2     # the default's channels, if not measured before
    python benchmarks/tried.py measure --data DATA --seeds 0 2
    python benchmarks/tried.py report --seeds 0 2

``measure`` takes the distances of every trial in every dataset, direction and seed and keeps them; it goes on where it
stopped. ``report`` needs no graph and writes results/quality/tried.json, the tables behind "What was tried" in
docs/quality.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtri

from graphglass.bench.datasets import TWELVE
from graphglass.bench.metrics import auroc
from graphglass.channels.default_channels import FAMILY_WEIGHTS, training_free_channels
from graphglass.channels.fusion import fit_fusion
from graphglass.channels.nearest_references import left_out_means, nearest_means, neighbourhood
from graphglass.channels.patterns.counts import Counts, count_keys, overlap, postings
from graphglass.channels.patterns.pattern_channel import LEVELS, LOCALITY, PatternChannel, neighbourhood_keys
from graphglass.channels.patterns.starts import LabelStart, Names, ShapeStart, Start, node_names, quantile_cuts
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import FeatureMap, FixedMap, StructureMap, mean_and_deviation
from graphglass.channels.tables.geometry import GeometryMap
from graphglass.channels.tables.neighbour_means import NeighbourMeansMap, neighbour_mean
from graphglass.channels.tables.reference_scale import NormalScores, Whitening, squared_distances, unit_rows
from graphglass.channels.tables.table_channel import TableChannel, settled
from graphglass.embedding.encoders.numeric import NumericEncoder
from graphglass.embedding.prompt.graphdp import graphdp
from graphglass.graphs.attributes import attribute_columns
from quality import (
    DIRECTIONS,
    GRID,
    ORDER,
    Cell,
    check_complete,
    fused,
    read,
    save,
    shares,
    table,
    training_free,
    unmeasured,
    write,
)

SPREAD = 10.0  # of every channel of the default but size
NOISE = 0.1  # of the Gaussian process
ADDED = 0.5  # what a trial weighs beside the default's families
Matrices = tuple[NDArray, NDArray]  # distances between references, and of queries to references
Distances = tuple[NDArray, NDArray]  # of references to the others, and of queries
Trial = Callable[[ProfiledGraphs, ProfiledGraphs], Distances | None]  # None where the graphs lack what it reads


def nearest(matrices: Matrices, spread: float = SPREAD, locality: float = LOCALITY) -> Distances:
    """The default's distance from a metric: mean over the k nearest, in units of their local scale."""
    inside, outside = matrices
    k = neighbourhood(len(inside), spread)
    left_out, units = left_out_means(lambda a, b: inside[a:b], k, locality, len(inside))
    return left_out, nearest_means(lambda a, b: outside[a:b], len(outside), k, units)[0]


# ---------------------------------------------------------------- patterns, named or compared in another way


def patterns(start: Start, weigh: Callable[[Counts, Counts], Counts] = lambda counts, _: counts) -> Trial:
    """Weighted Jaccard similarity of neighbourhood counts that ``weigh`` may change, given those of the references."""

    def trial(references: ProfiledGraphs, queries: ProfiledGraphs) -> Distances | None:
        levels = _levels(start, references, queries)
        return None if levels is None else nearest(jaccard([tuple(weigh(c, r) for c in (r, q)) for r, q in levels]))

    return trial


def jaccard(levels: list[tuple[Counts, Counts]]) -> Matrices:
    inside, outside = [
        sum(
            (1 - overlap(bags[side], postings(bags[0]), 0, len(bags[side].offsets) - 1).astype(np.float64)) / LEVELS
            for bags in levels
        )
        for side in (0, 1)
    ]
    return inside, outside


def hellinger(references: ProfiledGraphs, queries: ProfiledGraphs) -> Distances | None:
    """1 - sum sqrt(a b) / mean total: Hellinger similarity that also compares sizes."""
    inside, outside = 0.0, 0.0
    for bags in _levels(LabelStart(), references, queries):
        known = np.unique(bags[0].keys)
        roots = [_roots(counts, known) for counts in bags]
        among, across = [
            1 - 2 * (rows @ roots[0].T).toarray() / (counts.totals[:, None] + bags[0].totals)
            for rows, counts in zip(roots, bags, strict=True)
        ]
        inside, outside = inside + among / LEVELS, outside + across / LEVELS
    return nearest((inside, outside))


def _roots(counts: Counts, known: NDArray) -> csr_array:
    place = np.searchsorted(known, counts.keys).clip(max=len(known) - 1)
    values = np.where(known[place] == counts.keys, np.sqrt(counts.values, dtype=np.float64), 0.0)
    return csr_array((values, place, counts.offsets), shape=(len(counts.offsets) - 1, len(known)))


def _levels(start: Start, references: ProfiledGraphs, queries: ProfiledGraphs) -> list[tuple[Counts, Counts]] | None:
    start.fit(references)
    counted = []
    for evidence in (references, queries):
        names = start.names(evidence)
        if names is None:
            return None
        keys = neighbourhood_keys(evidence.graphs, *names)
        counted.append([count_keys(evidence.graphs.node_offsets, level) for level in keys])
    return list(zip(*counted, strict=True))


def once(counts: Counts, _: Counts) -> Counts:
    return replace(counts, values=np.ones_like(counts.values))


def rooted(counts: Counts, _: Counts) -> Counts:
    return replace(counts, values=np.sqrt(counts.values))


def rarity(counts: Counts, references: Counts) -> Counts:
    known, holders = np.unique(references.keys, return_counts=True)
    place = np.searchsorted(known, counts.keys).clip(max=len(known) - 1)
    holders = np.where(known[place] == counts.keys, holders[place], 0)
    weight = 1 + np.log(len(references.offsets) / (1 + holders))
    return replace(counts, values=(counts.values * weight).astype(np.float32))


class MoreNames(LabelStart):
    """Labels together with another name of every node."""

    def __init__(self, other: Callable[[ProfiledGraphs], NDArray | None]) -> None:
        self.other = other

    def names(self, evidence: ProfiledGraphs) -> Names | None:
        extra = self.other(evidence)
        return None if extra is None else (node_names(evidence.graphs) * 1024 + extra, evidence.graphs.edge_labels)


class NormStart(LabelStart):
    """Labels and the bucket of the length of the attribute vector."""

    def fit(self, references: ProfiledGraphs) -> None:
        if references.graphs.attributes is not None:
            self.cuts = quantile_cuts(_norms(references), 5)

    def names(self, evidence: ProfiledGraphs) -> Names | None:
        if evidence.graphs.attributes is None:
            return None
        return node_names(evidence.graphs) * 8 + np.searchsorted(
            self.cuts, _norms(evidence)
        ), evidence.graphs.edge_labels


def _norms(evidence: ProfiledGraphs) -> NDArray:
    return np.sqrt((attribute_columns(evidence.graphs) ** 2).sum(axis=1))


def _degrees(evidence: ProfiledGraphs) -> NDArray:
    return np.diff(evidence.graphs.neighbour_offsets).clip(max=1023)


def _shape_if_labelled(evidence: ProfiledGraphs) -> NDArray | None:
    return None if evidence.graphs.node_labels is None else ShapeStart().names(evidence)[0]


# ---------------------------------------------------------------- tables of features


def features(chosen: Callable[[], FeatureMap], metric: str) -> Trial:
    def trial(references: ProfiledGraphs, queries: ProfiledGraphs) -> Distances | None:
        matrices = table_matrices(chosen(), metric, references, queries)
        return None if matrices is None else nearest(matrices)

    return trial


def table_matrices(
    chosen: FeatureMap, metric: str, references: ProfiledGraphs, queries: ProfiledGraphs
) -> Matrices | None:
    chosen.fit(references)
    rows = [settled(chosen.table(evidence)) for evidence in (references, queries)]
    if not rows[0].shape[1]:
        return None
    scores = NormalScores(rows[0])
    rows = [scores(part) for part in rows]
    if metric != "euclidean":
        whitening = Whitening(rows[0])
        rows = [whitening(part) for part in rows]
    if metric == "whitened-cosine":
        rows = [unit_rows(part) for part in rows]
        return squared_distances(rows[0], rows[0]) / 2, squared_distances(rows[1], rows[0]) / 2
    return np.sqrt(squared_distances(rows[0], rows[0])), np.sqrt(squared_distances(rows[1], rows[0]))


class SketchMap(FixedMap):
    """The spectral sketch alone."""

    def table(self, evidence: ProfiledGraphs) -> NDArray:
        return evidence.profile.sketch


class RandomNetworkMap(NeighbourMeansMap):
    """Mean and deviation of the node states of an untrained network that averages over neighbours."""

    def table(self, evidence: ProfiledGraphs) -> NDArray:
        graphs = evidence.graphs
        generator = np.random.default_rng(0)
        state, columns = self.nodes(evidence), []
        for _ in range(3):
            around = neighbour_mean(state, graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours)
            both = np.concatenate([state, around], axis=1)
            weights = generator.normal(size=(both.shape[1], 32)) / both.shape[1] ** 0.5
            state = np.maximum(both @ weights, 0)
            columns += mean_and_deviation(state, graphs.node_offsets)
        return np.concatenate(columns, axis=1)


def anchor(references: ProfiledGraphs, queries: ProfiledGraphs) -> Distances:
    """Cosine between the numeric encoder's rows, which stand for the words of a graph."""
    inside, outside = (
        NumericEncoder(512).encode(graphdp(part.profile)).astype(np.float64) for part in (references, queries)
    )
    return nearest((squared_distances(inside, inside) / 2, squared_distances(outside, inside) / 2))


# ---------------------------------------------------------------- other distances from the same patterns


def variance(references: ProfiledGraphs, queries: ProfiledGraphs) -> Distances | None:
    """What a Gaussian process with the pattern similarity as its kernel does not know of a graph."""
    inside, outside = jaccard(_levels(LabelStart(), references, queries))
    inverse = np.linalg.inv(1 - inside + NOISE * np.eye(len(inside)))
    kernel = 1 - outside
    return 1 / np.diag(inverse) - NOISE, 1 - np.einsum("qr,rs,qs->q", kernel, inverse, kernel, optimize=True)


def subsets(references: ProfiledGraphs, queries: ProfiledGraphs) -> Distances | None:
    """The expected distance to the nearest of 64 references drawn at random."""
    inside, outside = jaccard(_levels(LabelStart(), references, queries))
    others = np.sort(inside + np.diag(np.full(len(inside), np.inf)), axis=1)[:, :-1]
    return others @ _first_of(64, others.shape[1]), np.sort(outside, axis=1) @ _first_of(64, outside.shape[1])


def _first_of(drawn: int, count: int) -> NDArray:
    """The chance that the j-th nearest of ``count`` is the nearest of those drawn."""
    if drawn >= count:
        return np.eye(count)[0]
    later = (count - drawn - np.arange(count - 1)).clip(min=0) / (count - 1 - np.arange(count - 1))
    chance = np.concatenate([[1.0], np.cumprod(later)])
    return chance / chance.sum()


TRIALS: dict[str, Trial] = {
    "patterns by scale-aware Hellinger similarity": hellinger,
    "patterns as sets": patterns(LabelStart(), once),
    "square-root counts of patterns": patterns(LabelStart(), rooted),
    "patterns weighted by rarity": patterns(LabelStart(), rarity),
    "patterns of label and degree": patterns(MoreNames(_degrees)),
    "patterns of label, degree and clustering": patterns(MoreNames(_shape_if_labelled)),
    "patterns of label and length of the attributes": patterns(NormStart()),
    "Gaussian-process variance, pattern kernel": variance,
    "nearest of 64 references drawn at random, patterns": subsets,
    "structure, whitened Euclid": features(StructureMap, "whitened"),
    "structure, whitened cosine": features(StructureMap, "whitened-cosine"),
    "propagated features, Euclid": features(NeighbourMeansMap, "euclidean"),
    "attribute invariants, whitened Euclid": features(GeometryMap, "whitened"),
    "spectral sketch, Euclid": features(SketchMap, "euclidean"),
    "numeric text anchor, cosine": anchor,
    "untrained network, Euclid": features(RandomNetworkMap, "euclidean"),
    "untrained network, whitened cosine": features(RandomNetworkMap, "whitened-cosine"),
}
# Spread and locality for every channel but size; the default is 10 and one half.
NEIGHBOURHOODS: dict[str, tuple[float, float]] = {
    "the nearest reference": (1e9, LOCALITY),
    "three times as many": (SPREAD / 3, LOCALITY),
    "ten times as many": (SPREAD / 10, LOCALITY),
    "all references": (1e-9, LOCALITY),
    "plain distances": (SPREAD, 0.0),
    "full local scaling": (SPREAD, 1.0),
}


def measure(data: str | None, cache: Path, seeds: range, names: list[str]) -> None:
    for path, references, queries, anomalous in unmeasured(data, cache, seeds, names):
        found: dict[str, Distances | None] = {title: trial(references, queries) for title, trial in TRIALS.items()}
        for channel in training_free_channels():
            matrices = _of_default(channel, references, queries)
            for title, setting in NEIGHBOURHOODS.items() if channel.name != "size" else ():
                found[f"{title}|{channel.name}"] = None if matrices is None else nearest(matrices, *setting)
        arrays = {}
        for title, distances in found.items():
            if distances is not None:
                arrays[f"left_out/{title}"], arrays[f"distances/{title}"] = distances
        save(path, anomalous=anomalous, **arrays)


def _of_default(
    channel: PatternChannel | TableChannel, references: ProfiledGraphs, queries: ProfiledGraphs
) -> Matrices | None:
    if isinstance(channel, PatternChannel):
        levels = _levels(channel.start, references, queries)
        return None if levels is None else jaccard(levels)
    return table_matrices(channel.features, channel.metric, references, queries)


# ---------------------------------------------------------------- rules of fusion


def median(cell: Cell) -> float:
    def units(left_out: NDArray, values: NDArray) -> NDArray:
        low, middle, high = np.quantile(left_out, (0.25, 0.5, 0.75))
        return np.arcsinh((values - middle) / max((high - low) / 1.349, 1e-7))

    return _summed(cell, units)


def logarithm(cell: Cell) -> float:
    def units(left_out: NDArray, values: NDArray) -> NDArray:
        known, new = (np.log(part + 1e-3 * left_out.mean() + 1e-12) for part in (left_out, values))
        return np.arcsinh((new - known.mean()) / max(known.std(), 1e-7))

    return _summed(cell, units)


def ranks(cell: Cell) -> float:
    def units(left_out: NDArray, values: NDArray) -> NDArray:
        known = np.sort(left_out)
        place = (np.searchsorted(known, values) + np.searchsorted(known, values, side="right")) / 2
        return ndtri((place + 0.5) / (len(known) + 1))

    return _summed(cell, units)


def folded(cell: Cell) -> float:
    """Closer than the average reference is anomalous as well, by half."""

    def units(left_out: NDArray, values: NDArray) -> NDArray:
        z = np.arcsinh((values - left_out.mean()) / max(left_out.std(), 1e-7))
        return np.where(z < 0, -z / 2, z)

    return _summed(cell, units)


def _summed(cell: Cell, units: Callable[[NDArray, NDArray], NDArray]) -> float:
    distances, left_out, anomalous = cell
    share = shares(list(distances), _weights())
    return auroc(sum(share[name] * units(left_out[name], distances[name]) for name in distances), anomalous)


def maximum(cell: Cell) -> float:
    return auroc(_evidence(cell).max(axis=0), cell[2])


def three_largest(cell: Cell) -> float:
    return auroc(np.sort(_evidence(cell), axis=0)[-3:].mean(axis=0), cell[2])


def consensus(cell: Cell) -> float:
    """Weights grow with how well a channel agrees with the others on the references."""
    agreement = np.corrcoef(_evidence(cell, of_references=True))
    return _reweighed(cell, ((agreement.sum(axis=1) - 1) / max(len(agreement) - 1, 1)).clip(min=0))


def precision(cell: Cell) -> float:
    """Channels that say the same on the references share their weight."""
    correlation = np.corrcoef(_evidence(cell, of_references=True))
    return _reweighed(cell, np.linalg.solve(correlation + 0.1 * np.eye(len(correlation)), np.ones(len(correlation))))


def _reweighed(cell: Cell, factor: NDArray) -> float:
    share = np.array(list(shares(list(cell[0]), _weights()).values()))
    return auroc((share * factor.clip(min=0)) @ _evidence(cell), cell[2])


def _evidence(cell: Cell, *, of_references: bool = False) -> NDArray:
    """What every channel says, unweighted, (channels, graphs)."""
    distances, left_out, _ = cell
    rule = fit_fusion(
        left_out, weights=dict.fromkeys(left_out, 1.0), bounded=True, open_ended=training_free(list(left_out))
    )
    parts = rule.left_out_contributions(left_out) if of_references else rule.contributions(distances)
    return np.stack([parts[name] for name in distances])


RULES: dict[str, Callable[[Cell], float]] = {
    "median and interquartile range": median,
    "logarithm of distances": logarithm,
    "normal scores of leave-one-out ranks": ranks,
    "closer than the average reference is anomalous too": folded,
    "maximum": maximum,
    "mean of the three largest": three_largest,
    "weights by agreement with the other channels": consensus,
    "less weight for channels that say the same": precision,
}


def _weights() -> dict[str, float]:
    return {kind: FAMILY_WEIGHTS[kind] for kind in GRID}


def report(cache: Path, trials: Path, out: Path, seeds: range) -> None:
    cells, tried = read(cache, seeds), read(trials, seeds)
    check_complete(cells, seeds)
    check_complete(tried, seeds)
    default = table(cells, lambda cell: fused(cell, _weights()))
    channels = {}
    for title in TRIALS:
        alone = table(tried, lambda cell, title=title: auroc(cell[0][title], cell[2]) if title in cell[0] else np.nan)
        added = table({key: _with(cells[key], tried[key], title) for key in cells}, _added)
        channels[title] = {
            "datasets": int(np.isfinite(alone["minority"]).any(axis=1).sum()),
            "alone": {d: round(float(np.nanmean(np.nanmean(v, axis=1))), 2) for d, v in _heard(alone).items()},
            "added": _gap(default, added),
        }
    neighbourhoods = {}
    for title in NEIGHBOURHOODS:
        scores = table({key: _replaced(cells[key], tried[key], title) for key in cells}, _fused_default)
        neighbourhoods[title] = {
            "average": _gap(default, scores),
            "datasets": {
                d: dict(zip(TWELVE, (scores[d] - default[d]).mean(axis=1).round(2).tolist(), strict=True))
                for d in DIRECTIONS
            },
        }
    rules = {title: _gap(default, table(cells, rule)) for title, rule in RULES.items()}
    base = {d: round(float(values.mean()), 2) for d, values in default.items()}
    found = {"seeds": len(seeds), "default": base, "channels": channels}
    write(out / "tried.json", found | {"neighbourhoods": neighbourhoods, "rules": rules})


def _heard(values: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """Without the datasets that lack what a trial reads."""
    return {d: v[np.isfinite(v).any(axis=1)] for d, v in values.items()}


def _gap(one: dict[str, NDArray], other: dict[str, NDArray]) -> dict[str, float]:
    return {d: round(float((other[d] - one[d]).mean()), 2) for d in DIRECTIONS}


def _with(cell: Cell, tried: Cell, title: str) -> Cell:
    """The default's channels and the trial's."""
    if title not in tried[0]:
        return cell
    return {**cell[0], "trial": tried[0][title]}, {**cell[1], "trial": tried[1][title]}, cell[2]


def _added(cell: Cell) -> float:
    return fused(cell, {**_weights(), "trial": ADDED})


def _replaced(cell: Cell, tried: Cell, title: str) -> Cell:
    """The default's channels with another neighbourhood."""
    distances, left_out = (
        {name: trial.get(f"{title}|{name}", values) for name, values in usual.items()}
        for trial, usual in zip(tried[:2], cell[:2], strict=True)
    )
    return distances, left_out, cell[2]


def _fused_default(cell: Cell) -> float:
    return fused(cell, _weights())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("measure", "report"))
    parser.add_argument("--data", help="the data root; GRAPHGLASS_DATA if absent")
    parser.add_argument("--cache", type=Path, default=Path("build/quality"), help="what quality.py measured")
    parser.add_argument("--trials", type=Path, default=Path("build/tried"))
    parser.add_argument("--out", type=Path, default=Path("results/quality"))
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 2), metavar=("FIRST", "END"))
    parser.add_argument("--datasets", nargs="*", default=ORDER)
    options = parser.parse_args()
    if options.action == "measure":
        measure(options.data, options.trials, range(*options.seeds), options.datasets)
    else:
        report(options.cache, options.trials, options.out, range(*options.seeds))


if __name__ == "__main__":
    main()
