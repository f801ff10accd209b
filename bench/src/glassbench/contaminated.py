"""Anomalies among the references: what 0, 2, 5, 10 and 20% of them cost in AUROC and in the validity of p-values.

The tasks are those of the suite with the first class of every dataset. The contaminating anomalies are drawn from those
of the split, at most half of them, and are never tested; the test set is the same for every share.

:class:`TrimmedGraphGlass` is a remedy that was tried. It is not in the package: it costs clean sets more than it helps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from glassbench.group_tables import GROUPS, group_average, variant_reader
from glassbench.jobs import Job, Outcome, Plan, cell_jobs
from glassbench.methods import factory
from glassbench.metrics import evaluate
from glassbench.protocols import blind
from glassbench.records import Cell, Results
from glassbench.suite import DIRECTIONS, class_split, task_classes
from glassbench.table_entries import by_method, dataset_of, dataset_order, make_table, means_note
from glassbench.table_model import Entry, Row, Table
from graphglass import GraphGlass, GraphSet
from graphglass.channels.calibration import conformal_p_values
from graphglass.channels.profiled_graphs import measure_graphs

SHARES = (0, 2, 5, 10, 20)  # percent of the references
LEVEL = 0.05
TRIMMED = 0.05  # of the references, those with the highest leave-one-out scores


class TrimmedGraphGlass(GraphGlass):
    """GraphGlass without the references that are least like the others.

    Scored as new graphs, those still calibrate the p-values.
    """

    def fit(self, graphs: Any, y: object = None, **options: Any) -> Self:
        super().fit(graphs, y, **options)
        references, order = self.references_, np.argsort(self.decision_scores_, kind="stable")
        kept, cut = np.split(order, [len(order) - round(TRIMMED * len(order))])
        super().fit(references[np.sort(kept)], y, **options)
        self.trimmed_scores_ = self.decision_function(references[cut]) if len(cut) else np.zeros(0)
        return self

    def p_values(self, graphs: Any) -> NDArray[np.float64]:
        calibration = np.concatenate([self.decision_scores_, self.trimmed_scores_])
        return conformal_p_values(self.decision_function(graphs), calibration)


def contaminated_jobs(plan: Plan) -> list[Job]:
    """One job per dataset and method, with a cell for each direction and seed; a cell measures every share."""

    def measure(method: str, cell: Cell) -> Outcome | None:
        return contaminated_cell(plan, method, cell)

    return cell_jobs(plan, measure, {"shares": list(SHARES)}, together=True, direction=DIRECTIONS)


def contaminated_cell(plan: Plan, method: str, cell: Cell) -> Outcome | None:
    """Fit with every share of anomalies among the references and score the same test graphs.

    None where a class is too small to give both contamination and a test set.
    """
    graphs, seed = plan.datasets.get(str(cell["dataset"])), int(cell["seed"])
    parts = class_split(graphs.labels, task_classes(graphs.labels)[0], str(cell["direction"]), seed)
    odd = np.random.default_rng([seed, 0xD127]).permutation(parts.test[parts.anomalous])
    pool = odd[: len(odd) // 2]
    if not len(pool) or len(parts.references) < 2:
        return None
    keep = ~np.isin(parts.test, pool)
    test, anomalous = parts.test[keep], parts.anomalous[keep]
    shown = _reader(graphs, np.concatenate([parts.references, pool, test]), method)
    queries = shown(test)
    variants, counts, seconds = {}, {}, {"fit": 0.0, "score": 0.0}
    for share in SHARES:
        rows, added = contaminated_references(parts.references, pool, share)
        start = time.perf_counter()
        detector = factory(method)(seed).fit(shown(rows))
        middle = time.perf_counter()
        found = evaluate(detector.decision_function(queries), anomalous)
        if hasattr(detector, "p_values"):
            flagged = detector.p_values(queries) <= LEVEL
            found |= {"normals_flagged": 100 * flagged[~anomalous].mean(), "found": 100 * flagged[anomalous].mean()}
        seconds["fit"] += middle - start
        seconds["score"] += time.perf_counter() - middle
        variants[f"{share}%"] = found
        counts[f"anomalies_{share}"] = added
    counts |= replace(parts, test=test, anomalous=anomalous).counts
    return Outcome(cell, variants["0%"], seconds, counts, parts.classes, variants)


def _reader(graphs: GraphSet, every: NDArray[np.int64], method: str) -> Callable[[NDArray[np.int64]], Any]:
    """What a method sees of some graphs; those for GraphGlass are measured once for all shares."""
    if not isinstance(factory(method)(0), GraphGlass):
        return partial(blind, graphs)
    measured, places = measure_graphs(blind(graphs, every)), np.zeros(len(graphs), dtype=np.int64)
    places[every] = np.arange(len(every))
    return lambda rows: measured[places[rows]]


def contaminated_references(
    normals: NDArray[np.int64], pool: NDArray[np.int64], share: int
) -> tuple[NDArray[np.int64], int]:
    """Rows of which `share` percent are of `pool`, and how many that is; fewer normals where the pool is too small."""
    added = round(len(normals) * share / (100 - share))
    if added > len(pool):
        added = len(pool)
        normals = normals[: round(added * (100 - share) / share)]
    rows = np.concatenate([normals, pool[:added]])
    return np.random.default_rng([added, len(normals)]).permutation(rows), added


def contaminated_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """One row per share of anomalies among the references, for each method."""
    methods, rows = by_method(results.records()), []
    for method, own in methods.items():
        for share in SHARES:
            entries: list[Entry] = [
                group_average(own, names, direction, variant_reader(f"{share}%", metric))
                for names in GROUPS.values()
                for direction in DIRECTIONS
            ]
            every = [name for names in GROUPS.values() for name in names]
            entries += [
                group_average(own, every, None, variant_reader(f"{share}%", n)) for n in ("normals_flagged", "found")
            ]
            rows.append(Row(f"{share}%", tuple(entries), group=method if len(methods) > 1 else ""))
    sides = [f"{group}, class {direction}" for group in GROUPS for direction in DIRECTIONS]
    head = ("anomalies among the references", *sides, "normals at p ≤ 0.05 (%)", "anomalies at p ≤ 0.05 (%)")
    note = "Averaged within a dataset first; the last two columns are means over all datasets and both directions."
    measured = dataset_order(map(dataset_of, results.records()))
    notes = [means_note(results, deviations=False), note, f"Datasets measured: {', '.join(measured)}."]
    return [make_table(results, metric, head, rows, notes)]
