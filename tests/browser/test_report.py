"""The report in a real browser, from its one file."""

import pandas
import pytest

from graphglass import ReferenceDetector, read_graphs
from graphglass.report.page import write_report

QUERIES = [
    "c1ccccc1O",
    "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "CC(C)C",
    "c1cc2ccc3cccc4ccc(c1)c2c34",
    "OCC(O)C(O)CO",
    "CCCl",
    "CCO",
]


@pytest.fixture(scope="module")
def report(molecules, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    detector = ReferenceDetector.load(molecules)
    write_report(detector, detector.score_table(read_graphs(QUERIES, format="smi")), path)
    return path.as_uri()


def _column(page, name):
    return page.locator(f"table.sortable tbody td.{name}").all_inner_texts()


def test_rows_sort_and_lead_to_explanations(report, visit):
    page = visit(report)
    scores = [float(text) for text in _column(page, "score")]
    assert scores == sorted(scores, reverse=True)
    page.get_by_role("button", name="nodes").click()
    sizes = [int(text) for text in _column(page, "nodes")]
    assert sizes == sorted(sizes, reverse=True)
    page.get_by_role("button", name="nodes").click()
    assert [int(text) for text in _column(page, "nodes")] == sizes[::-1]
    assert page.locator("th.nodes").get_attribute("aria-sort") == "ascending"
    link = page.locator("table.sortable a").first
    name = link.inner_text()
    link.click()
    target = page.url.rpartition("#")[2]
    card = page.locator(f"#{target}")
    assert card.locator("h2").inner_text().endswith(name)
    assert card.locator("figure").count() == 3
    assert page.locator("section.card").count() == 5
    box = card.bounding_box()
    assert -5 <= box["y"] < page.viewport_size["height"]


def test_it_prints_whole_rows_and_cards(report, visit):
    page = visit(report)
    page.emulate_media(media="print")
    assert not page.locator("a.screen").first.is_visible()
    table = page.locator(".scroll").first
    assert table.evaluate("item => item.scrollHeight <= item.clientHeight + 1")
    assert len(page.pdf(format="A4")) > 10_000


def test_on_paper_many_columns_do_not_push_the_others_off(molecules, tmp_path, visit):
    rows = [{"smiles": smiles, **{f"measured {i}": "a remark" for i in range(38)}} for smiles in QUERIES]
    detector = ReferenceDetector.load(molecules)
    table = detector.score_table(read_graphs(pandas.DataFrame(rows), keep="all"))
    write_report(detector, table, tmp_path / "wide.html")
    page = visit((tmp_path / "wide.html").as_uri(), viewport={"width": 718, "height": 1000})  # A4 without margins
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    assert page.locator("td.rank").first.is_visible()
    assert page.locator("p.paper").inner_text() == "Of your 39 columns the first 2 are printed."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_and_phone_width(report, visit, serious_findings, scheme):
    page = visit(report, color_scheme=scheme)
    assert serious_findings(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    wide, screen = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= screen
