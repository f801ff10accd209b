"""How well the map shows the score: distances on the plane against fused distances, and where flagged graphs lie.

    python bench/scripts/map.py [DATASET ...]

The majority class of every dataset is normal: half of it are references, the other half and the other classes are
queries. Writes bench/results/quality/map.json; `python bench/scripts/map.py --page` puts the table into
docs/scoring.md.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from glassbench.table_model import filled
from graphglass import GraphGlass, load_dataset
from graphglass.channels.profiled_graphs import measure_graphs

DATASETS = ("MUTAG", "PROTEINS", "ENZYMES", "BZR", "AIDS", "IMDB-BINARY")
MOST = 400  # references, and queries of each side
ALPHA = 0.05
RECORD = Path("bench/results/quality/map.json")
PAGE = Path("docs/scoring.md")


def measure(name, data_root):
    graphs = load_dataset(name, data_root)
    classes, counts = np.unique(graphs.labels, return_counts=True)
    rng = np.random.default_rng(0)
    normal = rng.permutation(np.flatnonzero(graphs.labels == classes[counts.argmax()]))
    other = rng.permutation(np.flatnonzero(graphs.labels != classes[counts.argmax()]))[:MOST]
    graphs, half = graphs.without_labels(), min(len(normal) // 2, MOST)
    detector = GraphGlass().fit(graphs[normal[:half]])
    queries = graphs[np.concatenate([normal[half : 2 * half], other])]
    references, places = detector.map_positions(queries)
    fused = detector.scorer_.fused_distances(measure_graphs(queries), np.arange(half))
    drawn = np.sqrt(((places[:, None] - references[None]) ** 2).sum(axis=2))
    flagged = detector.p_values(queries) <= ALPHA
    centre = np.median(references, axis=0)
    radius = np.quantile(np.linalg.norm(references - centre, axis=1), 0.9)
    outside = np.linalg.norm(places - centre, axis=1) > radius
    nearest = drawn.min(axis=1) > np.quantile(_to_others(references), 0.9)
    return {
        "dataset": name, "references": half, "queries": len(queries), "flagged": int(flagged.sum()),
        "rank_correlation": float(spearmanr(fused.ravel(), drawn.ravel()).statistic),
        "nearest_rank_correlation": float(spearmanr(fused.min(axis=1), drawn.min(axis=1)).statistic),
        "flagged_outside": float(outside[flagged].mean()), "others_outside": float(outside[~flagged].mean()),
        "flagged_apart": float(nearest[flagged].mean()),
    }  # fmt: skip


def _to_others(points):
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    return distances.min(axis=1)


def page():
    rows = json.loads(RECORD.read_text())
    lines = [
        "| dataset | references | flagged | rank correlation | flagged outside | others outside |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['dataset']} | {row['references']} | {row['flagged']} | {row['rank_correlation']:.2f} | "
        f"{row['flagged_outside']:.0%} | {row['others_outside']:.0%} |"
        for row in rows
    ]
    PAGE.write_text(filled(PAGE, {"map": "\n".join(lines)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--data-root", default=None)
    parser.add_argument("--page", action="store_true", help="only put the table into the page")
    arguments = parser.parse_args()
    if not arguments.page:
        rows = []
        for name in arguments.datasets:
            rows.append(measure(name, arguments.data_root))
            print(rows[-1], flush=True)
        RECORD.parent.mkdir(parents=True, exist_ok=True)
        RECORD.write_text(json.dumps(rows, indent=1) + "\n")
    page()


if __name__ == "__main__":
    main()
