"""How many anomalies a review finds: the ranking with feedback, the fixed ranking, and a classifier on the same marks.

    python bench/scripts/review.py --data-root FOLDER [--seeds 2] [--limit 400]    # measures what is missing
    python bench/scripts/review.py --table                                        # only the table, from the record

Half of the normal graphs of a task are references. The pool holds as many of the others as leave one anomaly in six
graphs. A simulated reviewer looks at the graph that a rule names next and marks it by its class, eighty times at most:

- fixed: the ranking of GraphGlass, whatever was marked;
- mixed: places in the rankings with and without the marked anomalies, in the shares 4 and their number (`Review`);
- updated: the ranking with the marked anomalies alone;
- forest: a random forest on sketches, trained on references and marks, from the first anomaly on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from glassbench.datasets import SUITE, TWELVE, Datasets
from graphglass import GraphGlass
from graphglass.channels.sketch import sketch
from graphglass.detector import review as review_module
from graphglass.files.atomic import write_whole

RECORD = Path(__file__).parents[1] / "results" / "benchmarks" / "review.json"
LARGE = ("COLLAB", "DD", "NCI1", "REDDIT-BINARY")
BUDGETS = (10, 20, 40, 80)
RULES = ("fixed", "mixed", "updated", "forest")
SHARE = 6  # graphs of the pool per anomaly


def task(graphs: Any, flip: bool, seed: int, limit: int) -> tuple[Any, Any, Any] | None:
    """References, pool and which of the pool are anomalies; None where there are too few."""
    classes, counts = np.unique(graphs.labels, return_counts=True)
    smallest = classes[np.argmin(counts)]
    anomalous = (graphs.labels != smallest) if flip else (graphs.labels == smallest)
    random = np.random.default_rng([seed, flip])
    normal, strange = (random.permutation(np.flatnonzero(mask)) for mask in (~anomalous, anomalous))
    references, others = normal[: len(normal) // 2][:limit], normal[len(normal) // 2 :][:limit]
    strange = strange[: max(len(others) // (SHARE - 1), 1)]
    if len(references) < 20 or len(strange) < 5:
        return None
    pool = random.permutation(np.concatenate([others, strange]))
    plain = graphs.without_labels()
    return plain[references], plain[pool], anomalous[pool]


def found(rule: str, references: Any, pool: Any, truth: Any) -> list[int]:
    """Anomalies found after each budget of reviews."""
    detector = GraphGlass().fit(references)
    most = min(max(BUDGETS), len(pool))
    if rule == "fixed":
        hits = truth[detector.score_table(pool).order[:most]]
    elif rule == "forest":
        hits = _forest(detector, references, pool, truth, most)
    else:
        review_module.HALF_WEIGHT = {"mixed": 4, "updated": 0}[rule]
        review, places = detector.review(pool), {name: i for i, name in enumerate(pool.ids)}
        hits = []
        for _ in range(most):
            name = review.next().ids[0]  # type: ignore[union-attr]
            hits.append(bool(truth[places[name]]))
            review.mark(name, "anomaly" if hits[-1] else "normal")
        review_module.HALF_WEIGHT = 4
    return [int(np.sum(hits[:budget])) for budget in BUDGETS]


def _forest(detector: GraphGlass, references: Any, pool: Any, truth: Any, most: int) -> list[bool]:
    normal, rows = sketch(references, dimension=512), sketch(pool, dimension=512)
    scores = detector.score_table(pool).scores
    seen: list[int] = []
    for _ in range(most):
        if truth[seen].any():
            model = RandomForestClassifier(100, class_weight="balanced", random_state=0, n_jobs=1)
            model.fit(np.concatenate([normal, rows[seen]]), np.concatenate([np.zeros(len(normal)), truth[seen]]))
            scores = model.predict_proba(rows)[:, 1]
        left = np.setdiff1d(np.arange(len(pool)), seen)
        seen.append(int(left[np.argmax(scores[left])]))
    return [bool(hit) for hit in truth[seen]]


def measure(datasets: Datasets, names: list[str], seeds: range, rules: list[str], limit: int) -> None:
    rows: list[dict[str, Any]] = json.loads(RECORD.read_text()) if RECORD.exists() else []
    done = {(row["dataset"], row["flip"], row["seed"], row["rule"]) for row in rows}
    for seed in seeds:
        for name in names:
            for flip in (False, True):
                missing = [rule for rule in rules if (name, flip, seed, rule) not in done]
                parts = task(datasets.get(name), flip, seed, limit) if missing else None
                if parts is None:
                    continue
                for rule in missing:
                    hits = found(rule, *parts)
                    row = {"dataset": name, "flip": flip, "seed": seed, "rule": rule, "found": hits}
                    rows.append(row | {"anomalies": int(parts[2].sum()), "pool": len(parts[2])})
                    write_whole(RECORD, (json.dumps(rows, indent=1) + "\n").encode())
                    print(rows[-1], flush=True)


def table() -> str:
    """Anomalies found on average over the tasks that every rule has, and the worst task against the fixed ranking."""
    rows = json.loads(RECORD.read_text())
    rules = [rule for rule in RULES if any(row["rule"] == rule for row in rows)]
    cells: dict[tuple[Any, ...], dict[str, list[int]]] = {}
    for row in rows:
        cells.setdefault((row["dataset"], row["flip"], row["seed"]), {})[row["rule"]] = row["found"]
    whole = {key: cell for key, cell in cells.items() if all(rule in cell for rule in rules)}
    lines = [
        f"| rule | {' | '.join(f'{budget} reviews' for budget in BUDGETS)} | worst task at 40 |",
        "|---|" + "---:|" * 5,
    ]
    tasks = sorted({key[:2] for key in whole})
    for rule in rules:
        means = np.mean([cell[rule] for cell in whole.values()], axis=0)
        gains = [np.mean([c[rule][2] - c["fixed"][2] for k, c in whole.items() if k[:2] == one]) for one in tasks]
        lines.append(f"| {rule} | {' | '.join(f'{mean:.1f}' for mean in means)} | {min(gains):+.1f} |")
    return "\n".join([f"{len(tasks)} tasks, {len(whole)} draws.", "", *lines])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root")
    parser.add_argument("--datasets", default=",".join(name for name in (*TWELVE, *SUITE) if name not in LARGE))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rules", default=",".join(RULES))
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--table", action="store_true")
    chosen = parser.parse_args()
    if not chosen.table:
        names = chosen.datasets.split(",")
        measure(Datasets(chosen.data_root), names, range(chosen.seeds), chosen.rules.split(","), chosen.limit)
    print(table())
