"""Measure what every training-free channel adds to the default detector, and how far its weights are tuned.

    python benchmarks/quality.py measure --data DATA --cache build/quality
    python benchmarks/quality.py report --cache build/quality --out results/quality
    python benchmarks/quality.py transfer --data DATA --out results/quality
    python benchmarks/quality.py trained --data DATA --out results/quality
    python benchmarks/quality.py few --data DATA --out results/quality
    python benchmarks/quality.py perturbed --data DATA --cache build/quality --out results/quality

``measure`` fits the channels on the references of every dataset, direction and seed, and keeps their distances.
``report`` needs no graph: it fuses stored distances and writes the JSON files behind docs/quality.md.
``transfer`` scores the targets of the 18 disjoint settings with references of other domains, and with eight of theirs.
``trained`` fits whole detectors and gives the trained graph codes from no weight to twice that of size.
``few`` scores with 4 to 64 references, with and without what the default does differently for small sets.
``perturbed`` weighs every channel by how well it tells held-out references from perturbed ones, after ``measure``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from graphglass import GLASS
from graphglass.bench.datasets import TWELVE, Datasets
from graphglass.bench.metrics import auroc
from graphglass.bench.protocols import blind, split
from graphglass.bench.transfer import DISJOINT, source_references, target_split
from graphglass.channels import fusion, nearest_references
from graphglass.channels.calibration import conformal_p_values
from graphglass.channels.default_channels import FAMILY_WEIGHTS, default_weights, family, training_free_channels
from graphglass.channels.fusion import UNKNOWN, fit_fusion
from graphglass.channels.nearest_references import SETTLED
from graphglass.channels.profiled_graphs import ProfiledGraphs, join_profiled
from graphglass.embedding.training.perturbation import perturb
from graphglass.graphs import concatenate
from graphglass.storage.atomic import replacing
from graphglass.structure.profile import StructureProfile, profile

DIRECTIONS = ("minority", "flip")
SEEDS = 5
# Smallest first, so that an interrupted run has measured the most cells.
ORDER = sorted(
    TWELVE, key=("MUTAG BZR COX2 ENZYMES IMDB-BINARY DHFR PROTEINS AIDS DD REDDIT-BINARY NCI1 COLLAB").split().index
)
GRID = {
    "pattern": (1.0, 2.0, 3.0, 5.0),
    "size": (0.5, 1.0, 2.0),
    "structure": (0.0, 0.5, 1.0),
    "direction": (0.0, 0.5, 1.0),
    "geometry": (0.0, 0.5),
    "attributes": (0.0, 0.5, 1.0),
}
Cell = tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]], NDArray[np.bool_]]


def unmeasured(
    data: str | None, cache: Path, seeds: range, names: list[str]
) -> Iterator[tuple[Path, ProfiledGraphs, ProfiledGraphs, NDArray[np.bool_]]]:
    """References, test graphs and which of these are anomalous, for every file that the cache does not have yet."""
    cache.mkdir(parents=True, exist_ok=True)
    datasets = Datasets(data)
    for name in names:
        paths = {(d, s): cache / f"{name}.{d}.{s}.npz" for s in seeds for d in DIRECTIONS}
        todo = {key: path for key, path in paths.items() if not path.exists()}
        if not todo:
            continue
        graphs = datasets.get(name)
        structure = profile(graphs)
        for (direction, seed), path in todo.items():
            chosen = split(graphs.labels, "minority", seed, flip=direction == "flip")
            references, queries = (
                ProfiledGraphs(blind(graphs, rows), structure[rows], {}) for rows in (chosen.references, chosen.test)
            )
            start = time.perf_counter()
            yield path, references, queries, chosen.anomalous
            print(path.stem, f"{time.perf_counter() - start:.1f} s", flush=True)


def measure(data: str | None, cache: Path, seeds: range, names: list[str]) -> None:
    """Distances of every test graph and leave-one-out distances of every reference, by channel."""
    for path, references, queries, anomalous in unmeasured(data, cache, seeds, names):
        arrays: dict[str, NDArray] = {"anomalous": anomalous}
        for channel in training_free_channels():
            channel.fit(references)
            if not channel.silent:
                arrays[f"left_out/{channel.name}"] = channel.leave_one_out()
                arrays[f"distances/{channel.name}"] = channel.distances(queries)[0]
        save(path, **arrays)


def save(path: Path, **arrays: NDArray) -> None:
    """Whole or not at all: a file that is there counts as measured."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def check_complete(cells: Mapping[tuple[str, str, int], Cell], seeds: range) -> None:
    """Stop where a figure would be made of fewer cells than it says."""
    if missing := [key for key in itertools.product(TWELVE, DIRECTIONS, range(len(seeds))) if key not in cells]:
        raise SystemExit(f"{len(missing)} cells are not measured, {missing[0]} among them: run `measure` first.")


def read(cache: Path, seeds: range = range(SEEDS)) -> dict[tuple[str, str, int], Cell]:
    """Stored cells by dataset, direction and place of the seed in the range."""
    cells = {}
    for name, direction, seed in itertools.product(TWELVE, DIRECTIONS, seeds):
        path = cache / f"{name}.{direction}.{seed}.npz"
        if path.exists():
            with np.load(path) as stored:
                parts = [
                    {key.partition("/")[2]: stored[key] for key in stored.files if key.startswith(prefix)}
                    for prefix in ("distances/", "left_out/")
                ]
                cells[name, direction, seeds.index(seed)] = (parts[0], parts[1], stored["anomalous"])
    return cells


def shares(channels: list[str], weights: Mapping[str, float]) -> dict[str, float]:
    """A family's weight shared by those of its channels that are present."""
    sizes = {kind: sum(family(name) == kind for name in channels) for kind in weights}
    return {name: weights[family(name)] / sizes[family(name)] for name in channels}


def fused(
    cell: Cell, weights: Mapping[str, float], *, without: str = "", bounded: bool = True, open_ended: bool = True
) -> float:
    distances, left_out, anomalous = cell
    heard = [name for name in distances if name != without and family(name) != without]
    rule = fit_fusion(
        {name: left_out[name] for name in heard},
        weights=shares(heard, weights),
        bounded=bounded,
        open_ended=training_free(heard) if open_ended else (),
    )
    return auroc(np.sum(list(rule.contributions(distances).values()), axis=0), anomalous)


def training_free(channels: Iterable[str]) -> list[str]:
    """The channels that count in full past the farthest reference."""
    return [name for name in channels if family(name) not in ("graph", "text")]


def table(cells: Mapping[tuple[str, str, int], Cell], score: Callable[[Cell], float]) -> dict[str, NDArray]:
    """AUROC by direction, (datasets, seeds); NaN where a cell was not measured."""
    count = 1 + max(seed for _, _, seed in cells)
    out = {direction: np.full((len(TWELVE), count), np.nan) for direction in DIRECTIONS}
    for (name, direction, seed), cell in cells.items():
        out[direction][TWELVE.index(name), seed] = score(cell)
    return out


def summary(values: dict[str, NDArray]) -> dict[str, object]:
    """Mean per dataset, their average, and the 95% interval of that average over seeds."""
    rows: dict[str, object] = {}
    for direction, scores in values.items():
        rows[direction] = {
            "datasets": {name: round(float(np.nanmean(row)), 2) for name, row in zip(TWELVE, scores, strict=True)},
            "average": round(float(np.nanmean(scores, axis=1).mean()), 2),
            "interval": interval(np.nanmean(scores, axis=0)),
        }
    return rows


def interval(values: NDArray) -> float:
    """Half the width of a 95% Student interval over the seeds."""
    return round(float(student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5), 2)


def difference(one: dict[str, NDArray], other: dict[str, NDArray]) -> dict[str, object]:
    """How much the average of `other` lies above `one`, paired by seed; and the interval over resampled datasets."""
    rows: dict[str, object] = {}
    generator = np.random.default_rng(0)
    for direction in DIRECTIONS:
        gaps = other[direction] - one[direction]  # (datasets, seeds)
        by_dataset = np.nanmean(gaps, axis=1)
        drawn = generator.choice(by_dataset, (2000, len(by_dataset))).mean(axis=1)
        rows[direction] = {
            "difference": round(float(by_dataset.mean()), 2),
            "interval": interval(np.nanmean(gaps, axis=0)),
            "interval_over_datasets": [round(float(q), 2) for q in np.quantile(drawn, (0.025, 0.975))],
        }
    return rows


def report(cache: Path, out: Path, seeds: range) -> None:
    out.mkdir(parents=True, exist_ok=True)
    cells = read(cache, seeds)
    check_complete(cells, seeds)
    weights = {kind: FAMILY_WEIGHTS[kind] for kind in GRID}
    default = table(cells, lambda cell: fused(cell, weights))
    write(
        out / "default.json",
        {"weights": weights, "cells": len(cells), "auroc": summary(default), "indistinguishable": identical(cells)},
    )
    names = [channel.name for channel in training_free_channels()]

    def alone(name: str) -> Callable[[Cell], float]:
        return lambda cell: auroc(cell[0][name], cell[2]) if name in cell[0] else float("nan")

    write(out / "channels.json", {name: by_dataset(table(cells, alone(name))) for name in names})
    families = [kind for kind in GRID if sum(family(name) == kind for name in names) > 1]
    removed = {
        part: table(cells, lambda cell, part=part: fused(cell, weights, without=part)) for part in [*names, *families]
    }
    equal = dict.fromkeys(GRID, 1.0)
    other = {
        "linear fusion": table(cells, lambda cell: fused(cell, weights, bounded=False)),
        "bounded past the farthest reference": table(cells, lambda cell: fused(cell, weights, open_ended=False)),
        "equal family weights": table(cells, lambda cell: fused(cell, equal)),
    }
    ablation = {f"without {part}": difference(default, scores) for part, scores in removed.items()}
    ablation |= {part: difference(default, scores) for part, scores in other.items()}
    write(out / "ablation.json", ablation)
    write(out / "weights.json", tuning(cells, default))


def identical(cells: Mapping[tuple[str, str, int], Cell]) -> dict[str, object]:
    """Per cent of test graphs whose nearest references have exactly their patterns, normal and anomalous."""
    truth = {"normal": False, "anomalous": True}
    return {
        kind: by_dataset(
            table(
                cells, lambda cell, side=side: 100 * float((cell[0]["pattern:labels"] < 1e-6)[cell[2] == side].mean())
            )
        )
        for kind, side in truth.items()
    }


def by_dataset(values: dict[str, NDArray]) -> dict[str, dict[str, float]]:
    return {
        direction: {
            name: round(float(np.nanmean(row)), 2)
            for name, row in zip(TWELVE, scores, strict=True)
            if not np.isnan(row).all()
        }
        for direction, scores in values.items()
    }


def tuning(cells: Mapping[tuple[str, str, int], Cell], default: dict[str, NDArray]) -> dict[str, object]:
    """Choose family weights on a grid: on all datasets, and for each dataset on the other eleven."""
    options = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    results = np.full((len(options), len(TWELVE), len(DIRECTIONS)), np.nan)
    prepared = {key: _units(cell) for key, cell in cells.items()}
    for row, option in enumerate(options):
        sums = np.zeros((len(TWELVE), len(DIRECTIONS)))
        counts = np.zeros_like(sums)
        for (name, direction, _), (units, anomalous) in prepared.items():
            place = TWELVE.index(name), DIRECTIONS.index(direction)
            share = shares(list(units), option)
            sums[place] += auroc(sum(share[part] * values for part, values in units.items()), anomalous)
            counts[place] += 1
        results[row] = sums / counts
    best = int(results.mean(axis=(1, 2)).argmax())
    left_out = np.empty((len(TWELVE), len(DIRECTIONS)))
    chosen = {}
    for place, name in enumerate(TWELVE):
        others = np.delete(results, place, axis=1).mean(axis=(1, 2))
        left_out[place] = results[int(others.argmax()), place]
        chosen[name] = options[int(others.argmax())]
    spread = results.mean(axis=(1, 2))
    return {
        "options": len(options),
        "default": averages(np.stack([np.nanmean(default[d], axis=1) for d in DIRECTIONS], axis=1)),
        "best in sample": averages(results[best]) | {"weights": options[best]},
        "leave one dataset out": averages(left_out) | {"weights": chosen},
        "average of both directions over the grid": {
            "least": round(float(spread.min()), 2),
            "median": round(float(np.median(spread)), 2),
            "most": round(float(spread.max()), 2),
        },
    }


def _units(cell: Cell) -> tuple[dict[str, NDArray], NDArray]:
    distances, left_out, anomalous = cell
    rule = fit_fusion(left_out, weights=dict.fromkeys(left_out, 1.0), bounded=True, open_ended=left_out)
    return rule.contributions(distances), anomalous


def transfer(data: str | None, out: Path, seeds: range) -> None:
    """Zero-shot with the source pool's references, structure alone; eight-shot with the target's own references, alone
    and joined to the source's.

    Beside them a rule without references, "fewer edges are more anomalous": what a prior alone reaches.
    """
    datasets = Datasets(data, keep=len(TWELVE))
    structures = {name: profile(datasets.get(name)) for name in TWELVE}

    def evidence(name: str, rows: NDArray) -> ProfiledGraphs:
        return ProfiledGraphs(blind(datasets.get(name), rows), structures[name][rows], {})

    rows: dict[str, dict[str, dict[str, list[float]]]] = {direction: {} for direction in DIRECTIONS}
    for direction, pool, seed in itertools.product(DIRECTIONS, ("mol", "protein"), seeds):
        flip = direction == "flip"
        parts = source_references(datasets, pool, "minority", seed, flip=flip)
        pooled = join_profiled([source_evidence(datasets, structures, name, seed, flip) for name in parts])
        source = fitted(pooled)
        for target in [name for origin, name in DISJOINT if origin == pool]:
            chosen = target_split(datasets.get(target), parts, "minority", seed, flip=flip)
            queries = evidence(target, chosen.test)
            scores = {"zero-shot": source(queries.structure_only())}
            scores["fewer edges"] = -queries.graphs.edge_counts.astype(np.float64)
            eight = evidence(target, chosen.references[:8])
            scores["eight-shot"] = fitted(eight)(queries)
            scores["eight joined"] = fitted(join_profiled([pooled, eight.structure_only()]))(queries.structure_only())
            for regime, values in scores.items():
                cell = rows[direction].setdefault(f"{pool} to {target}", {}).setdefault(regime, [])
                cell.append(auroc(values, chosen.anomalous))
            found = {regime: round(auroc(values, chosen.anomalous), 1) for regime, values in scores.items()}
            print(direction, pool, target, seed, found, flush=True)
    write(out / "transfer.json", {direction: means(cells) for direction, cells in rows.items()})


def trained(data: str | None, out: Path, seeds: range, names: list[str]) -> None:
    """What the trained graph codes are worth: their family weight changed, all others kept. Beside it, how often the
    p-values of the default call held-out normal graphs anomalous."""
    datasets = Datasets(data)
    flagged: dict[str, list[NDArray]] = {}
    values: dict[float, dict[str, dict[str, list[float]]]] = {}
    for name, direction, seed in itertools.product(names, DIRECTIONS, seeds):
        graphs = datasets.get(name)
        chosen = split(graphs.labels, "minority", seed, flip=direction == "flip")
        detector = GLASS(random_state=seed).fit(blind(graphs, chosen.references))
        queries = detector.embedder_.embed(blind(graphs, chosen.test))
        heard = [channel for channel in detector.scorer_.channels if not getattr(channel, "silent", False)]
        cell = (
            {channel.name: channel.distances(queries)[0] for channel in heard},
            {channel.name: channel.leave_one_out() for channel in heard},
            chosen.anomalous,
        )
        for weight in (0.0, 0.1, 0.25, 0.5, 1.0, 2.0):
            result = fused(cell, {**FAMILY_WEIGHTS, "graph": weight})
            values.setdefault(weight, {}).setdefault(direction, {}).setdefault(name, []).append(result)
        p_values = conformal_p_values(detector.scorer_.scores(queries), detector.decision_scores_)
        flagged.setdefault(name, []).append(p_values[~chosen.anomalous])
        print(name, direction, seed, flush=True)
    means = {
        str(weight): {d: {n: round(float(np.mean(v)), 2) for n, v in row.items()} for d, row in rows.items()}
        for weight, rows in values.items()
    }
    pooled = {name: np.concatenate(parts) for name, parts in flagged.items()} | {
        "all": np.concatenate([part for parts in flagged.values() for part in parts])
    }
    alarms = {
        name: {"normals": len(p), **{str(level): round(float((p <= level).mean()), 3) for level in (0.01, 0.05, 0.1)}}
        for name, p in pooled.items()
    }
    write(out / "trained.json", {"datasets": names, "seeds": len(seeds), "auroc": means, "false alarms": alarms})


def few(data: str | None, out: Path, seeds: range) -> None:
    """Small reference sets: what less local scaling and wider deviations change, each alone and both."""
    datasets = Datasets(data)
    rules = {"neither": (0, 0.0), "less local": (SETTLED, 0.0), "wider": (0, UNKNOWN), "both": (SETTLED, UNKNOWN)}
    found: dict[tuple[int, str, str], list[float]] = {}
    for name in TWELVE:
        graphs = datasets.get(name)
        graphs = graphs[np.sort(np.random.default_rng(0).permutation(len(graphs))[:900])]
        structure = profile(graphs)
        for direction, seed, count in itertools.product(DIRECTIONS, seeds, (4, 8, 16, 32, 64)):
            chosen = split(graphs.labels, "minority", seed, flip=direction == "flip")
            parts = chosen.references[:count], chosen.test
            references, queries = (ProfiledGraphs(blind(graphs, rows), structure[rows], {}) for rows in parts)
            for rule, (nearest_references.SETTLED, fusion.UNKNOWN) in rules.items():
                values = found.setdefault((count, rule, direction), [])
                values.append(auroc(fitted(references)(queries), chosen.anomalous))
        print(name, flush=True)
    nested: dict[int, dict[str, dict[str, float]]] = {}
    for (count, rule, direction), values in found.items():
        nested.setdefault(count, {}).setdefault(rule, {})[direction] = round(float(np.mean(values)), 2)
    write(out / "few_references.json", {"seeds": len(seeds), "graphs": "at most 900 of a dataset", "auroc": nested})


def perturbed(data: str | None, cache: Path, out: Path, seeds: range, names: list[str]) -> None:
    """Weights from synthetic anomalies: channels fitted on three quarters of the references tell the rest from
    perturbed copies of it; their AUROC above chance multiplies the default weight, or stands in its place."""
    datasets, cells = Datasets(data), read(cache, seeds)
    default = {kind: FAMILY_WEIGHTS[kind] for kind in GRID}
    values: dict[str, dict[str, list[float]]] = {}
    seen: dict[str, dict[str, float]] = {}
    for name, direction, seed in itertools.product(names, DIRECTIONS, seeds):
        cell = cells[name, direction, seeds.index(seed)]
        graphs = datasets.get(name)
        rows = split(graphs.labels, "minority", seed, flip=direction == "flip").references[:800]
        normals = replace(blind(graphs, rows), edge_labels=None)  # perturbed graphs have none
        order = np.random.default_rng(seed).permutation(len(normals))
        held, kept = normals[order[: len(order) // 4]], normals[order[len(order) // 4 :]]
        copies = [perturb(held, seed=i).graphs for i in range(3)]
        copies = [replace(part, ids=tuple(f"copy {i} of {one}" for one in part.ids)) for i, part in enumerate(copies)]
        queries = concatenate([held, *copies])
        synthetic = np.arange(len(queries)) >= len(held)
        references, shown = (ProfiledGraphs(part, profile(part), {}) for part in (kept, queries))
        worth = {}
        for channel in training_free_channels():
            channel.fit(references)
            if not channel.silent:
                worth[channel.name] = auroc(channel.distances(shown)[0], synthetic)
        seen[f"{name} {direction} {seed}"] = {part: round(value, 1) for part, value in worth.items()}
        gain = {part: max(value - 50, 0.0) / 50 for part, value in worth.items()}
        share = shares(list(cell[0]), default)
        units, anomalous = _units(cell)
        rules = {
            "default": share,
            "default times gain": {part: share[part] * gain[part] for part in share},
            "gain alone": {part: gain[part] for part in share},
            "equal": dict.fromkeys(share, 1.0),
        }
        for rule, weights in rules.items():
            score = sum(weights[part] * column for part, column in units.items())
            values.setdefault(rule, {}).setdefault(direction, []).append(auroc(score, anomalous))
        print(name, direction, seed, flush=True)
    means = {rule: {d: round(float(np.mean(v)), 2) for d, v in rows.items()} for rule, rows in values.items()}
    write(out / "perturbed.json", {"datasets": names, "seeds": len(seeds), "auroc": means, "synthetic": seen})


def source_evidence(
    datasets: Datasets, structures: dict[str, StructureProfile], name: str, seed: int, flip: bool
) -> ProfiledGraphs:
    """The references of one source dataset by structure alone, with ids that stay unique in the pool."""
    graphs = datasets.get(name)
    rows = split(graphs.labels, "minority", seed, flip=flip).references
    chosen = blind(graphs, rows)
    chosen = replace(chosen, ids=tuple(f"{name}/{i}" for i in chosen.ids)).structure_only()
    return ProfiledGraphs(chosen, structures[name][rows], {})


def means(cells: dict[str, dict[str, list[float]]]) -> dict[str, object]:
    """Mean over seeds of every setting, and the average of the settings."""
    by_setting = {
        setting: {regime: round(float(np.mean(values)), 2) for regime, values in regimes.items()}
        for setting, regimes in cells.items()
    }
    average = {
        regime: round(float(np.mean([row[regime] for row in by_setting.values()])), 2)
        for regime in next(iter(by_setting.values()))
    }
    return {"average": average, "seeds": len(next(iter(cells.values()))["zero-shot"]), "settings": by_setting}


def fitted(references: ProfiledGraphs) -> Callable[[ProfiledGraphs], NDArray]:
    """The default's training-free score against these references."""
    channels = training_free_channels()
    for channel in channels:
        channel.fit(references)
    left_out = {channel.name: channel.leave_one_out() for channel in channels}
    rule = fit_fusion(left_out, weights=default_weights(channels), bounded=True, open_ended=left_out)

    def score(queries: ProfiledGraphs) -> NDArray:
        parts = rule.contributions({channel.name: channel.distances(queries)[0] for channel in channels})
        return np.sum(list(parts.values()), axis=0)

    return score


def averages(values: NDArray) -> dict[str, object]:
    return {direction: round(float(values[:, place].mean()), 2) for place, direction in enumerate(DIRECTIONS)}


def write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("measure", "report", "transfer", "trained", "few", "perturbed"))
    parser.add_argument("--data", help="the data root; GRAPHGLASS_DATA if absent")
    parser.add_argument("--cache", type=Path, default=Path("build/quality"))
    parser.add_argument("--out", type=Path, default=Path("results/quality"))
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, SEEDS), metavar=("FIRST", "END"))
    parser.add_argument("--datasets", nargs="*", default=ORDER)
    options = parser.parse_args()
    if options.action == "measure":
        measure(options.data, options.cache, range(*options.seeds), options.datasets)
    elif options.action == "report":
        report(options.cache, options.out, range(*options.seeds))
    elif options.action == "trained":
        trained(options.data, options.out, range(*options.seeds), options.datasets)
    elif options.action == "few":
        few(options.data, options.out, range(*options.seeds))
    elif options.action == "perturbed":
        perturbed(options.data, options.cache, options.out, range(*options.seeds), options.datasets)
    else:
        transfer(options.data, options.out, range(*options.seeds))


if __name__ == "__main__":
    main()
