"""A review in the inspector, in a real browser: keys, marks that stay, and the ranking of the library."""

import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from playwright.sync_api import expect

from graphglass import GraphGlass, read_graphs
from graphglass.detector.review import read_marks
from graphglass.serve.reviews import MOST_REVIEWS

expect.set_options(timeout=60_000)
QUERIES = {
    "TNT": "Cc1c(cc(cc1[N+](=O)[O-])[N+](=O)[O-])[N+](=O)[O-]",
    "picric acid": "Oc1c(cc(cc1[N+](=O)[O-])[N+](=O)[O-])[N+](=O)[O-]",
    "caffeine": "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "pyrene": "c1cc2ccc3cccc4ccc(c1)c2c34",
    "isobutane": "CC(C)C",
    "ibuprofen": "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "phenol, a reference": "c1ccccc1O",
}
TEXT = "".join(f"{smiles} {name}\n" for name, smiles in QUERIES.items())


def _begin(page, text=TEXT):
    if text:
        page.locator("#text").fill(text)
        page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("#rows tr")).to_have_count(len(QUERIES))
    page.get_by_role("button", name="Review one by one").click()
    _ready(page)


def _ready(page):
    expect(page.locator("#verdict")).to_contain_text("Score")
    expect(page.locator("#review-note")).to_be_hidden()


def _shown(page):
    return page.locator("#detail-title").inner_text()


def _press(page, key):
    before = _shown(page)
    page.keyboard.press(key)
    expect(page.locator("#detail-title")).not_to_have_text(before)
    _ready(page)


def test_keys_marks_and_the_ranking_of_the_library(inspector, molecules, visit, tmp_path):
    (tmp_path / "queries.smi").write_text(TEXT)
    review = GraphGlass.load(molecules).review(read_graphs(tmp_path / "queries.smi"))
    page = visit(inspector)
    page.clock.install()
    _begin(page)
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))  # the page waits for every ranking, however slow
    for key, verdict in (("a", "anomaly"), ("n", "normal"), ("a", "anomaly"), ("u", "unsure")):
        assert _shown(page) == review.next().ids[0]
        review.mark(_shown(page), verdict)
        _press(page, key)
    assert _shown(page) == review.next().ids[0]
    expect(page.locator("#review-count")).to_have_text("4 of 7 reviewed · 2 anomalies found")
    expect(page.locator("#review-found button")).to_have_text(list(review.found))

    marked = review.marks[-1].id
    _press(page, "k")
    assert _shown(page) == marked
    expect(page.get_by_role("button", name="Unsure")).to_have_attribute("aria-pressed", "true")
    _press(page, "j")
    page.locator("#review-found button").first.click()
    expect(page.locator("#detail-title")).to_have_text(review.found[0])
    assert httpx.get(f"{inspector}v1/anomalies", timeout=60).json()["total"] == 0

    page.get_by_role("button", name="Back to the ranking").click()
    expect(page.locator("#review")).to_be_hidden()
    expect(page.locator(f'#rows tr[data-id="{review.found[0]}"] td.flagged')).to_have_text("anomaly")


def test_marks_survive_a_reload_and_a_service_that_forgot_them(inspector, visit):
    page = visit(inspector, expected="404 (Not Found)")
    _begin(page)
    page.locator("#reviewer").fill("Ada")
    page.locator("#comment").fill("nitro")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Anomaly").click()
    expect(page.locator("#review-count")).to_contain_text("1 of 7 reviewed")
    page.reload()
    _begin(page, text=None)
    expect(page.locator("#review-count")).to_have_text("1 of 7 reviewed · 1 anomaly found")
    for _ in range(MOST_REVIEWS):
        httpx.post(f"{inspector}v1/reviews", json={"smiles": ["CCO"]}, timeout=60).raise_for_status()
    _press(page, "n")
    expect(page.locator("#review-count")).to_have_text("2 of 7 reviewed · 1 anomaly found")


def test_a_file_of_marks_goes_to_the_library_and_back(inspector, visit, tmp_path):
    page = visit(inspector)
    _begin(page)
    first = _shown(page)
    page.locator("#reviewer").fill("Ada")
    page.locator("#detail-title").click()
    _press(page, "a")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save marks").click()
    path = tmp_path / "marks.jsonl"
    download.value.save_as(path)
    (mark,) = read_marks(path)
    assert (mark.id, mark.verdict, mark.reviewer) == (first, "anomaly", "Ada")
    with path.open("a") as file:
        file.write(
            json.dumps({"id": "pyrene", "verdict": "normal"})
            + "\n"
            + json.dumps({"id": "other", "verdict": "normal"})
            + "\n"
        )

    other = visit(inspector)
    _begin(other)
    other.locator("#review-file").set_input_files(path)
    expect(other.locator("#review-count")).to_have_text("2 of 7 reviewed · 1 anomaly found")
    expect(other.locator("#review-note")).to_be_hidden()
    path.write_text('{"id": 3}\n')
    other.locator("#review-file").set_input_files(path)
    expect(other.locator("#message")).to_contain_text("Line 1 is not a mark")
    expect(other.locator("#review-count")).to_contain_text("2 of 7 reviewed")


def test_a_conflict_is_shown(inspector, visit):
    page = visit(inspector)
    _begin(page)
    while _shown(page) != "phenol, a reference":
        _press(page, "j")
    _press(page, "a")
    expect(page.locator("#review-conflicts")).to_contain_text("equal to a normal reference")
    expect(page.locator("#review-conflicts button")).to_have_text(["phenol, a reference"])
    expect(page.locator("#verdict")).to_contain_text("without your marks")


@pytest.mark.parametrize(
    "options",
    [
        {"color_scheme": "light"},
        {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    ],
    ids=["desktop", "phone"],
)
def test_the_review_is_accessible_and_fits(inspector, visit, serious_findings, options):
    page = visit(inspector, **options)
    _begin(page)
    _press(page, "a")
    assert serious_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for verdict in ("Anomaly", "Normal", "Unsure"):
        expect(page.get_by_role("button", name=verdict)).to_be_in_viewport()
    expect(page.locator("#review-count")).to_be_in_viewport()
    if "viewport" not in options:  # the reasons are next to the drawing
        drawing, reasons = (page.locator(part).bounding_box() for part in ("#pictures", "#fields-part"))
        assert reasons["y"] == pytest.approx(drawing["y"], abs=20)
        assert reasons["x"] > drawing["x"] + drawing["width"]


def test_a_hostile_file_of_marks_runs_nothing_and_stops_nothing(inspector, visit, tmp_path):
    script = "<img src=x onerror=window.hit=1><script>window.hit=1</script>"
    path = tmp_path / "marks.jsonl"
    marks = [{"id": "pyrene", "verdict": "unsure", "comment": script * 200, "reviewer": script * 9}] * 25_000
    path.write_text("".join(json.dumps(mark) + "\n" for mark in [*marks[:40], {"id": script, "verdict": "normal"}]))
    page = visit(inspector)
    _begin(page)
    page.locator("#review-file").set_input_files(path)
    expect(page.locator("#review-count")).to_have_text("1 of 7 reviewed · 0 anomalies found")
    expect(page.locator("#review-note")).to_be_hidden()
    path.write_text("".join(json.dumps({"id": "pyrene", "verdict": "anomaly"}) + "\n" for _ in marks))
    page.locator("#review-file").set_input_files(path)
    expect(page.locator("#review-count")).to_have_text("1 of 7 reviewed · 1 anomaly found")
    page.wait_for_load_state("networkidle")
    _ready(page)
    path.write_text('{"id": "pyrene", "verdict": "constructor"}\n')
    page.locator("#review-file").set_input_files(path)
    expect(page.locator("#message")).to_contain_text("Line 1 is not a mark")
    assert page.evaluate("[window.hit, document.querySelectorAll('#review img, #review script').length]") == [None, 0]
