"""Rate, start-up, memory and legibility of text encoders on prompts of real graphs.

    python bench/scripts/encoders.py --data-root DATA                    # embedded encoders, both styles
    python bench/scripts/encoders.py --data-root DATA --encoder DIR      # or a hub name, or http://host/v1#model
    python bench/scripts/encoders.py --data-root DATA --full             # also all 18,817 prompts, and the cache

Every encoder runs in its own process: its start-up includes its imports, its memory is its own peak. Spearman is
the rank correlation of cosine distance with the distance of the descriptions, over random pairs of prompts (per prefix
length); R^2 is a linear read-out of the fields on held-out prompts. Results merge into the output file, so encoders can
be measured one by one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def collect(data_root: Path | None, per_dataset: int | None, target: Path) -> None:
    """Write the field values of real graphs, (graphs, fields), sampled from the twelve datasets."""
    from glassbench.tu_catalogue import CATALOGUE
    from graphglass.glass.prompt.fields import field_values
    from graphglass.graphs.datasets import load_dataset
    from graphglass.structure.profile import profile

    parts = []
    for name in CATALOGUE:
        graphs = load_dataset(name, data_root)
        rows = np.random.default_rng(0).permutation(len(graphs))[:per_dataset]
        parts.append(field_values(profile(graphs[np.sort(rows)])))
    np.save(target, np.concatenate(parts))


def measure(name: str, style: str, fields: Path, limit: int) -> dict[str, object]:
    """In a fresh process: one encoder on the prompts of `fields`."""
    clock, start = time.perf_counter(), time.process_time()
    from graphglass.glass.encoders.text_encoder import load_encoder

    encoder = load_encoder(name)
    loaded = {"start_seconds": time.perf_counter() - clock, "start_cpu_seconds": time.process_time() - start}
    memory_loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    from graphglass.glass.prompt.graphdp import GraphDP, PromptContext

    values = np.load(fields)
    if name != "numeric":
        values = values[np.random.default_rng(1).permutation(len(values))[:limit]]
    prompts = GraphDP(values, PromptContext(style=style))
    encoder.encode(prompts[:2])
    clock, start = time.perf_counter(), time.process_time()
    rows = encoder.encode(prompts, progress=True)
    wall, spent = time.perf_counter() - clock, time.process_time() - start
    spearman, fit = legibility(rows, prompts)
    return {
        "encoder": name,
        "style": style,
        "fingerprint": encoder.fingerprint.to_json(),
        "prompts": len(prompts),
        "distinct": len(set(prompts)),
        "load_average": round(os.getloadavg()[0], 1),  # wall-clock rates of a busy machine say little
        "characters": round(float(np.mean([len(query) for query in prompts.queries]))),
        **{key: round(value, 3) for key, value in loaded.items()},
        "prompts_per_second": round(len(prompts) / wall, 1),
        "cpu_ms_per_prompt": round(1e3 * spent / len(prompts), 4),
        "memory_loaded_mib": round(memory_loaded),
        "memory_peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "spearman": {str(width): round(value, 3) for width, value in spearman.items()},
        "read_out_r2": round(fit, 3),
    }


def legibility(rows: np.ndarray, prompts) -> tuple[dict[int, float], float]:
    """Spearman per prefix length, and R^2: how much of the prompts' numbers the rows, (prompts, dimension), kept."""
    from scipy.stats import spearmanr

    from graphglass.glass.prompt.fields import scaled

    fields = scaled(prompts.fields)
    spread = fields.std(axis=0)
    fields = (fields - fields.mean(axis=0))[:, spread > 1e-9] / spread[spread > 1e-9]
    generator = np.random.default_rng(0)
    first, second = generator.integers(len(fields), size=(2, 20_000))
    first, second = first[first != second], second[first != second]
    apart = np.linalg.norm(fields[first] - fields[second], axis=1)
    spearman = {}
    for width in (*[size for size in (64, 128, 256, 512) if size < rows.shape[1]], rows.shape[1]):
        part = rows[:, :width] / np.linalg.norm(rows[:, :width], axis=1, keepdims=True)
        cosine = np.einsum("ij,ij->i", part[first], part[second])
        spearman[width] = float(spearmanr(1.0 - cosine, apart).statistic)
    return spearman, read_out(rows.astype(np.float64), fields, generator)


def read_out(rows: np.ndarray, fields: np.ndarray, generator: np.random.Generator) -> float:
    """R^2 of a ridge regression from rows to standardised fields on prompts it was not fitted on."""
    order = generator.permutation(len(rows))
    fitted, held = order[: int(0.7 * len(rows))], order[int(0.7 * len(rows)) :]
    centre, level = rows[fitted].mean(axis=0), fields[fitted].mean(axis=0)
    inputs, targets = rows[fitted] - centre, fields[fitted] - level
    gram = inputs.T @ inputs
    # Relative to the spread of the rows: encoders that leave most of the sphere empty are treated alike.
    gram += 1e-4 * np.trace(gram) / len(gram) * np.eye(len(gram))
    guess = (rows[held] - centre) @ np.linalg.solve(gram, inputs.T @ targets)
    truth = fields[held] - level
    return float(1.0 - np.sum((truth - guess) ** 2) / np.sum(truth**2))


def everything(fields: Path, threads: int) -> dict[str, object]:
    """Every prompt of the twelve datasets with the MiniLM encoder, then once more from the cache."""
    from graphglass.glass.encoders.embedding_cache import EmbeddingCache, encode_cached
    from graphglass.glass.encoders.text_encoder import load_encoder
    from graphglass.glass.prompt.graphdp import GraphDP, PromptContext

    prompts = GraphDP(np.load(fields), PromptContext())
    import torch

    torch.set_num_threads(threads)
    encoder = load_encoder("minilm", device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        cache = EmbeddingCache(folder)
        clock, start = time.perf_counter(), time.process_time()
        first = encode_cached(encoder, prompts, cache=cache, progress=True)
        encoded, spent = time.perf_counter() - clock, time.process_time() - start
        clock = time.perf_counter()
        again = encode_cached(encoder, prompts, cache=cache)
        cached = time.perf_counter() - clock
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
    if not np.array_equal(first, again):
        raise SystemExit("the cache returned other rows than the encoder")
    return {
        "prompts": len(prompts),
        "distinct": len(set(prompts)),
        "threads": threads,
        "encode_seconds": round(encoded, 1),
        "encode_cpu_seconds": round(spent, 1),
        "cache_seconds": round(cached, 2),
        "cache_mib": round(size / 2**20, 1),
        "load_average": round(os.getloadavg()[0], 1),
    }


def child(*arguments: str) -> dict[str, object]:
    done = subprocess.run([sys.executable, __file__, *arguments], stdout=subprocess.PIPE, check=True, text=True)
    result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--encoder", action="append", help="numeric and minilm if not given")
    parser.add_argument("--style", action="append", choices=("digits", "levels"))
    parser.add_argument("--per-dataset", type=int, default=160)
    parser.add_argument("--limit", type=int, default=2000, help="prompts per language encoder at most")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="for --full")
    parser.add_argument("--output", type=Path, default=Path("bench/results/benchmarks/encoders.json"))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, style, fields = options.child
        result = everything(Path(fields), options.threads) if style == "full" else measure(
            name, style, Path(fields), options.limit
        )  # fmt: skip
        print(json.dumps(result))
        return

    known = json.loads(options.output.read_text()) if options.output.exists() else {"rows": []}
    rows = {(row["encoder"], row["style"]): row for row in known["rows"]}
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder) / "sample.npy"
        collect(options.data_root, options.per_dataset, sample)
        for name in options.encoder or ("numeric", "minilm"):
            for style in options.style or (("digits",) if name == "numeric" else ("digits", "levels")):
                row = child("--limit", str(options.limit), "--child", name, style, str(sample))
                rows[name, style] = row
                print(f"{name:12} {style:7} start {row['start_seconds']} s  {row['prompts_per_second']:,} prompts/s  "
                      f"{row['cpu_ms_per_prompt']} ms CPU  {row['memory_peak_mib']} MiB  "
                      f"Spearman {row['spearman']}  R2 {row['read_out_r2']}", flush=True)  # fmt: skip
        if options.full:
            whole = Path(folder) / "all.npy"
            collect(options.data_root, None, whole)
            known["all_prompts"] = child("--threads", str(options.threads), "--child", "minilm", "full", str(whole))
            print(json.dumps(known["all_prompts"]))
    known |= {
        "rows": list(rows.values()),
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "python": platform.python_version(),
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS"),
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
