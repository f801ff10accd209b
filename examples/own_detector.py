"""Benchmark your own detector with GraphGlass, on the same splits.

Run it with ``python examples/own_detector.py``. It uses the bundled dataset and takes a few seconds.
"""

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from glassbench.baselines import SizeKNN
from glassbench.protocols import split
from graphglass import GraphGlass, load_dataset, profile


class StructureForest:
    """An isolation forest on the structural profile; a higher score is more anomalous."""

    def fit(self, graphs):
        self.forest_ = IsolationForest(random_state=0).fit(profile(graphs).aggregates)
        return self

    def decision_function(self, graphs):
        return -self.forest_.score_samples(profile(graphs).aggregates)


molecules = load_dataset("MUTAG")
methods = {"GraphGlass": GraphGlass, "size k-NN": SizeKNN, "my detector": StructureForest}
areas = {name: [] for name in methods}
for seed in range(5):
    parts = split(molecules.labels, protocol="minority", seed=seed)
    references, test = molecules[parts.references].without_labels(), molecules[parts.test].without_labels()
    for name, method in methods.items():
        scores = method().fit(references).decision_function(test)
        areas[name].append(roc_auc_score(parts.anomalous, scores))
for name, values in areas.items():
    print(f"{name:12} AUROC {np.mean(values):.3f} ± {np.std(values, ddof=1):.3f} over {len(values)} splits")
