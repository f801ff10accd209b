"""Which embedded encoder, and which style of numbers, should be the default?

Text-only k-NN (k = 5, cosine) under the `minority` protocol on the twelve datasets, for every encoder and style.
The choice for a dataset is made by the mean over the OTHER eleven, so no test label of a dataset takes part in its
own choice.

    python bench/scripts/anchor_choice.py --data-root DATA --output bench/results/benchmarks/anchor_choice.json

Datasets with more graphs than --limit are sampled (the same graphs for every candidate), because a language encoder
needs about 40 ms of a core for each prompt. Embeddings are cached: a second run takes seconds.
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import numpy as np

from glassbench.metrics import evaluate
from glassbench.protocols import split
from glassbench.tu_catalogue import CATALOGUE
from graphglass.channels.neighbours import mean_distance, nearest
from graphglass.glass.encoders.embedding_cache import EmbeddingCache, encode_cached
from graphglass.glass.encoders.text_encoder import load_encoder
from graphglass.glass.prompt.graphdp import graphdp
from graphglass.graphs.datasets import load_dataset
from graphglass.structure.profile import profile

CANDIDATES = (("numeric", "digits"), ("minilm", "digits"), ("minilm", "levels"))
K = 5


def sample(count: int, limit: int) -> np.ndarray:
    return np.sort(np.random.default_rng(0).permutation(count)[:limit])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--limit", type=int, default=250, help="graphs per dataset at most")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cache", type=Path, help="folder of the embedding cache")
    parser.add_argument("--output", type=Path, default=Path("bench/results/benchmarks/anchor_choice.json"))
    options = parser.parse_args()

    cache = EmbeddingCache(options.cache)
    encoders = {name: load_encoder(name) for name, _ in CANDIDATES}
    table: dict[str, dict[str, float]] = {f"{name}/{style}": {} for name, style in CANDIDATES}
    graphs_used = {}
    for dataset in CATALOGUE:
        graphs = load_dataset(dataset, options.data_root)
        graphs = graphs[sample(len(graphs), options.limit)]
        graphs_used[dataset] = len(graphs)
        structure = profile(graphs)
        splits = [split(graphs.labels, "minority", seed) for seed in range(options.seeds)]
        for name, style in CANDIDATES:
            prompts = graphdp(structure, domain=CATALOGUE[dataset].domain, style=style)
            rows = encode_cached(encoders[name], prompts, cache=cache, progress=True)
            runs = []
            for part in splits:
                similarities, _ = nearest(rows[part.test], rows[part.references], K)
                runs.append(evaluate(mean_distance(similarities), part.anomalous)["auroc"])
            table[f"{name}/{style}"][dataset] = round(float(np.mean(runs)), 2)
            print(f"{dataset:15} {name:8} {style:7} {np.mean(runs):6.2f} ± {np.std(runs, ddof=1):.2f}", flush=True)

    means = {candidate: float(np.mean(list(values.values()))) for candidate, values in table.items()}
    held_out = {}
    for dataset in CATALOGUE:
        others = {c: np.mean([v for d, v in values.items() if d != dataset]) for c, values in table.items()}
        chosen = max(others, key=others.__getitem__)
        held_out[dataset] = {"chosen": chosen, "auroc": table[chosen][dataset]}
    result = {
        "protocol": "minority",
        "k": K,
        "seeds": options.seeds,
        "limit": options.limit,
        "graphs": graphs_used,
        "fingerprints": {name: encoder.fingerprint.to_json() for name, encoder in encoders.items()},
        "auroc": table,
        "mean": {candidate: round(value, 2) for candidate, value in means.items()},
        "leave_one_dataset_out": held_out,
        "leave_one_dataset_out_mean": round(float(np.mean([v["auroc"] for v in held_out.values()])), 2),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps({"mean": result["mean"], "leave one dataset out": result["leave_one_dataset_out_mean"]}, indent=1))


if __name__ == "__main__":
    main()
