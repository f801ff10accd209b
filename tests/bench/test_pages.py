"""The pages of figures say what the records say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from graphglass.bench.table_model import filled
from graphglass.errors import BenchError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["baselines", "reproduction"])
def test_a_page_follows_the_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    spec = importlib.util.spec_from_file_location(f"{name}_page", ROOT / "benchmarks" / f"{name}_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    expected = (ROOT / "docs" / f"{name}.md").read_text()
    assert module.page() == expected, f"run `python benchmarks/{name}_page.py`"


def test_a_part_is_replaced_and_its_marks_are_needed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n")
    text = filled(page, {"one": "new\n", "two": "2"})
    assert text == "a\n<!-- one -->\n\nnew\n\n<!-- end -->\nb\n<!-- two -->\n\n2\n\n<!-- end -->\n"
    with pytest.raises(BenchError, match="<!-- three -->"):
        filled(page, {"three": ""})
