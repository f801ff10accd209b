"""The base install: everything but the extras works without torch, transformers, onnxruntime and RDKit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKED = ("torch", "transformers", "onnxruntime", "rdkit", "sentence_transformers")
TOOLS = {"pip", "setuptools", "pkg_resources"}
SCRIPT = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
from graphglass import GraphGlass, ReferenceDetector, load_dataset
from graphglass.report.page import report_page

molecules = load_dataset("MUTAG")
detector = GraphGlass().fit(molecules[:60])
assert detector.explain(molecules[60]).reasons is not None
detector.save(sys.argv[1])
loaded = ReferenceDetector.load(sys.argv[1])
assert (loaded.decision_function(molecules[60:70]) == detector.decision_function(molecules[60:70])).all()
assert "normal references" in report_page(loaded, loaded.score_table(molecules[60:66]))
if len(sys.argv) > 2:
    from fastapi.testclient import TestClient
    from graphglass.serve.app import create_app
    from graphglass.serve.service import Service

    with TestClient(create_app(Service(sys.argv[1]))) as client:
        assert client.get("/v1/model").status_code == 200
"""


@pytest.mark.slow
def test_fit_score_explain_save_load_report_and_serve_without_the_extras(tmp_path):
    subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path / "model"), "serve"], check=True)


@pytest.mark.slow
def test_the_wheel_installs_into_an_empty_environment_and_scores(tmp_path):
    """The wheel is built from the source distribution: a file that is missing there is missing here."""
    build = [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)]
    result = subprocess.run(build, capture_output=True, text=True)
    if result.returncode and "No matching distribution" in result.stdout + result.stderr:
        pytest.skip("no package registry to build with")
    assert result.returncode == 0, result.stdout + result.stderr
    (wheel,) = tmp_path.glob("graphglass-*.whl")
    assert list(tmp_path.glob("graphglass-*.tar.gz"))
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / "bin" / "python"
    # pip would take a source tree on PYTHONPATH for the installed package.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*arguments):
        subprocess.run([python, *map(str, arguments)], check=True, cwd=tmp_path, env=environment)

    run("-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel)
    run("-c", SCRIPT, tmp_path / "model")
    sizes = {
        path: path.stat().st_size
        for path in (tmp_path / "env" / "lib").rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    packages = [size for path, size in sizes.items() if path.suffix != ".pyc" and not TOOLS & set(path.parts)]
    assert sum(packages) < 600e6  # GraphGlass and what it depends on, as packages ship it
    assert sum(sizes.values()) < 800e6  # with pip and compiled files
