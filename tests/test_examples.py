"""The scripts and notebooks under examples/ run from an empty folder, and show what they promise."""

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
PRINTED = {
    "known_anomalies": "20 known anomalies: AUROC",
    "own_detector": "my detector",
    "private_release": "AUROC of the merged summary",
}


def test_every_example_is_listed():
    assert {path.stem for path in EXAMPLES} == set(PRINTED)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert PRINTED[path.stem] in capsys.readouterr().out


def _outputs(notebook):
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


def test_the_gallery_is_complete():
    assert {path.stem for path in NOTEBOOKS} == {"glass_pretrained", "logs", "molecules", "payments", "review"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs(path):
    notebook = json.loads(path.read_text())
    outputs = _outputs(notebook)
    assert all(output["output_type"] != "error" for output in outputs)
    assert any("<svg" in "".join(output.get("data", {}).get("text/html", "")) for output in outputs)
    assert path.stat().st_size < 300_000


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_jupyter_and_shows_as_much_as_it_stores(path, tmp_path):
    executed = runpy.run_path(str(ROOT / "docs" / "notebooks.py"))["executed"]
    assert _shown(executed(path, tmp_path)) == _shown(json.loads(path.read_text()))


def _shown(notebook):
    """The kinds of every output of a notebook, cell by cell; text that was printed may arrive in several pieces."""
    outputs = [cell.get("outputs", []) for cell in notebook["cells"]]
    printed = [any(output["output_type"] == "stream" for output in of_cell) for of_cell in outputs]
    return printed, [[sorted(output["data"]) for output in of_cell if "data" in output] for of_cell in outputs]
