"""`glass bench` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from graphglass.cli.bench import app, listed
from graphglass.errors import BenchError

runner = CliRunner()


def call(*arguments: str) -> str:
    result = runner.invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_single_then_table_then_plot(tmp_path: Path) -> None:
    folder = str(tmp_path / "r")
    options = ["--datasets", "MUTAG", "--methods", "size-knn,wl-cosine-knn", "--seeds", "2", "-o", folder]
    assert "4 cells run, 0 were there already" in call("single", *options)
    assert "0 cells run, 4 were there already" in call("single", *options)
    text = call("table", folder, "--protocol", "minority")
    assert "| size-knn |" in text
    assert "protocol minority" in text
    assert call("table", folder, "--format", "csv").startswith("method,source,MUTAG,MUTAG std")
    assert r"\begin{tabular}" in call("table", folder, "--format", "tex")
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
        (["single", "--protocol", "ten-fold", "--methods", "size-knn"], "Unknown protocol"),
        (["transfer", "--sources", "chemistry", "--methods", "size-knn"], "Unknown source 'chemistry'"),
        (["text", "--methods", "size-knn"], "reads no text"),
        (["private", "--methods", "size-knn"], "no encoder to summarise with"),
        (["private", "--sources", "social"], "Unknown source 'social'"),
        (["few-shot", "--datasets", "COLLAB", "--methods", "size-knn"], "tab:fewshot has the targets"),
    ],
)
def test_bad_requests_write_nothing(tmp_path: Path, arguments: list[str], match: str) -> None:
    with pytest.raises(BenchError, match=match):
        call(*arguments, "-o", str(tmp_path / "r"))
    assert not (tmp_path / "r").exists()


def test_names_with_commas_and_repeats() -> None:
    assert listed(["MUTAG, BZR", "AIDS"]) == ["MUTAG", "BZR", "AIDS"]
    assert listed(None) is None
