"""Which public kernel should private summaries use? Chosen on source data alone, without a label.

In each source pool one dataset after another plays the target: an encoder is trained on the others, 128 of the
dataset's normal graphs are summarised at epsilon = 4 (seeded noise), and its other graphs are ranked by the summary.
A kernel is as good as its ranking agrees with that of 5-NN on the same raw references (Spearman, mean over draws,
public frequency seeds, datasets, pools). No class label takes part in the criterion, and no graph outside the pools
is read.

    python benchmarks/private_kernel.py --output results/benchmarks/private_kernel.json

First the concentrations are chosen at the paper's size (P = 1024, orthogonal frequencies), then size
and orthogonality for the winner; a larger P is taken only if it gains more than 0.005. The AUROC of the source datasets
is written down beside the criterion and does not enter it.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from scipy.stats import rankdata

from graphglass.bench.cell_work import Plan
from graphglass.bench.datasets import Datasets
from graphglass.bench.methods import factory
from graphglass.bench.metrics import evaluate
from graphglass.bench.private_series import Features, density_scores, neighbour_scores
from graphglass.bench.runner import versions
from graphglass.bench.source_models import SourceEncoders
from graphglass.bench.transfer import POOLS, source_references
from graphglass.bench.transfer import target as target_of
from graphglass.privacy.joint_features import MAIN_CHANNELS, JointFeatures

EPSILON, REFERENCES, QUERIES, SOURCES = 4.0, 128, 400, 256
PUBLIC_SEEDS = (1, 2, 3)  # not the one that releases use
LEAST_GAIN = 0.005
NAMES = [name for name, _ in MAIN_CHANNELS]
STEPS = tuple(4.0**i for i in range(1, 8))  # 4 to 16384
LADDERS = tuple(STEPS[i:j] for i in range(len(STEPS)) for j in range(i + 1, len(STEPS) + 1) if j - i in (1, 2, 3, 4, 5))


@dataclass(frozen=True)
class PseudoTarget:
    """A source dataset in the role of a target, by an encoder that has not seen it."""

    pool: str
    name: str
    seed: int
    source: dict[str, Any]
    references: dict[str, Any]
    queries: dict[str, Any]
    neighbours: Any  # scores of 5-NN
    anomalous: Any  # for the record alone

    @property
    def place(self) -> str:
        return f"{self.pool}|{self.name}|{self.seed}"


def pseudo_targets(datasets: Datasets, encoders: SourceEncoders, seeds: int) -> list[PseudoTarget]:
    found = []
    jobs = [(pool, name, seed) for seed in range(seeds) for pool in ("mol", "protein") for name in POOLS[pool]]
    plan = Plan(datasets, [], [])
    for pool, name, seed in track(jobs, "Encoders without one dataset"):
        parts = source_references(plan, pool, seed)
        others = {other: part for other, part in parts.items() if other != name}
        model: Any = factory("glass-paper")(seed)
        detector = encoders.fit_encoder(model, others)
        normals, tested, chosen = target_of(plan, {"dataset": name, "seed": seed}, others)
        some = np.random.default_rng(seed).permutation(len(chosen.test))[:QUERIES]
        embedded = [detector.channel_embeddings(part[:SOURCES]) for part in others.values()]
        references = detector.channel_embeddings(normals[:REFERENCES])
        queries = detector.channel_embeddings(tested[some])
        source = {channel: np.concatenate([codes[channel] for codes in embedded]) for channel in NAMES}
        neighbours = neighbour_scores(queries, references, NAMES)
        found.append(PseudoTarget(pool, name, seed, source, references, queries, neighbours, chosen.anomalous[some]))
    return found


def agreement(left: Any, right: Any) -> float:
    """Spearman's rank correlation."""
    return float(np.corrcoef(rankdata(left), rankdata(right))[0, 1])


def build(candidate: dict[str, Any], seed: int) -> JointFeatures:
    kappas = tuple(candidate["kappas"])
    return JointFeatures(
        kappas=kappas, frequencies=max(1, candidate["P"] // (8 * len(kappas))), orthogonal=candidate["orthogonal"],
        seed=seed,
    )  # fmt: skip


def measure(candidate: dict[str, Any], targets: list[PseudoTarget]) -> dict[str, Any]:
    """The criterion of one candidate, per pool and overall."""
    rows, exact = [], []
    for target in targets:
        n = len(target.references[NAMES[0]])
        for seed in PUBLIC_SEEDS:
            features = build(candidate, seed)
            parts = Features.of(features, target.source, target.references, target.queries)
            release = parts.release(n, EPSILON, f"{target.place}|{zlib.crc32(repr(candidate).encode())}|{seed}")
            scores = release.scores(parts.queries)
            agreed = np.mean([agreement(row, target.neighbours) for row in scores])
            quality = np.mean([evaluate(row, target.anomalous)["auroc"] for row in scores])
            rows.append((target.pool, agreed, quality))
        exact.append(agreement(density_scores(features, target.queries, target.references), target.neighbours))
    pools = {pool: float(np.mean([row[1] for row in rows if row[0] == pool])) for pool in ("mol", "protein")}
    return {
        **candidate,
        "agreement": round(sum(pools.values()) / len(pools), 4),
        "by_pool": {pool: round(value, 4) for pool, value in pools.items()},
        "agreement_without_noise": round(float(np.mean(exact)), 4),
        "source_auroc": round(float(np.mean([row[2] for row in rows])), 2),
    }


def first_stage() -> Iterator[dict[str, Any]]:
    for kappas in LADDERS:
        yield {"kappas": list(kappas), "P": 1024, "orthogonal": True}


def second_stage(best: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for size in (1024, 2048, 4096):
        for orthogonal in (False, True):
            yield {"kappas": best["kappas"], "P": size, "orthogonal": orthogonal}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--cache", type=Path, help="folder of trained source encoders")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/private_kernel.json"))
    options = parser.parse_args()

    targets = pseudo_targets(Datasets(options.data_root, keep=6), SourceEncoders(options.cache), options.seeds)
    paper = measure({"kappas": [4.0], "P": 1024, "orthogonal": False}, targets)
    first = [measure(candidate, targets) for candidate in track(list(first_stage()), "Concentrations")]
    best = max(first, key=lambda row: row["agreement"])
    second = [measure(candidate, targets) for candidate in track(list(second_stage(best)), "Size and orthogonality")]
    small = max((row for row in second if row["P"] == 1024), key=lambda row: row["agreement"])
    largest = max(second, key=lambda row: row["agreement"])
    chosen = largest if largest["agreement"] > small["agreement"] + LEAST_GAIN else small
    by_pool = {pool: max(first, key=lambda row: row["by_pool"][pool])["kappas"] for pool in ("mol", "protein")}
    result = {
        "criterion": "mean Spearman correlation with 5-NN on the raw references, epsilon 4, n 128, source data only",
        "seeds": options.seeds,
        "public_seeds": PUBLIC_SEEDS,
        "pseudo_targets": len(targets),
        "neighbours_auroc": round(float(np.mean([evaluate(t.neighbours, t.anomalous)["auroc"] for t in targets])), 2),
        "chosen": chosen,
        "paper": paper,
        "chosen_in_one_pool_alone": by_pool,
        "first_stage": sorted(first, key=lambda row: -row["agreement"]),
        "second_stage": second,
        "versions": versions(),
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n")
    for row in (paper, *result["first_stage"][:8], *second):
        print({key: row[key] for key in ("agreement", "source_auroc", "kappas", "P", "orthogonal")})
    print("chosen", chosen, "5-NN", result["neighbours_auroc"])


if __name__ == "__main__":
    main()
