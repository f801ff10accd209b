"""The development suite: tasks, limits, directions, and tables that average within datasets first."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbench import suite
from glassbench.datasets import SUITE, TWELVE, Datasets, dataset_names
from glassbench.jobs import Plan
from glassbench.records import Purpose, Results
from glassbench.runner import run_jobs
from glassbench.suite import CLASSES, LIMITS, class_split, suite_jobs, task_classes
from glassbench.tables import tables
from graphglass.errors import BenchError, DataError


def test_tasks_of_a_dataset() -> None:
    assert task_classes(np.repeat([3, 7], [5, 4])) == [7]
    assert task_classes(np.repeat([3, 7], [5, 5])) == [3]  # a tie: the smallest label
    assert task_classes(np.repeat([0, 1, 2], [9, 1, 5])) == [0, 1, 2]
    many = np.concatenate([np.repeat(np.arange(12), 2), np.repeat([20, 21], 5)])
    assert task_classes(many) == [*range(CLASSES - 2), 20, 21]  # the most frequent; ties by label
    with pytest.raises(BenchError, match="two classes"):
        task_classes(np.zeros(4))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.sampled_from(["anomalous", "normal"]))
def test_a_split_is_sound_and_within_its_limits(seed: int, run: int, direction: str) -> None:
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.repeat([0, 1, 2], 8), rng.integers(0, 3, rng.integers(0, 3000))])
    parts = class_split(labels, 1, direction, run)
    assert not set(parts.references.tolist()) & set(parts.test.tolist())
    normal = [0, 2] if direction == "anomalous" else [1]
    assert parts.classes["normal"] == normal
    assert np.isin(labels[parts.references], normal).all()
    np.testing.assert_array_equal(parts.anomalous, ~np.isin(labels[parts.test], normal))
    count = int(np.isin(labels, normal).sum())
    expected = {
        "references": count * 4 // 5,
        "test_normal": count - count * 4 // 5,
        "test_anomalous": len(labels) - count,
    }
    assert parts.counts == {name: min(number, LIMITS[name]) for name, number in expected.items()}
    again = class_split(labels, 1, direction, run)
    np.testing.assert_array_equal(parts.test, again.test)


def test_cells_and_averages(data: Any, tmp_path: Path) -> None:
    jobs = suite_jobs(Plan(data, ["MUTAG", "OHSU"], ["size-knn", "bag-knn"], seeds=(0, 1)))
    assert [(job.method, job.datasets, len(job.cells)) for job in jobs] == [
        ("size-knn", ("MUTAG",), 4), ("bag-knn", ("MUTAG",), 4), ("size-knn", ("OHSU",), 4), ("bag-knn", ("OHSU",), 4),
    ]  # fmt: skip
    results = Results.create(tmp_path, Purpose("suite", "every-class"))
    assert run_jobs(jobs, results, data, progress=False) == 16
    assert run_jobs(jobs, results, data, progress=False) == 0
    records = results.records("size-knn")
    assert records[0]["configuration"]["limits"] == LIMITS
    short, long = tables(str(tmp_path))
    assert [row.name for row in short.rows] == ["size-knn", "bag-knn"]
    first = short.rows[0].entries
    chosen = [r for r in records if r["cell"]["dataset"] == "MUTAG" and r["cell"]["direction"] == "anomalous"]
    assert first[0].mean == pytest.approx(np.mean([record["metrics"]["auroc"] for record in chosen]))
    assert first[4].mean == pytest.approx((first[0].mean + first[1].mean) / 2)
    assert first[6:] == ("2", "0")
    assert [row.name for row in long.rows] == ["MUTAG", "OHSU"]
    # A row that lacks a dataset of a group has no average of it: it would be compared with those of other rows.
    lines = (tmp_path / "bag-knn.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "bag-knn.jsonl").write_text("".join(line for line in lines if "OHSU" not in line))
    part = tables(str(tmp_path))[0].rows[1].entries
    assert part[:2] == short.rows[1].entries[:2]
    assert part[2:4] == (None, None)
    assert part[5] is None
    assert part[6:] == ("2", "OHSU")


def test_names() -> None:
    assert dataset_names(None, suite=True) == (*TWELVE, *SUITE)
    assert dataset_names(["letter-low", "imdb-b"], suite=True) == ("Letter-low", "IMDB-BINARY")
    with pytest.raises(BenchError, match="Unknown dataset 'OHSU'"):
        dataset_names(["OHSU"])


def test_files_of_the_suite(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    lines = [json.dumps({"id": str(i), "label": i % 2, "nodes": 3, "edges": [[0, 1], [1, 2]]}) for i in range(4)]
    (folder / "reddit3k.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (folder / "BBBP.csv").write_text("num,name,p_np,smiles\n1,a,1,CCO\n2,b,0,CC\n")
    data = Datasets(tmp_path)
    assert data.get("reddit3k").labels.tolist() == [0, 1, 0, 1]
    assert data.get("BBBP").labels.tolist() == [1, 0]
    with pytest.raises(DataError, match=r"Put OHSU\.zip into the folder suite"):
        data.get("OHSU")


def test_limits_are_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "LIMITS", {"references": 5, "test_normal": 3, "test_anomalous": 2})
    parts = class_split(np.repeat([0, 1], [100, 50]), 1, "anomalous", 0)
    assert parts.counts == {"references": 5, "test_normal": 3, "test_anomalous": 2}
