import csv

import pytest
from typer.testing import CliRunner

from graphglass import GraphGlass
from graphglass.cli.app import app
from graphglass.files.output_file import defused


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-2+3", "-inf", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_defused(text):
    assert defused(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "1-2", "mutag-3", "'quoted", "-0.31", "+1", "-2e-5"])
def test_other_text_stays(text):
    assert defused(text) == text


def test_scores_and_report_hold_no_formula(tmp_path, normals):
    GraphGlass().fit(normals.structure_only()).save(tmp_path / "model")
    (tmp_path / "q.jsonl").write_text('{"id": "=HYPERLINK(1)", "nodes": 3, "edges": [[0, 1], [1, 2]]}\n')
    files = ["-o", str(tmp_path / "scores.csv"), "--report", str(tmp_path / "report.html")]
    result = CliRunner().invoke(app, ["score", str(tmp_path / "model"), str(tmp_path / "q.jsonl"), *files])
    assert result.exit_code == 0, result.output
    with (tmp_path / "scores.csv").open() as file:
        assert [row["id"] for row in csv.DictReader(file)] == ["'=HYPERLINK(1)"]
    assert ">=HYPERLINK" not in (tmp_path / "report.html").read_text().partition("<tbody>")[2].partition("</tbody>")[0]
