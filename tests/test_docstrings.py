"""Examples in docstrings: every public function has one, and all of them run."""

import doctest
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import graphglass

SOURCES = Path(graphglass.__file__).parent
MODULES = [
    info.name
    for info in pkgutil.walk_packages([str(SOURCES)], "graphglass.")
    if not info.ispkg and ">>> " in (SOURCES.parent / f"{info.name.replace('.', '/')}.py").read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(import_module(name), raise_on_error=False)
    assert result.attempted
    assert result.failed == 0


def test_every_public_function_has_an_example():
    names = [name for name in graphglass.__all__ if inspect.isfunction(getattr(graphglass, name))]
    without = [
        name for name in (*names, "GLASS", "GraphSet", "Ledger") if ">>> " not in getattr(graphglass, name).__doc__
    ]
    assert without == ["load_encoder"]  # what it loads depends on the machine
