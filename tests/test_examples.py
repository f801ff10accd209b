"""The scripts under examples/ run from an empty folder, and print what they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
PRINTED = {
    "known_anomalies": "20 known anomalies: AUROC",
    "log_sessions": "guessing passwords",
    "molecules": "Why nitroglycerin?",
    "own_detector": "my detector",
    "private_release": "AUROC of the merged summary",
    "transactions": "closed circle",
}


def test_every_example_is_listed():
    assert {path.stem for path in EXAMPLES} == set(PRINTED)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert PRINTED[path.stem] in capsys.readouterr().out
