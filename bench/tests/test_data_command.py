"""`glass data` from the outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from glassbench.data_command import app
from glassbench.tu_catalogue import CATALOGUE, copy_bundled
from graphglass.errors import DataError

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def no_data_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHGLASS_DATA", raising=False)


def test_list_names_every_dataset_and_where_it_is(tmp_path: Path) -> None:
    plain = RUNNER.invoke(app, ["list"])
    assert plain.exit_code == 0
    assert all(name in plain.output for name in CATALOGUE)
    assert "bundled" in plain.output
    copy_bundled("MUTAG", tmp_path)
    rooted = RUNNER.invoke(app, ["list"], env={"GRAPHGLASS_DATA": str(tmp_path)})
    assert "MUTAG.zip" in rooted.output


def test_verify_the_bundled_copy() -> None:
    result = RUNNER.invoke(app, ["verify", "mutag"])
    assert result.exit_code == 0
    assert "MUTAG          ok    sha256 known, counts match: 188 graphs, 2 classes, 17.93 nodes" in result.output


def test_verify_finds_a_wrong_and_a_broken_copy(tmp_path: Path) -> None:
    mutag = copy_bundled("MUTAG", tmp_path)
    assert mutag is not None
    mutag.rename(tmp_path / "NCI1.zip")
    (tmp_path / "DD.zip").write_text("words")
    result = RUNNER.invoke(app, ["verify", "NCI1", "DD", "--data-root", str(tmp_path)])
    assert isinstance(result.exception, DataError)
    assert str(result.exception) == "Not verified: NCI1, DD."
    assert "WRONG sha256 unknown, counts differ" in result.output
    assert "DD: " in result.stderr
    again = RUNNER.invoke(app, ["get", "NCI1", "--data-root", str(tmp_path)])
    assert isinstance(again.exception, DataError)
    assert "WRONG" in again.output


def test_a_dataset_asked_for_by_name_must_be_there() -> None:
    result = RUNNER.invoke(app, ["verify", "NCI1"])
    assert isinstance(result.exception, DataError)
    assert RUNNER.invoke(app, ["verify"]).exit_code == 0  # none asked for: what is there is right


def test_get_copies_the_bundled_dataset_and_repeats(tmp_path: Path) -> None:
    root = tmp_path / "new"
    for _ in range(2):
        result = RUNNER.invoke(app, ["get", "MUTAG", "--data-root", str(root)])
        assert result.exit_code == 0
        assert "ok    sha256 known" in result.output
    assert (root / "MUTAG.zip").is_file()


def test_get_without_a_place_or_a_server(tmp_path: Path) -> None:
    nowhere = RUNNER.invoke(app, ["get", "NCI1"])
    assert isinstance(nowhere.exception, DataError)
    assert "--data-root" in str(nowhere.exception)
    closed = RUNNER.invoke(app, ["get", "NCI1", "--data-root", str(tmp_path), "--site", "http://127.0.0.1:9"])
    assert isinstance(closed.exception, DataError)
    assert str(closed.exception) == "1 of 1 datasets are not here as they should be: NCI1."
    assert "could not be fetched" in closed.output
