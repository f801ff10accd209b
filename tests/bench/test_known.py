"""Known anomalies: drawn once, nested, never tested; rows of classifiers on the same labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from graphglass.bench import known, methods
from graphglass.bench.figures import draw
from graphglass.bench.known import KNOWN, known_cell, known_jobs
from graphglass.bench.records import Purpose, Results
from graphglass.bench.runner import run_jobs
from graphglass.bench.tables import tables
from graphglass.errors import BenchError
from graphglass.graphs import GraphSet


class Seeing:
    """A method that keeps what it was shown."""

    def __init__(self, shown: list[Any]) -> None:
        self.shown = shown

    def fit(self, graphs: GraphSet, anomalies: GraphSet | None = None) -> Self:
        self.shown.append((graphs, anomalies))
        return self

    def decision_function(self, graphs: GraphSet) -> np.ndarray:
        self.shown.append(graphs)
        return np.arange(len(graphs), dtype=np.float64)


def test_known_anomalies_are_nested_and_never_tested(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(known, "factory", lambda name: lambda seed: Seeing(shown))
    outcome = known_cell(data, "glass", {"dataset": "MUTAG", "direction": "minority", "seed": 3})
    assert outcome.counts == {
        "known_0": 0, "known_1": 1, "known_5": 5, "known_20": 5, "known_100": 5,  # half of ten anomalies
        "references": 24, "test_normal": 6, "test_anomalous": 5,
    }  # fmt: skip
    assert list(outcome.variants) == [str(m) for m in KNOWN]
    fits, queries = shown[::2], shown[1::2]
    assert fits[0][1] is None
    hashes = [marked.content_hashes() for _, marked in fits[1:]]
    assert hashes[0] == hashes[1][:1]
    assert hashes[1] == hashes[2] == hashes[3]
    graphs = data.get("MUTAG")
    odd = {digest for digest, label in zip(graphs.content_hashes(), graphs.labels, strict=True) if label == 0}
    assert set(hashes[1]) <= odd
    assert all(asked.content_hashes() == queries[0].content_hashes() for asked in queries)
    assert not set(hashes[1]) & set(queries[0].content_hashes())
    normals, marked = fits[1]
    assert not set(normals.ids) & set(marked.ids)
    assert marked.labels is None


def test_classifiers_table_and_figure(data: Any, tmp_path: Path) -> None:
    jobs = known_jobs(data, ["MUTAG", "OHSU"], list(methods.SUPERVISED), (0,), limit=20)
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
        known_jobs(data, ["MUTAG"], ["size-knn"], (0,))
