"""The runner: resume, isolation, failures, configuration and data checks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray

from glassbench import methods
from glassbench.jobs import Job, Outcome, Plan
from glassbench.records import Cell, Purpose, Results
from glassbench.runner import run_jobs, versions
from glassbench.single import single_jobs
from graphglass.errors import BenchError, DataError
from graphglass.graphs.graph_set import GraphSet

METRICS = {"auroc": 60.0, "auprc": 50.0, "fpr95": 40.0}


class Seeing:
    """A method that keeps what it was shown."""

    shown: list[GraphSet] = []  # noqa: RUF012 - shared on purpose

    def __init__(self, k: int = 1) -> None:
        self.k = k

    def get_params(self) -> dict[str, Any]:
        return {"k": self.k}

    def fit(self, graphs: GraphSet) -> Self:
        Seeing.shown.append(graphs)
        return self

    def decision_function(self, graphs: GraphSet) -> NDArray[np.float64]:
        Seeing.shown.append(graphs)
        return graphs.edge_counts / graphs.sizes


@pytest.fixture(autouse=True)
def seeing(monkeypatch: pytest.MonkeyPatch) -> None:
    Seeing.shown = []
    monkeypatch.setitem(methods.METHODS, "seeing", lambda seed: Seeing())


def run(data: Any, folder: Path, names: Sequence[str] = ("MUTAG", "BZR"), seeds: int = 2, **options: Any) -> int:
    results = Results.create(folder, Purpose("single", "minority"))
    jobs = single_jobs(Plan(data, names, ["seeing"], seeds=tuple(range(seeds))))
    return run_jobs(jobs, results, data, progress=False, **options)


def test_every_cell_is_recorded_once(data: Any, tmp_path: Path) -> None:
    assert run(data, tmp_path) == 4
    records = Results.open(tmp_path).records()
    cells = [(item["cell"]["dataset"], item["cell"]["seed"]) for item in records]
    assert cells == [("MUTAG", 0), ("MUTAG", 1), ("BZR", 0), ("BZR", 1)]
    for item in records:
        assert item["configuration"] == {"k": 1}
        assert item["data"] == {item["cell"]["dataset"]: data.hash(item["cell"]["dataset"])}
        assert item["counts"] == {"references": 24, "test_normal": 6, "test_anomalous": 10}
        assert item["labels"] == {"anomalous": [0], "normal": [1]}
        assert item["metrics"]["auroc"] == 100.0  # chords make class 0 denser
        assert item["peak_memory_mb"] > 10
        assert set(item["seconds"]) == {"fit", "score"}
        assert item["versions"] == versions()


def test_finished_cells_are_not_run_again(data: Any, tmp_path: Path) -> None:
    run(data, tmp_path, ["MUTAG"], isolate=False)
    Seeing.shown = []
    assert run(data, tmp_path, ["MUTAG", "BZR"], seeds=3, isolate=False) == 4
    assert len(Seeing.shown) == 8  # fit and score of the four new cells
    assert len(Results.open(tmp_path).records()) == 6


def test_a_cell_lost_to_a_crash_is_repeated_alone(data: Any, tmp_path: Path) -> None:
    run(data, tmp_path)
    path = tmp_path / "seeing.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    assert run(data, tmp_path) == 1
    assert len(path.read_text().splitlines()) == 4


def test_records_may_spell_out_choices_that_came_later(data: Any, tmp_path: Path) -> None:
    run(data, tmp_path)
    path = tmp_path / "seeing.jsonl"
    spelt = path.read_text().replace('"configuration":{', '"configuration":{"details":[],"prompt":1,"weights":null,')
    path.write_text(spelt)
    assert spelt.count("weights") == 4
    assert run(data, tmp_path) == 0
    path.write_text(spelt.replace('"prompt":1', '"prompt":2'))
    with pytest.raises(BenchError, match="was made with"):
        run(data, tmp_path)


def test_a_half_written_record_stops_the_run(data: Any, tmp_path: Path) -> None:
    run(data, tmp_path)
    path = tmp_path / "seeing.jsonl"
    path.write_text(path.read_text()[:-30])
    before = path.read_text()
    with pytest.raises(BenchError, match="half-written"):
        run(data, tmp_path, seeds=3)
    assert path.read_text() == before


def test_another_configuration_is_refused(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(data, tmp_path)
    monkeypatch.setitem(methods.METHODS, "seeing", lambda seed: Seeing(k=2))
    with pytest.raises(BenchError, match="Use another folder"):
        run(data, tmp_path, seeds=3)


def test_other_data_is_refused(data: Any, tmp_path: Path) -> None:
    run(data, tmp_path)
    data._hashes["MUTAG"] = "0" * 64
    with pytest.raises(BenchError, match="another copy of MUTAG"):
        run(data, tmp_path, seeds=3)
    assert len(Results.open(tmp_path).records()) == 5  # BZR went on


def test_other_data_is_refused_whatever_the_method(data: Any, tmp_path: Path) -> None:
    run(data, tmp_path, ["MUTAG"])
    data._hashes["MUTAG"] = "0" * 64
    jobs = single_jobs(Plan(data, ["MUTAG"], ["size-knn"], seeds=(0,)))
    with pytest.raises(BenchError, match="another copy of MUTAG"):
        run_jobs(jobs, Results.open(tmp_path), data, progress=False)


@pytest.mark.parametrize("isolate", [True, False])
def test_a_dataset_that_is_not_there_leaves_the_others(
    data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolate: bool
) -> None:
    real = data.get

    def get(name: str) -> GraphSet:
        if name == "COX2":
            raise DataError("COX2 was not found")
        graphs: GraphSet = real(name)
        return graphs

    monkeypatch.setattr(data, "get", get)
    with pytest.raises(BenchError, match=r"1 of 3 jobs failed, 2 cells finished[\s\S]*COX2 was not found"):
        run(data, tmp_path, ["MUTAG", "COX2", "BZR"], seeds=1, isolate=isolate)


def job(seeds: Sequence[int], run_cells: Any) -> Job:
    return Job("seeing", tuple({"dataset": "MUTAG", "seed": seed} for seed in seeds), ("MUTAG",), run_cells)


def outcome(cell: Cell) -> Outcome:
    return Outcome(cell, METRICS, {"fit": 0.0}, {}, {})


def test_a_failing_cell_leaves_the_others(data: Any, tmp_path: Path) -> None:
    def fails(cells: Sequence[Cell]) -> Iterator[Outcome]:
        yield outcome(cells[0])
        raise ValueError("the second broke")

    def works(cells: Sequence[Cell]) -> Iterator[Outcome]:
        yield outcome(cells[0])

    results = Results.create(tmp_path, Purpose("single", "minority"))
    with pytest.raises(BenchError, match=r"1 of 2 jobs failed, 2 cells finished[\s\S]*ValueError: the second broke"):
        run_jobs([job([0, 1], fails), job([9], works)], results, data, progress=False)
    assert [item["cell"]["seed"] for item in results.records()] == [0, 9]


def test_a_killed_process_is_reported(data: Any, tmp_path: Path) -> None:
    def dies(cells: Sequence[Cell]) -> Iterator[Outcome]:
        os._exit(7)
        yield outcome(cells[0])

    results = Results.create(tmp_path, Purpose("single", "minority"))
    with pytest.raises(BenchError, match="died"):
        run_jobs([job([0], dies)], results, data, progress=False)


def test_peak_memory_belongs_to_the_cell(data: Any, tmp_path: Path) -> None:
    def large(cells: Sequence[Cell]) -> Iterator[Outcome]:
        assert np.ones(40_000_000).sum() > 0  # 305 MB
        yield outcome(cells[0])

    def small(cells: Sequence[Cell]) -> Iterator[Outcome]:
        yield outcome(cells[0])

    results = Results.create(tmp_path, Purpose("single", "minority"))
    run_jobs([job([0], large), job([9], small)], results, data, progress=False)
    high, low = (item["peak_memory_mb"] for item in results.records())
    assert high > low + 250


def test_unknown_names() -> None:
    from glassbench.datasets import dataset_names

    with pytest.raises(BenchError, match="Did you mean 'size-knn'"):
        methods.factory("size-kn")
    with pytest.raises(BenchError, match="Did you mean 'PROTEINS'"):
        dataset_names(["PROTEIN"])
    assert dataset_names(["imdb-b", "D&D", "DD"]) == ("IMDB-BINARY", "DD")
    assert len(dataset_names(None)) == 12
