"""Known anomalies: drawn once, nested, never tested; rows of classifiers on the same labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from glassbench import known_anomalies, methods
from glassbench.figures import draw
from glassbench.jobs import Plan
from glassbench.known_anomalies import KNOWN, known_cell, known_jobs
from glassbench.records import Purpose, Results
from glassbench.runner import run_jobs
from glassbench.tables import tables
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import BenchError
from graphglass.graphs.graph_set import GraphSet


class Seeing:
    """A method that keeps what it was shown."""

    def __init__(self, shown: list[Any]) -> None:
        self.shown = shown

    def fit(self, graphs: GraphSet) -> Self:
        self.shown.append(graphs)
        return self

    def add_anomalies(self, graphs: GraphSet) -> Self:
        self.shown.append(graphs)
        return self

    def decision_function(self, graphs: ProfiledGraphs) -> np.ndarray:
        self.shown.append(graphs.graphs)
        return np.arange(len(graphs), dtype=np.float64)


def test_known_anomalies_are_nested_and_never_tested(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(known_anomalies, "factory", lambda name: lambda seed: Seeing(shown))
    outcome = known_cell(data, "graphglass", {"dataset": "MUTAG", "direction": "minority", "seed": 3})
    assert outcome is not None
    assert outcome.counts == {
        "known_0": 0, "known_1": 1, "known_5": 5, "known_20": 5, "known_100": 5,  # half of ten anomalies
        "references": 24, "test_normal": 6, "test_anomalous": 5,
    }  # fmt: skip
    assert list(outcome.variants) == [str(m) for m in KNOWN]
    normals, tested, one, _, four, *queries = shown
    assert [len(part) for part in (normals, one, four)] == [24, 1, 4]  # nothing is added for m = 20 and 100
    known_hashes = [*one.content_hashes(), *four.content_hashes()]
    graphs = data.get("MUTAG")
    odd = {digest for digest, label in zip(graphs.content_hashes(), graphs.labels, strict=True) if label == 0}
    assert set(known_hashes) <= odd
    assert all(asked.content_hashes() == tested.content_hashes() for asked in queries)
    assert not set(known_hashes) & set(tested.content_hashes())
    assert len({*normals.ids, *one.ids, *four.ids}) == 29
    assert one.labels is None


def test_adding_anomalies_equals_fitting_with_them(data: Any) -> None:
    from graphglass import GraphGlass

    graphs = data.get("MUTAG").without_labels()
    normals, odd, queries = graphs[10:30], graphs[:5], graphs[30:]
    grown = GraphGlass().fit(normals).add_anomalies(odd[:2]).add_anomalies(odd[2:])
    at_once = GraphGlass().fit(normals, anomalies=odd)
    np.testing.assert_array_equal(grown.decision_function(queries), at_once.decision_function(queries))


def test_known_anomalies_raise_the_score_of_their_kind(data: Any) -> None:
    outcome = known_cell(data, "graphglass", {"dataset": "MUTAG", "direction": "minority", "seed": 0})
    assert outcome is not None
    assert outcome.variants["5"]["auroc"] >= outcome.variants["0"]["auroc"] - 1
    assert outcome.variants["100"] == outcome.variants["5"]  # there are no more


def test_classifiers_table_and_figure(data: Any, tmp_path: Path) -> None:
    jobs = known_jobs(Plan(data, ["MUTAG", "OHSU"], list(methods.SUPERVISED), seeds=(0,)), limit=20)
    results = Results.create(tmp_path, Purpose("known", "minority"))
    assert run_jobs(jobs, results, data, progress=False) == 16
    for record in results.records():
        assert list(record["variants"]) == ["1", "100", "20", "5"]  # no classifier without an anomaly
        assert record["configuration"]["limit"] == 20
    (table,) = tables(str(tmp_path))
    assert {row.group for row in table.rows} == {"m = 1", "m = 5", "m = 20", "m = 100"}
    rendered = table.render()
    assert "***m = 20***" in rendered
    assert rendered.count("| svm-structure |") == 4
    (figure,) = draw(tmp_path, tmp_path / "figures")
    assert figure.stat().st_size > 5000


def test_a_method_without_a_second_side_is_refused(data: Any) -> None:
    with pytest.raises(BenchError, match="takes no known anomalies"):
        known_jobs(Plan(data, ["MUTAG"], ["size-knn"], seeds=(0,)))


def test_a_class_of_two_graphs_gives_no_task(data: Any) -> None:
    data._held["Fingerprint"] = data.get("MUTAG")[8:]  # two of the ten anomalies
    (job,) = known_jobs(Plan(data, ["Fingerprint"], ["svm-wl"], seeds=(0,)))
    assert len(job.cells) == 2
    assert list(job.run(job.cells)) == []
