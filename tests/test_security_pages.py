"""The pages about security and privacy: every test they name exists, and their tables are those of the records."""

import ast
import importlib.util
import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("security", "privacy")}


@cache
def _test_names():
    """Names of the test functions in every test file."""
    return {
        path.relative_to(ROOT).as_posix(): [
            node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)
        ]
        for path in (ROOT / "tests").rglob("test_*.py")
    }


def named(page):
    """(file or None, test or None) for every test that a page names between backticks."""
    for text in re.findall(r"`([^`\n]*test_[^`\n]*)`", PAGES[page]):
        if " " not in text and "/..." not in text:
            path, _, name = (
                text.rpartition("::") if "::" in text else (text, "", "") if text.endswith(".py") else ("", "", text)
            )
            yield text, path.removeprefix("..."), name.removeprefix("...")


@pytest.mark.parametrize("page", PAGES)
def test_every_named_test_exists(page):
    found = _test_names()
    names = list(named(page))
    assert len(names) > 15
    for text, path, name in names:
        files = [file for file in found if file.endswith(path)] if path else list(found)
        assert files, f"docs/{page}.md names {text}: there is no such file"
        assert any(not name or name in found[file] for file in files), f"docs/{page}.md names {text}: no such test"


def test_every_step_of_the_proof_names_a_test():
    section = PAGES["privacy"].partition("## How a release is made")[2].partition("\n## ")[0]
    steps = re.split(r"^\d+\. ", section, flags=re.MULTILINE)[1:]
    assert len(steps) == 8
    for step in steps:
        assert re.search(r"`[^`]*test_[^`]*`", step), step


@pytest.mark.parametrize(
    ("script", "mark", "record"),
    [("fuzz", "fuzz", "fuzz"), ("attack", "attack", "attack"), ("large_graphs", "large", "large_graphs")],
)
def test_tables_are_those_of_the_records(script, mark, record, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench/scripts")
    spec = importlib.util.spec_from_file_location(script, ROOT / "bench/scripts" / f"{script}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, script, module)
    spec.loader.exec_module(module)
    shown = PAGES["security"].partition(f"<!-- {mark}:begin -->\n")[2].partition(f"\n<!-- {mark}:end -->")[0]
    content = json.loads((ROOT / "bench/results" / "security" / f"{record}.json").read_text())
    assert shown == module.table(content)
    assert not content.get("findings")
    if script == "attack":
        assert list(content) == list(module.PARTS)
        assert not any(line["failures"] for part in content.values() for line in part["rows"])
