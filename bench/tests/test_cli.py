"""`glassbench` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from glassbench.cli import app, listed, seed_numbers
from graphglass.errors import BenchError

runner = CliRunner()


def call(*arguments: str) -> str:
    result = runner.invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_single_then_table_then_plot(tmp_path: Path) -> None:
    folder = str(tmp_path / "r")
    options = ["--datasets", "MUTAG", "--methods", "size-knn,wl-cosine-knn", "--seeds", "2", "-o", folder]
    assert "4 cells run, 0 already recorded" in call("single", *options)
    assert "0 cells run, 4 already recorded" in call("single", *options)
    text = call("table", folder, "--protocol", "minority")
    assert "| size-knn |" in text
    assert "protocol minority" in text
    assert call("table", folder, "--format", "csv").startswith("method,source,group,MUTAG,MUTAG std")
    assert "single-minority-auroc.png" in call("plot", folder, "-o", str(tmp_path / "f"))
    with pytest.raises(BenchError, match="never mixed"):
        call("single", *options, "--flip")
    with pytest.raises(BenchError, match="never mixed"):
        call("single", *options, "--protocol", "good-d")
    with pytest.raises(BenchError, match="none of 'good-d'"):
        call("table", folder, "--protocol", "good-d")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["single", "--datasets", "MUTAGG"], "Did you mean 'MUTAG'"),
        (["single", "--methods", "gloss"], "Did you mean 'glass'"),
        (["single", "--methods", ""], "--methods takes names of methods"),
        (["single", "--protocol", "ten-fold", "--methods", "size-knn"], "Unknown protocol"),
        (["transfer", "--sources", "chemistry", "--methods", "size-knn"], "Unknown source 'chemistry'"),
        (["text", "--methods", "size-knn"], "reads no text"),
        (["private", "--methods", "size-knn"], "no private release"),
        (["private", "--sources", "social"], "Unknown source 'social'"),
        (["few-shot", "--datasets", "COLLAB", "--methods", "size-knn"], "tab:fewshot has the targets"),
    ],
)
def test_bad_requests_write_nothing(tmp_path: Path, arguments: list[str], match: str) -> None:
    with pytest.raises(BenchError, match=match):
        call(*arguments, "-o", str(tmp_path / "r"))
    assert not (tmp_path / "r").exists()


def test_names_with_commas() -> None:
    assert listed("MUTAG, BZR,AIDS,") == ["MUTAG", "BZR", "AIDS"]


@pytest.mark.parametrize(
    ("text", "seeds"), [("3", (0, 1, 2)), ("42-45", (42, 43, 44, 45)), ("1,3,9", (1, 3, 9)), ("0-1,7", (0, 1, 7))]
)
def test_seeds(text: str, seeds: tuple[int, ...]) -> None:
    assert seed_numbers(text) == seeds


@pytest.mark.parametrize("text", ["", "0", "a", "5-2", "1-2-3", "-4"])
def test_seeds_that_name_none(text: str) -> None:
    with pytest.raises(BenchError, match="--seeds takes"):
        seed_numbers(text)


def test_records_of_other_code_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    options = ["--datasets", "MUTAG", "--methods", "size-knn", "--seeds", "1", "-o", str(folder)]
    call("single", *options)
    assert "would not reproduce" not in call("table", str(folder))
    path = folder / "size-knn.jsonl"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"fingerprint": "0" * 16}) + "\n")
    assert "The present code would not reproduce records of: size-knn (1 of 1)." in call("table", str(folder))
    with pytest.raises(BenchError, match="made by code that scores differently"):
        call("single", *options)
    del record["fingerprint"]
    path.write_text(json.dumps(record) + "\n")
    assert "Records without a fingerprint, which cannot be checked: size-knn (1 of 1)." in call("table", str(folder))
