"""Known anomalies: how a handful of labelled anomalies improves the ranking of others.

Run it with ``python examples/known_anomalies.py``. It uses bundled molecules and takes a few seconds.
"""

import numpy as np
from sklearn.metrics import roc_auc_score

from graphglass import GraphGlass, load_dataset

molecules = load_dataset("MUTAG")
generator = np.random.default_rng(0)
normals = generator.permutation(np.flatnonzero(molecules.labels == -1))
anomalies = generator.permutation(np.flatnonzero(molecules.labels == 1))

# Neither the references nor the known anomalies are tested.
references, known = normals[:40], anomalies[:20]
test = np.concatenate([normals[40:], anomalies[20:]])
truth = molecules.labels[test] == 1

for count in (0, 1, 5, 20):
    marked = molecules[known[:count]] if count else None
    detector = GraphGlass().fit(molecules[references], anomalies=marked)
    area = roc_auc_score(truth, detector.decision_function(molecules[test]))
    print(f"{count:2} known anomalies: AUROC {area:.3f}")

# Which known anomalies does the most abnormal graph resemble?
most_abnormal = test[detector.decision_function(molecules[test]).argmax()]
explanation = detector.explain(molecules[most_abnormal])
print(f"{explanation.id} resembles {', '.join(near.id for near in explanation.resembles[:3])}:")
for reason in explanation.reasons[:3]:
    print(f"  {reason}")
