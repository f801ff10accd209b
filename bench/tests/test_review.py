"""Simulated reviews: pools without leaks, rules that see marks only, records and their table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassbench import review as module
from glassbench.jobs import Plan
from glassbench.records import Purpose, Results
from glassbench.review import RULES, Task, review_cell, review_jobs, review_split, simulated
from glassbench.runner import run_jobs
from glassbench.tables import tables
from graphglass import GraphGlass
from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.errors import BenchError

from .conftest import Generated, generated


class Larger(Generated):
    def get(self, name: str) -> Any:
        if name not in self._held:
            self._held[name] = generated(len(name), graphs=200)
        return self._held[name]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUDGETS", (5, 10))
    monkeypatch.setattr(module, "SHOWN", 10)


@pytest.fixture
def task() -> tuple[Task, Any]:
    graphs = Larger().get("MUTAG")
    parts = review_split(graphs.labels, "minority", "clean", 0)
    assert parts is not None
    references, pool = (measure_graphs(graphs[rows].without_labels()) for rows in parts[:2])
    detector = GraphGlass().fit(references)
    return Task(references, pool, detector, detector.score_table(pool).scores, 0), parts[2]


@pytest.mark.parametrize("direction", ["minority", "flip"])
def test_pools_hold_one_anomaly_in_six_and_no_reference(direction: str) -> None:
    labels = np.repeat([0, 1], [60, 100])
    references, pool, anomalous = review_split(labels, direction, "clean", 2)  # type: ignore[misc]
    assert not set(references) & set(pool)
    assert anomalous.mean() == pytest.approx(1 / 6, abs=0.01)
    assert set(labels[references]) == {1} if direction == "minority" else {0}
    assert ((labels[pool] == 0) == (anomalous if direction == "minority" else ~anomalous)).all()
    spoiled, same, _ = review_split(labels, direction, "contaminated", 2)  # type: ignore[misc]
    assert not set(spoiled) & set(same)
    np.testing.assert_array_equal(pool, same)
    odd = labels[spoiled] == (0 if direction == "minority" else 1)
    assert 0 < odd.mean() <= 0.07
    assert review_split(labels[50:65], direction, "clean", 2) is None


def test_the_fixed_rule_is_the_ranking_and_marks_are_all_that_rules_learn(task: Any, few: None) -> None:
    shown, anomalous = task
    order = np.argsort(-shown.fixed, kind="stable")[:10]
    np.testing.assert_array_equal(simulated(shown, RULES["fixed"], anomalous), anomalous[order])
    seen: list[Any] = []

    def spy(one: Task, review: Any, places: Any, found: Any) -> Any:
        seen.append((len(review.marks), places.copy(), found.copy()))
        return one.fixed

    simulated(shown, spy, anomalous)
    assert [marks for marks, _, _ in seen] == list(range(10))
    assert all((anomalous[places] == found).all() for _, places, found in seen)
    assert shown.pool.graphs.labels is None


@pytest.mark.parametrize("rule", list(RULES))
def test_every_rule_finds_the_plain_anomalies(task: Any, few: None, rule: str) -> None:
    if rule == "aad-forest":
        pytest.importorskip("coniferest")
    shown, anomalous = task
    assert simulated(shown, RULES[rule], anomalous).sum() >= 4  # chance finds fewer than two


def test_reviews_are_recorded_and_shown(few: None, tmp_path: Path) -> None:
    data = Larger()
    jobs = review_jobs(Plan(data, ["MUTAG"], ["graphglass"], seeds=(0,)), ["fixed", "review"])
    results = Results.create(tmp_path, Purpose("review", "pool"))
    assert run_jobs(jobs, results, data, isolate=False) == 4
    record = results.records()[0]
    assert set(record["variants"]) == {"fixed", "review"}
    assert record["variants"]["review"]["found_10"] <= record["counts"]["test_anomalous"]
    (table,) = tables(str(tmp_path))
    text = table.render("md")
    assert "clean references, 2 tasks" in text
    assert "worst task at 10" in text
    counts = record["counts"]
    pool = counts["test_normal"] + counts["test_anomalous"]
    bounds = {line.split(" | ")[0].strip("| "): line.split(" | ")[2] for line in text.splitlines() if " | " in line}
    of_record = [counts["test_anomalous"] * 10 / pool, min(10, counts["test_anomalous"])]
    other = results.records()[2]["counts"]
    other_pool = other["test_normal"] + other["test_anomalous"]
    of_other = [other["test_anomalous"] * 10 / other_pool, min(10, other["test_anomalous"])]
    assert float(bounds["chance"]) == pytest.approx((of_record[0] + of_other[0]) / 2, abs=0.06)
    assert float(bounds["possible"]) == pytest.approx((of_record[1] + of_other[1]) / 2, abs=0.06)


def test_too_small_sets_are_skipped_and_unknown_rules_refused(data: Any) -> None:
    cell = {"dataset": "MUTAG", "direction": "minority", "references": "clean", "seed": 0}
    assert review_cell(Plan(data, ["MUTAG"], ["graphglass"]), cell, ["fixed"]) is None
    with pytest.raises(BenchError, match="Unknown rule 'best'"):
        review_jobs(Plan(data, ["MUTAG"], ["graphglass"]), ["best"])
