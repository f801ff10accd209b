"""Detectors and files of the user's are measured, recorded and shown like built-in ones."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from glassbench.cli import app
from glassbench.datasets import own_files
from glassbench.fingerprint import fingerprint
from glassbench.methods import factory
from glassbench.records import Results
from graphglass.errors import BenchError

PAGE = Path(__file__).parents[1] / "docs/own-detector.md"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory whose modules are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    fingerprint.cache_clear()
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name in ("my_detector", "random_one", "needy"):
            del sys.modules[name]


def call(line: str) -> str:
    result = CliRunner().invoke(app, line.split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_page_runs_from_top_to_bottom(place: Path) -> None:
    text = PAGE.read_text()
    for name, body in re.findall(r"^```python\n# (\S+)\n(.*?)^```", text, re.M | re.S):
        (place / name).write_text(body)
    runpy.run_path("my_graphs.py")
    commands = re.findall(r"^\$ glassbench (.*)$", text, re.M)
    assert len(commands) == 3
    assert "6 cells run" in call(commands[0])
    assert "0 cells run, 6 already recorded" in call(commands[0])
    table = call(commands[1])
    assert "| my_detector:StructureForest |" in table
    assert "| method | rings | average | rank |" in table
    assert "would not reproduce" not in table
    assert "single-minority-auroc.png" in call(commands[2])
    record = Results.open("mine").records("my_detector:StructureForest")[0]
    assert record["cell"] == {"dataset": "rings", "seed": 0}
    assert len(record["fingerprint"]) == 16
    assert record["counts"] == {"references": 80, "test_normal": 20, "test_anomalous": 20}
    assert record["metrics"]["auroc"] > 80

    # A class that scores differently is refused; records of a class that is gone are shown.
    source = (place / "my_detector.py").read_text()
    (place / "my_detector.py").write_text(source.replace("return -self", "return -2 * self"))
    del sys.modules["my_detector"]
    fingerprint.cache_clear()
    with pytest.raises(BenchError, match="code that scores differently"):
        call(commands[0])
    (place / "my_detector.py").unlink()
    del sys.modules["my_detector"]
    fingerprint.cache_clear()
    assert "cannot be checked: my_detector:StructureForest (2 of 2)" in call(commands[1])


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("nowhere:Detector", "No module named 'nowhere'"),
        ("json:Detector", "has no attribute 'Detector'"),
        ("json:JSONDecoder", "found no fit and no decision_function"),
        (":Detector", "Empty module name"),
    ],
)
def test_names_that_are_no_detector(name: str, match: str) -> None:
    with pytest.raises(BenchError, match=match):
        factory(name)


def test_scores_that_vary_or_fail_have_no_fingerprint(place: Path, caplog: Any) -> None:
    body = "def fit(self, graphs):\n        return self\n\n    def decision_function(self, graphs):\n        "
    (place / "random_one.py").write_text(
        f"import os\n\nclass One:\n    {body}return [float(b) for b in os.urandom(len(graphs))]\n"
    )
    (place / "needy.py").write_text(f"class One:\n    {body}raise ValueError('a column is missing')\n")
    assert fingerprint("random_one:One") is None
    assert "two runs with one seed scored differently" in caplog.text
    assert fingerprint("needy:One") is None
    assert "a column is missing" in caplog.text


def test_files_among_the_names(place: Path) -> None:
    (place / "rings.jsonl").write_text("")
    (place / "MUTAG.csv").write_text("")
    (place / "folder").mkdir()
    assert own_files(["MUTAG", "rings.jsonl", "folder"]) == {"rings": Path("rings.jsonl"), "folder": Path("folder")}
    with pytest.raises(BenchError, match="Another dataset is called MUTAG"):
        own_files(["MUTAG.csv"])
    for missing in ("deep/graphs.csv", "graphs.csv"):
        with pytest.raises(BenchError, match=f"There is no dataset {missing}"):
            own_files([missing])
    with pytest.raises(BenchError, match="Another dataset is called rings"):
        own_files(["rings.jsonl", "folder/../rings.jsonl"])
