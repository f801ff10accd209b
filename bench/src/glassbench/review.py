"""How many anomalies a review finds, by the rule that names the graph to look at next.

Half of the normal graphs of a task are references, at most 400. The pool holds the others, at most 400, and anomalies
until they are one in six. A simulated reviewer looks at the graph that a rule names and marks it by its class, eighty
times at most. Every mark counts at once; the forests are trained after every fifth. Where references are contaminated,
one in twenty of them is an anomaly that is not in the pool.

fixed
    The ranking of GraphGlass, whatever was marked.
review
    What ``detector.review`` shows: the ranking where marked anomalies are known and marked normals are references, and
    copies of a marked normal come last.
anomalies
    The same without the marks of normal graphs.
mixed
    Places in ``fixed`` and ``anomalies``, in the shares 4 and the number of anomalies found.
explore
    As ``review``; every fifth graph is the one whose places in ``fixed`` and ``review`` differ most.
aad-forest
    Active anomaly discovery of coniferest (Das et al., ICDM 2016) on bag features of references and pool.
random-forest
    A random forest of marked anomalies against references and marked normals on the same features; GraphGlass names the
    graphs until the first anomaly is found.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassbench.contaminated import contaminated_references
from glassbench.jobs import Job, Outcome, Plan, cell_jobs
from glassbench.known_anomalies import DIRECTIONS
from glassbench.protocols import blind
from glassbench.records import Cell, Results
from glassbench.table_entries import grouped, make_table, means_note
from glassbench.table_model import Entry, Row, Table, Value
from graphglass.channels.profiled_graphs import ProfiledGraphs, measure_graphs
from graphglass.detector.graphglass import GraphGlass
from graphglass.detector.review import Review
from graphglass.errors import BenchError

BUDGETS = (10, 20, 40, 80)
SHOWN = 40  # reviews after which rules are compared
REFERENCES = ("clean", "contaminated")
CONTAMINATION = 5  # percent
SHARE = 6  # graphs of the pool for each anomaly
LIMIT = 400
LEAST = {"references": 20, "anomalies": 5}
HALF_WEIGHT = 4  # anomalies at which both rankings of ``mixed`` count the same
EXPLORED = 5
REFITTED = 5  # reviews after which a forest is trained again

Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Task:
    """What a rule may see: references, the pool and the detector, and the marks so far through its review."""

    references: ProfiledGraphs
    pool: ProfiledGraphs
    detector: GraphGlass
    fixed: Scores
    seed: int

    @cached_property
    def features(self) -> NDArray[np.float64]:
        """Bag features of the references, then of the pool."""
        from glassbench.baselines.knn import bag_rows

        return np.concatenate(bag_rows(self.references.graphs, self.pool.graphs))


class _NoReview:
    """In place of a review, for rules that only ask which graphs were anomalies."""

    def mark(self, identifier: str, verdict: str) -> None:
        pass


# Scores of the pool from places seen and which of them were anomalies; None to keep those of the review before.
Rule = Callable[[Task, Any, NDArray[np.int64], NDArray[np.bool_]], Scores | None]


def review_jobs(plan: Plan, rules: Sequence[str]) -> list[Job]:
    """One job per dataset, with a cell for each direction, kind of references and seed; a cell measures every rule."""
    for rule in rules:
        if rule not in RULES:
            raise BenchError(f"Unknown rule {rule!r}. The rules are: {', '.join(RULES)}.")
    if "aad-forest" in rules:
        _forest_of_coniferest()

    def measure(method: str, cell: Cell) -> Outcome | None:
        return review_cell(plan, cell, rules)

    settings = {"rules": list(rules), "limit": LIMIT}
    return cell_jobs(plan, measure, settings, together=True, direction=DIRECTIONS, references=REFERENCES)


def review_cell(plan: Plan, cell: Cell, rules: Sequence[str]) -> Outcome | None:
    """The anomalies that every rule finds in the same pool; None where there are too few graphs."""
    graphs, seed = plan.datasets.get(str(cell["dataset"])), int(cell["seed"])
    parts = review_split(np.asarray(graphs.labels), str(cell["direction"]), str(cell["references"]), seed)
    if parts is None:
        return None
    rows, pool, anomalous = parts
    start = time.process_time()
    shown = measure_graphs(blind(graphs, np.concatenate([rows, pool])))  # once, for all rules
    references, queries = shown[: len(rows)], shown[len(rows) :]
    detector = GraphGlass().fit(references)
    task = Task(references, queries, detector, detector.score_table(queries).scores, seed)
    variants, seconds = {}, {"fit": time.process_time() - start}
    for rule in rules:
        start = time.process_time()
        found = simulated(task, RULES[rule], anomalous)
        variants[rule] = {f"found_{budget}": float(found[:budget].sum()) for budget in BUDGETS}
        seconds[rule] = time.process_time() - start
    counts = {"references": len(rows), "test_normal": int((~anomalous).sum()), "test_anomalous": int(anomalous.sum())}
    raw = np.asarray(graphs.labels)[pool]
    labels = {name: np.unique(raw[mask]).tolist() for name, mask in (("normal", ~anomalous), ("anomalous", anomalous))}
    return Outcome(cell, variants[rules[0]], seconds, counts, labels, variants)


def review_split(
    labels: NDArray[Any], direction: str, references: str, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]] | None:
    """Rows of the references and of the pool, and which of the pool are anomalies; None where there are too few."""
    classes, counts = np.unique(labels, return_counts=True)
    odd = (labels == classes[np.argmin(counts)]) == (direction == "minority")
    draw = np.random.default_rng([seed, DIRECTIONS.index(direction), 0x2E7])
    normal, strange = (draw.permutation(np.flatnonzero(mask)) for mask in (~odd, odd))
    half = len(normal) // 2
    rows, others = normal[:half][:LIMIT], normal[half:][:LIMIT]
    cut = max(len(others) // (SHARE - 1), 1)
    if references == "contaminated":
        cut = min(cut, len(strange) - 1)
        rows, _ = contaminated_references(rows, strange[cut:], CONTAMINATION)
    strange = strange[:cut]
    if len(rows) < LEAST["references"] or len(strange) < LEAST["anomalies"]:
        return None
    pool = draw.permutation(np.concatenate([others, strange]))
    return rows, pool, odd[pool]


def simulated(task: Task, rule: Rule, anomalous: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each graph that the reviewer looked at was an anomaly, in their order."""
    review = _NoReview() if rule in FORESTS else task.detector.review(task.pool)
    left, seen, scores = np.ones(len(task.pool), dtype=bool), np.zeros(0, np.int64), task.fixed
    for _ in range(min(max(BUDGETS), len(task.pool))):
        new = rule(task, review, seen, anomalous[seen])
        scores = scores if new is None else new
        place = int(np.argmax(np.where(left, scores, -np.inf)))
        review.mark(task.pool.graphs.ids[place], "anomaly" if anomalous[place] else "normal")
        left[place], seen = False, np.append(seen, place)
    return anomalous[seen]


def _review(task: Task, review: Review, seen: NDArray[np.int64], found: NDArray[np.bool_]) -> Scores:
    scores = np.empty(len(task.pool))
    scores[review.order] = -np.arange(len(task.pool))
    return scores


def _mixed(task: Task, review: Review, seen: NDArray[np.int64], found: NDArray[np.bool_]) -> Scores:
    share = found.sum() / (found.sum() + HALF_WEIGHT)
    return np.asarray((1 - share) * _standing(task.fixed) + share * _standing(review.scores_with_marks(normals=False)))


def _explore(task: Task, review: Review, seen: NDArray[np.int64], found: NDArray[np.bool_]) -> Scores:
    if (len(seen) + 1) % EXPLORED:
        return _review(task, review, seen, found)
    return np.abs(_standing(review.scores_with_marks()) - _standing(task.fixed))


def _standing(scores: Scores) -> Scores:
    """The share of graphs that score lower, equal ones counting half: rankings of two rules side by side."""
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return np.asarray(below / (2 * len(scores)))


def _random_forest(task: Task, review: Review, seen: NDArray[np.int64], found: NDArray[np.bool_]) -> Scores | None:
    from sklearn import config_context
    from sklearn.ensemble import RandomForestClassifier

    if not found.any() or len(seen) % REFITTED:
        return None
    rows, count = task.features, len(task.references)
    taught = np.concatenate([np.arange(count), count + seen])
    truth = np.concatenate([np.zeros(count, dtype=bool), found])
    forest = RandomForestClassifier(100, class_weight="balanced", random_state=task.seed, n_jobs=1)
    with config_context(assume_finite=True, skip_parameter_validation=True):  # half of the time of small trees
        return np.asarray(forest.fit(rows[taught], truth).predict_proba(rows[count:])[:, 1])


def _aad_forest(task: Task, review: Review, seen: NDArray[np.int64], found: NDArray[np.bool_]) -> Scores | None:
    if len(seen) % REFITTED:
        return None
    forest = _forest_of_coniferest()(
        n_trees=100, n_subsamples=min(256, len(task.features)), random_seed=task.seed, n_jobs=1
    )
    rows, count = task.features, len(task.references)
    if len(seen):
        forest.fit_known(rows, rows[count + seen], np.where(found, -1, 1))
    else:
        forest.fit(rows)
    return -np.asarray(forest.score_samples(rows[count:]), dtype=np.float64)


def _forest_of_coniferest() -> Any:
    try:
        from coniferest.aadforest import AADForest
    except ImportError as error:
        raise BenchError(
            "The rule aad-forest needs coniferest. Install it with `pip install 'glassbench[review]'`, or name other "
            "rules with --rules."
        ) from error
    return AADForest


FORESTS = (_aad_forest, _random_forest)
RULES: dict[str, Rule] = {
    "fixed": lambda task, review, seen, found: task.fixed,
    "review": _review,
    "anomalies": lambda task, review, seen, found: review.scores_with_marks(normals=False),
    "mixed": _mixed,
    "explore": _explore,
    "aad-forest": _aad_forest,
    "random-forest": _random_forest,
}


def _bounds(counts: Mapping[str, int], budget: int) -> tuple[float, int]:
    """Anomalies that a reviewer finds without a ranking, and with a perfect one."""
    anomalies = counts["test_anomalous"]
    pool = anomalies + counts["test_normal"]
    return min(budget, pool) * anomalies / pool, min(budget, anomalies)


def review_tables(results: Results, metric: str = "auroc") -> list[Table]:
    """One row per rule: anomalies found after each number of reviews, and the task that gains least."""
    rows = []
    for references in REFERENCES:
        own = [record for record in results.records() if record["cell"]["references"] == references]
        tasks = grouped(own, lambda record: (str(record["cell"]["dataset"]), str(record["cell"]["direction"])))
        for rule in RULES:
            if not all(rule in record["variants"] for record in own) or not own:
                continue
            means = {
                budget: [np.mean([r["variants"][rule][f"found_{budget}"] for r in some]) for some in tasks.values()]
                for budget in BUDGETS
            }
            base = [np.mean([r["variants"]["fixed"][f"found_{SHOWN}"] for r in some]) for some in tasks.values()]
            gains = np.array(means[SHOWN]) - base
            worst = list(tasks)[int(np.argmin(gains))]
            told = f"{gains.min():+.1f} ({worst[0]}, {worst[1]})" if rule != "fixed" else ""
            ratio = Value(100 * float(np.mean(means[SHOWN]) / np.mean(base) - 1))
            entries: tuple[Entry, ...] = (*(Value(float(np.mean(means[budget]))) for budget in BUDGETS), ratio, told)
            rows.append(Row(rule, entries, group=f"{references} references, {len(tasks)} tasks"))
        if own:
            bounds = [[_bounds(some[0]["counts"], budget) for some in tasks.values()] for budget in BUDGETS]
            for side, name in enumerate(("chance", "possible")):
                means_of = [Value(float(np.mean([pair[side] for pair in pairs]))) for pairs in bounds]
                rows.append(Row(name, (*means_of, "", ""), group=rows[-1].group))
    head = ("rule", *(f"{n} reviews" for n in BUDGETS), f"gain at {SHOWN} (%)", f"worst task at {SHOWN}")
    note = (
        "Anomalies found, mean over tasks (a dataset in one direction). Pools hold one anomaly in six graphs. The last "
        "column is the task with the smallest difference from the fixed ranking, mean over its draws."
    )
    return [make_table(results, metric, head, rows, [means_note(results, deviations=False), note], what="reviews")]
