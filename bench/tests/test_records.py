"""Result folders: atomic appends, damaged lines, folders of another purpose."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from glassbench.records import Purpose, Record, Results, cell_key, result_folders
from graphglass.errors import BenchError

PURPOSE = Purpose("single", "minority")


def record(seed: int = 0, **changes: Any) -> Record:
    return {
        "benchmark": "single", "protocol": "minority", "flip": False, "method": "size-knn",
        "cell": {"dataset": "MUTAG", "seed": seed}, "configuration": {"k": 5}, "data": {"MUTAG": "ab"},
        "metrics": {"auroc": 50.0, "auprc": 50.0, "fpr95": 50.0}, "seconds": {"fit": 1.0}, "versions": {},
    } | changes  # fmt: skip


def test_round_trip(tmp_path: Path) -> None:
    results = Results.create(tmp_path / "r", PURPOSE)
    results.append(record(0))
    results.append(record(1))
    again = Results.create(tmp_path / "r", PURPOSE)
    assert again.records() == [record(0), record(1)]
    assert again.records("size-knn") == again.records()
    assert again.records("graphglass") == []
    assert [path.name for path in sorted((tmp_path / "r").iterdir())] == ["manifest.json", "size-knn.jsonl"]


@pytest.mark.parametrize(
    "other", [Purpose("transfer", "minority"), Purpose("single", "good-d"), Purpose("single", "minority", flip=True)]
)
def test_a_folder_of_another_purpose_is_refused(tmp_path: Path, other: Purpose) -> None:
    Results.create(tmp_path, PURPOSE).append(record())
    with pytest.raises(BenchError, match="never mixed"):
        Results.create(tmp_path, other)
    assert Results.open(tmp_path).records() == [record()]


def test_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("keep me")
    with pytest.raises(BenchError, match="not a results folder"):
        Results.create(tmp_path, PURPOSE)
    with pytest.raises(BenchError, match="is a file"):
        Results.create(tmp_path / "thesis.txt", PURPOSE)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("manifest", "what"),
    [
        ({"kind": "graphglass-model", "version": 1, "files": {}}, "a saved model \\(graphglass-model\\)"),
        ({}, "something else"),
    ],
)
def test_a_manifest_of_something_else_is_told(tmp_path: Path, manifest: dict[str, Any], what: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text(json.dumps(manifest))
    for use in (lambda: Results.create(tmp_path / "other", PURPOSE), lambda: result_folders(tmp_path)):
        with pytest.raises(BenchError, match=f"other holds {what}, not results"):
            use()


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_half_written_record_is_named(tmp_path: Path, cut: int) -> None:
    results = Results.create(tmp_path, PURPOSE)
    results.append(record(0))
    results.append(record(1))
    path = tmp_path / "size-knn.jsonl"
    path.write_text(path.read_text()[:-cut])
    with pytest.raises(BenchError, match=r"size-knn\.jsonl, line 2: half-written record"):
        results.records()


def test_a_cell_recorded_twice_is_named(tmp_path: Path) -> None:
    """Files of two machines joined by hand; the cell would weigh double in every mean."""
    results = Results.create(tmp_path, PURPOSE)
    results.append(record(0))
    results.append(record(1))
    path = tmp_path / "size-knn.jsonl"
    path.write_text(path.read_text() + json.dumps(record(0, versions={"python": "3.12"})) + "\n")
    with pytest.raises(BenchError, match=r"line 3: a second record of the cell on line 1"):
        results.records()


def test_a_record_without_its_keys_is_half_written(tmp_path: Path) -> None:
    results = Results.create(tmp_path, PURPOSE)
    (tmp_path / "size-knn.jsonl").write_text('{"method": "size-knn"}\n')
    with pytest.raises(BenchError, match="missing benchmark, cell"):
        results.records()
    (tmp_path / "size-knn.jsonl").write_text("[1, 2]\n")
    with pytest.raises(BenchError, match="line 1: half-written"):
        results.records()


@pytest.mark.parametrize(
    "change", [{"protocol": "good-d"}, {"flip": True}, {"method": "graphglass"}, {"benchmark": "lora"}]
)
def test_a_record_in_the_wrong_place_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    results = Results.create(tmp_path, PURPOSE)
    (tmp_path / "size-knn.jsonl").write_text(json.dumps(record(**change)) + "\n")
    with pytest.raises(BenchError, match="never mixed"):
        results.records()


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"format": 1')
    with pytest.raises(BenchError, match="damaged"):
        Results.open(tmp_path)
    (tmp_path / "manifest.json").write_text(
        '{"format": 9, "benchmark": "single", "protocol": "minority", "flip": false}'
    )
    with pytest.raises(BenchError, match="format 9"):
        Results.open(tmp_path)


def _append_many(folder: Path, start: int) -> None:
    results = Results.open(folder)
    for seed in range(start, start + 10):
        results.append(record(seed))


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    Results.create(tmp_path, PURPOSE)
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_append_many, args=(tmp_path, start)) for start in (0, 10)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(item["cell"]["seed"] for item in Results.open(tmp_path).records()) == list(range(20))


def test_folders_below_a_root(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="no results"):
        result_folders(tmp_path)
    with pytest.raises(BenchError, match="There is no"):
        result_folders(tmp_path / "absent")
    Results.create(tmp_path / "b", Purpose("single", "good-d"))
    Results.create(tmp_path / "a", PURPOSE)
    assert [found.purpose.protocol for found in result_folders(tmp_path)] == ["minority", "good-d"]


def test_cell_key_ignores_order() -> None:
    assert cell_key({"a": 1, "b": "x"}) == cell_key({"b": "x", "a": 1})


def test_a_cell_that_another_run_has_recorded_is_not_recorded_twice(tmp_path: Path) -> None:
    results = Results.create(tmp_path, Purpose("single", "minority"))
    results.append(record(0))
    results.append(record(0, finished="later"))
    results.append(record(1))
    assert [item["cell"]["seed"] for item in results.records()] == [0, 1]
    assert "finished" not in results.records()[0]
