"""The base install: everything but the extras works without torch, transformers, onnxruntime and RDKit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKED = ("torch", "transformers", "onnxruntime", "rdkit", "sentence_transformers")
SCRIPT = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
from graphglass import GLASS, load_dataset
from graphglass.report.page import report_page

molecules = load_dataset("MUTAG")
detector = GLASS().fit(molecules[:60])
assert detector.explain(molecules[60]).reasons is not None
detector.save(sys.argv[1])
loaded = GLASS.load(sys.argv[1])
assert (loaded.decision_function(molecules[60:70]) == detector.decision_function(molecules[60:70])).all()
assert "normal references" in report_page(loaded, molecules[60:66])
if len(sys.argv) > 2:
    from fastapi.testclient import TestClient
    from graphglass.serve.app import create_app
    from graphglass.serve.service import Service

    with TestClient(create_app(Service(sys.argv[1]))) as client:
        assert client.get("/v1/model").status_code == 200
"""


def test_fit_score_explain_save_load_report_and_serve_without_the_extras(tmp_path):
    subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path / "model"), "serve"], check=True)


def test_the_wheel_installs_into_an_empty_environment_and_scores(tmp_path):
    """Below 800 MB with everything it depends on, compiled files and pip included."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    if subprocess.run(build, capture_output=True).returncode:
        pytest.skip("no package registry to build with")
    (wheel,) = tmp_path.glob("graphglass-*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / "bin" / "python"
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    # pip would take a source tree on PYTHONPATH for the installed package.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([python, "-m", "pip", "install", "--quiet", *constraints, str(wheel)], check=True, env=environment)
    subprocess.run([python, "-c", SCRIPT, str(tmp_path / "model")], check=True, cwd=tmp_path, env=environment)
    places = (path.stat() for path in (tmp_path / "env").rglob("*") if path.is_file() and not path.is_symlink())
    assert sum(place.st_size for place in places) < 800e6
