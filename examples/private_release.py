"""A private release between two institutions: each publishes a noisy summary, a third party ranks graphs by both.

Run it with ``python examples/private_release.py``. It needs ``graphglass[privacy]`` and takes a few seconds.
"""

from sklearn.metrics import roc_auc_score

from graphglass import GraphGlass, Ledger, PrivateSummary, load_dataset, merge, release

molecules = load_dataset("MUTAG")
normal = molecules[molecules.labels == 1].without_labels()
hospitals = {"north": normal[:55], "south": normal[55:110]}

# At each hospital: a budget for its dataset, then one release. The ledger refuses to spend more than the budget.
for name, graphs in hospitals.items():
    ledger = Ledger.create(f"{name}.ledger")
    ledger.grant(name, epsilon=8.0, delta=1e-5)
    release(graphs, ledger=ledger, dataset=name, epsilon=8.0, output=f"{name}.summary")
    budget = ledger.budget(name)
    print(f"{name}: released {len(graphs)} graphs, epsilon left {budget.epsilon_remaining:g} of {budget.epsilon:g}")

# Elsewhere: only the two files arrive. The hospitals declare that no patient is in both.
received = [PrivateSummary.load(f"{name}.summary") for name in hospitals]
both = merge(received, disjoint=True)
print(f"merged: {both.references} graphs, noise {both.sigma:.3f} per score")

test = molecules[molecules.labels == -1].without_labels()
queries, truth = normal[110:] + test, [False] * len(normal[110:]) + [True] * len(test)
exact = GraphGlass().fit(normal[:110])
print(f"AUROC of the graphs themselves: {roc_auc_score(truth, exact.decision_function(queries)):.3f}")
print(f"AUROC of one summary:           {roc_auc_score(truth, received[0].scores(queries)):.3f}")
print(f"AUROC of the merged summary:    {roc_auc_score(truth, both.scores(queries)):.3f}")
