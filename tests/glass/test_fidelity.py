"""The table that sets the paper's text, the authors' code and this implementation side by side."""

from pathlib import Path

from graphglass.glass.training.config import AUTHORS

ROOT = Path(__file__).parents[2]


def table(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    return text.partition("<!-- fidelity -->")[2].partition("<!-- end -->")[0].strip().splitlines()


def test_both_pages_have_the_same_table():
    assert table("docs/paper-map.md") == table("src/graphglass/glass/README.md")


def test_no_row_is_without_an_effect_or_a_reason():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table("docs/paper-map.md")]
    points = [row for row in rows[2:] if not row[0].startswith("**")]
    assert len(points) >= 46
    assert all(len(row) == 5 and all(row) for row in points)
    assert "@" not in "".join(table("docs/paper-map.md"))


def test_every_detail_that_can_be_switched_is_in_the_table():
    text = "\n".join(table("docs/paper-map.md"))
    assert [name for name in AUTHORS if f"`{name}`" not in text] == []
