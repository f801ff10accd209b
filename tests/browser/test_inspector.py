"""What a person does with the inspector, in a real browser."""

import csv
import io
import json
import re

import pytest
from playwright.sync_api import expect

expect.set_options(timeout=60_000)
QUERIES = """c1ccccc1O phenol
CN1C=NC2=C1C(=O)N(C(=O)N2C)C caffeine
CC(C)Cc1ccc(cc1)C(C)C(=O)O ibuprofen
C(( torn
CC(C)C isobutane
c1cc2ccc3cccc4ccc(c1)c2c34 pyrene
"""
COUNTED = re.compile("24 normal references")


def _column(page, name):
    return page.locator(f"#rows td.{name}").all_inner_texts()


def _score(page, name):
    return float(page.locator(f'#rows tr[data-id="{name}"] td.score').inner_text().replace("−", "-"))


def _explained(page, name):
    expect(page.locator("#detail-title")).to_have_text(name)
    expect(page.locator("#verdict")).to_contain_text("Score")


def _hold(page, path):
    """The first answer from a path waits; the function that comes back lets it go."""
    held = []
    page.route(path, lambda route: held.append((route, route.fetch())), times=1)

    def release():
        while not held:
            page.wait_for_timeout(20)
        route, answer = held[0]
        route.fulfill(response=answer)

    return release


def _rank(page, text):
    page.locator("#text").fill(text)
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("#rows tr").first).to_be_visible()


def _open(page, name):
    page.locator(f'#rows tr[data-id="{name}"]').click()
    _explained(page, name)


def test_load_sort_open_and_trust(inspector, visit, tmp_path):
    page = visit(inspector)
    expect(page.locator("#model")).to_contain_text(COUNTED)
    expect(page.locator("#empty")).to_be_visible()
    (tmp_path / "queries.smi").write_text(QUERIES)
    page.locator("#file").set_input_files(tmp_path / "queries.smi")
    expect(page.locator("#rows tr")).to_have_count(5)
    expect(page.locator("#empty")).to_be_hidden()
    expect(page.locator("#left-out")).to_contain_text("1 could not be read")
    expect(page.locator("#left-out li")).to_contain_text("torn")
    scores = [float(text.replace("−", "-")) for text in _column(page, "score")]
    assert scores == sorted(scores, reverse=True)

    page.get_by_role("button", name="nodes").click()
    assert [int(text) for text in _column(page, "nodes")] == [16, 15, 14, 7, 4]
    page.get_by_role("button", name="nodes").click()
    assert [int(text) for text in _column(page, "nodes")] == [4, 7, 14, 15, 16]
    expect(page.locator("th.nodes")).to_have_attribute("aria-sort", "ascending")

    _open(page, "caffeine")
    expect(page.locator("#pictures figure")).to_have_count(4)
    first = page.locator("#pictures figure").first
    assert first.locator("circle.touch").count() == 14
    assert first.locator("path.atom").count() == 6  # four N, two O
    assert first.locator(".halo.hot").count() > 0
    expect(page.locator("#pictures figcaption").nth(1)).to_contain_text("similarity: ")
    shares = [float(text.rstrip("%")) for text in page.locator("#bars output").all_inner_texts()]
    assert 95 <= sum(shares) <= 105
    expect(page.locator("#map .reference")).to_have_count(24)  # placed after the explanation
    assert page.locator("#fields li").count() >= 1

    before = _score(page, "caffeine")
    page.get_by_role("button", name="Mark as trusted normal").click()
    expect(page.locator("#model")).to_contain_text("25 normal references")
    expect(page.locator('#rows tr[data-id="caffeine"]')).to_contain_text("trusted normal")
    expect(page.locator("#rows td.change")).to_have_count(5)
    expect(page.locator("#map .reference")).to_have_count(25)

    page.get_by_role("button", name="Undo: trusted normal").click()
    expect(page.locator("#model")).to_contain_text(COUNTED)
    expect(page.get_by_role("button", name="Mark as trusted normal")).to_be_enabled()
    assert _score(page, "caffeine") == pytest.approx(before, abs=1e-4)


def test_an_anomaly_is_marked_shown_and_taken_back(inspector, visit):
    page = visit(inspector, expected="422")
    _rank(page, QUERIES)
    before = _score(page, "phenol")
    _open(page, "phenol")
    page.get_by_role("button", name="Mark as anomaly").click()
    expect(page.locator("#message")).to_contain_text("equal a normal reference")  # phenol is one
    _open(page, "pyrene")
    page.get_by_role("button", name="Mark as anomaly").click()
    expect(page.locator("#model")).to_contain_text("1 known anomaly")
    expect(page.locator('#rows tr[data-id="pyrene"] td.flagged')).to_have_text("anomaly")
    expect(page.locator("#map .known")).to_have_count(1)
    expect(page.locator("#pictures figcaption").nth(1)).to_contain_text("known anomaly pyrene")
    expect(page.get_by_role("button", name="Mark as trusted normal")).to_be_disabled()
    expect(page.locator("#rows td.change")).to_have_count(5)
    page.locator("#show").select_option("marked")
    assert _column(page, "id") == ["pyrene"]
    page.locator("#show").select_option("all")
    page.get_by_role("button", name="Undo: anomaly").click()
    expect(page.locator("#model")).not_to_contain_text("known anomaly")
    expect(page.get_by_role("button", name="Mark as anomaly")).to_be_enabled()
    assert _score(page, "phenol") == pytest.approx(before, abs=1e-4)


def test_the_example_ranks_unusual_molecules_first(inspector, visit):
    page = visit(inspector)
    page.get_by_role("button", name="Try an example").click()
    expect(page.locator("#rows tr")).to_have_count(6)
    assert set(_column(page, "id")[:2]) == {"perfluorohexane", "ferrocene"}


def test_a_click_before_the_model_is_loaded(inspector, visit):
    page = visit(inspector)
    release = _hold(page, "**/v1/model")
    page.goto(f"{inspector}#text=CCO+ethanol")
    page.reload()
    page.get_by_role("button", name="Try an example").click()
    expect(page.locator("#progress")).to_contain_text("Loading the model")
    release()
    expect(page.locator("#rows tr")).to_have_count(6)
    page.wait_for_load_state("networkidle")
    expect(page.locator("#rows tr")).to_have_count(6)  # the link is not followed after the click
    expect(page.locator("#message")).to_be_empty()


def test_the_last_click_wins(inspector, visit):
    page = visit(inspector)
    release = _hold(page, "**/v1/score")
    page.locator("#text").fill(QUERIES)
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("#progress")).to_contain_text("Ranked 0 of 5")
    page.get_by_role("button", name="Try an example").click()
    release()
    expect(page.locator("#rows tr")).to_have_count(6)
    expect(page.locator("#message")).to_be_empty()
    expect(page.locator("#progress")).to_be_hidden()


def test_a_map_that_comes_after_a_mark_is_of_the_new_references(inspector, visit):
    page = visit(inspector)
    release = _hold(page, "**/v1/map")
    _rank(page, QUERIES)
    _open(page, "caffeine")
    page.get_by_role("button", name="Mark as trusted normal").click()
    expect(page.locator("#model")).to_contain_text("25 normal references")
    expect(page.locator("#map .reference")).to_have_count(25)
    release()
    page.wait_for_load_state("networkidle")
    expect(page.locator("#map .reference")).to_have_count(25)


TABLE = """title,structure,batch
phenol,c1ccccc1O,7
caffeine,[2H]C([2H])([2H])n1cnc2c1c(=O)n(C)c(=O)n2C,=8
octane,CCCCCCCC,9
"""


def test_own_columns_are_chosen_shown_sorted_and_saved(inspector, visit, tmp_path, serious_findings):
    """A table with unknown headers; the score of a deuterated molecule is that of the command line."""
    page = visit(inspector, expected="422")
    (tmp_path / "table.csv").write_text(TABLE)
    page.locator("#file").set_input_files(tmp_path / "table.csv")
    expect(page.locator("#columns-form")).to_be_visible()
    assert serious_findings(page) == []
    page.locator("[name=smiles_column]").select_option("structure")
    page.locator("[name=id_column]").select_option("title")
    page.get_by_role("button", name="Read the table").click()
    expect(page.locator("#rows tr")).to_have_count(3)
    expect(page.locator("#columns-form")).to_be_hidden()
    heads = page.locator("#heads button").all_inner_texts()
    assert heads[-2:] == ["structure", "batch"]
    page.get_by_role("button", name="batch").click()
    assert sorted(_column(page, "own")[1::2]) == ["7", "9", "=8"]
    page.locator("#find").fill("CCCCCC")
    assert _column(page, "id") == ["octane"]
    page.locator("#find").fill("")
    _open(page, "octane")
    reason = page.locator("#fields li").first.inner_text()
    expect(page.locator('#rows tr[data-id="octane"] td.reason')).to_have_text(reason)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save CSV").click()
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(saved.value.path().read_text()))}
    assert rows["octane"]["reason"] == reason
    assert rows["octane"]["batch"] == "9"
    assert rows["caffeine"]["batch"] == "'=8"
    assert rows["caffeine"]["structure"].startswith("[2H]")


def test_work_shows_at_once_and_the_explanation_does_not_wait_for_the_map(inspector, visit, tmp_path):
    page = visit(inspector)
    expect(page.locator("#model")).to_contain_text(COUNTED)
    release = _hold(page, "**/v1/read*")
    (tmp_path / "queries.smi").write_text(QUERIES)
    page.locator("#file").set_input_files(tmp_path / "queries.smi")
    expect(page.locator("#progress")).to_be_visible()
    expect(page.locator("#progress")).to_contain_text("Reading queries.smi")
    release()
    expect(page.locator("#rows tr")).to_have_count(5)
    expect(page.locator("#progress")).to_be_hidden()
    page.route("**/v1/map", lambda route: None)  # never answered
    _open(page, "caffeine")
    expect(page.locator("#fields li").first).to_be_visible()
    expect(page.locator("#map")).to_contain_text("Placing")


def test_first_reasons_come_without_a_click(inspector, visit):
    page = visit(inspector)
    _rank(page, QUERIES)
    row = page.locator("#rows tr").first
    row.focus()
    expect(row.locator("td.reason")).not_to_be_empty()
    assert page.evaluate("document.activeElement.dataset.id") == row.get_attribute("data-id")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save CSV").click()
    first = next(csv.DictReader(io.StringIO(saved.value.path().read_text())))
    assert first["reason"] == row.locator("td.reason").inner_text()


def test_keys_walk_through_the_ranking_and_mark(inspector, visit):
    page = visit(inspector)
    _rank(page, QUERIES)
    ids = _column(page, "id")
    page.locator("#ranking-title").click()  # out of the text
    for key, name in (("j", ids[0]), ("j", ids[1]), ("k", ids[0])):
        page.keyboard.press(key)
        _explained(page, name)
    page.keyboard.press("n")
    expect(page.locator("#model")).to_contain_text("25 normal references")
    expect(page.locator(f'#rows tr[data-id="{ids[0]}"]')).to_contain_text("trusted normal")
    expect(page.locator("#verdict")).to_contain_text("Score")
    page.locator("#find").press_sequentially("jan")  # letters are text in a field
    expect(page.locator("#find")).to_have_value("jan")
    page.goto(page.url)
    page.reload()
    expect(page.locator(f'#rows tr[data-id="{ids[0]}"]')).to_contain_text("trusted normal")


def test_threshold_filter_and_export(inspector, visit):
    page = visit(inspector)
    _rank(page, QUERIES + "CCO =HYPERLINK(0)\n")

    def flagged():
        return sum(text.startswith("flagged") for text in _column(page, "flagged"))

    some = flagged()
    assert 0 < some < 6
    expect(page.locator("#summary")).to_contain_text(f"{some} flagged")
    line = page.locator("#histogram .grip").bounding_box()
    chart = page.locator("#histogram svg").bounding_box()
    page.mouse.move(line["x"] + line["width"] / 2, line["y"] + 20)
    page.mouse.down()
    page.mouse.move(chart["x"] + 5, line["y"] + 20, steps=4)
    page.mouse.up()
    expect(page.locator("#summary")).to_contain_text(re.compile("[56] flagged"))
    assert float(page.locator("#alpha").input_value()) > 0.5
    page.locator("#alpha").fill("0.05")
    page.locator("#alpha").press("Enter")
    expect(page.locator("#summary")).to_contain_text(f"{some} flagged")
    page.locator("#threshold").press("End")
    expect(page.locator("#summary")).to_contain_text(" 0 flagged")
    page.locator("#alpha").fill("0.05")
    page.locator("#alpha").press("Tab")

    page.locator("#find").fill("PYR")
    assert _column(page, "id") == ["pyrene"]
    page.locator("#find").fill("nothing like it")
    expect(page.locator("#none")).to_be_visible()
    page.locator("#find").fill("")
    page.locator("#show").select_option("flagged")
    expect(page.locator("#rows tr")).to_have_count(some)
    page.locator("#show").select_option("all")

    with page.expect_download() as saved:
        page.get_by_role("button", name="Save CSV").click()
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text())))
    assert [row["id"] for row in rows if row["rank"] == "1"] == _column(page, "id")[:1]
    assert len(rows) == 6
    assert "'=HYPERLINK(0)" in {row["id"] for row in rows}
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save JSON").click()
    assert {row["id"] for row in json.loads(saved.value.path().read_text())} >= {"pyrene", "=HYPERLINK(0)"}


def test_drift_in_the_order_of_arrival(inspector, visit, serious_findings):
    page = visit(inspector)
    _rank(page, QUERIES)
    expect(page.locator("#time-part")).to_be_hidden()
    usual = [f"C{'C' * (i % 5)}{'ON'[i % 2]} usual-{i}" for i in range(40)]
    _rank(page, "\n".join([*usual, *(f"FC(F)(F)S(=O)(=O)[Si]{'C' * i} odd-{i}" for i in range(1, 15))]))
    page.get_by_text("Order of arrival").click()
    expect(page.locator("#time circle")).to_have_count(54)
    expect(page.locator("#drift")).to_contain_text("drift was found at graph")
    began = int(re.search(r"began near graph (\d+)", page.locator("#drift").inner_text())[1])
    assert 35 <= began <= 46
    assert serious_findings(page) == []
    _rank(page, "\n".join(usual))
    expect(page.locator("#drift")).to_contain_text("No drift")


def test_a_link_opens_the_same_graph(inspector, visit):
    page = visit(inspector)
    _rank(page, QUERIES)
    _open(page, "pyrene")
    link = page.url
    assert "graph=pyrene" in link
    other = visit(inspector)
    other.goto(link)
    other.reload()
    _explained(other, "pyrene")
    expect(other.locator("#rows tr")).to_have_count(5)
    other.evaluate("() => { location.hash = '#graph=absent'; }")
    expect(other.locator("#message")).to_contain_text("absent")


def test_formats_copied_link_and_mouse_in_a_drawing(inspector, visit):
    page = visit(inspector, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_text("Formats").click()
    expect(page.locator("#formats dl")).to_be_visible()
    page.locator("#format").select_option(".csv")
    _rank(page, "smiles,name\nCCO,ethanol\nCCCCCCCC,octane\n")
    assert sorted(_column(page, "id")) == ["ethanol", "octane"]
    _open(page, "octane")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copy-link")).to_have_text("Copied")
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url

    drawing = page.locator("#pictures svg").first
    drawing.click()
    whole = drawing.get_attribute("viewBox")
    page.mouse.wheel(0, -200)
    expect(drawing).not_to_have_attribute("viewBox", whole)
    near = drawing.get_attribute("viewBox")
    middle = drawing.bounding_box()
    page.mouse.move(middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2)
    page.mouse.down()
    page.mouse.move(middle["x"] + middle["width"] / 2 + 30, middle["y"] + middle["height"] / 2, steps=3)
    page.mouse.up()
    expect(drawing).not_to_have_attribute("viewBox", near)


def test_keyboard_alone(inspector, visit):
    page = visit(inspector)
    expect(page.locator("#model")).to_contain_text(COUNTED)
    page.keyboard.press("Tab")  # the link to the API
    page.keyboard.press("Tab")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.insert_text(QUERIES)
    for _ in range(5):  # the formats, the format, the file, the example, the button
        page.keyboard.press("Tab")
    expect(page.locator("#score")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#rows tr")).to_have_count(5)

    page.locator("th.rank button").focus()
    page.keyboard.press("Enter")
    expect(page.locator("th.rank")).to_have_attribute("aria-sort", "descending")
    expect(page.locator("th.rank button")).to_be_focused()
    page.keyboard.press("Enter")

    page.locator("#rows tr").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#rows tr").nth(1)).to_be_focused()
    name = page.locator("#rows tr").nth(1).get_attribute("data-id")
    page.keyboard.press("Enter")
    _explained(page, name)
    expect(page.locator("#detail")).to_be_focused()
    drawing = page.locator("#pictures svg").first
    drawing.focus()
    box = drawing.get_attribute("viewBox")
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    expect(drawing).not_to_have_attribute("viewBox", box)
    page.keyboard.press("Escape")
    expect(page.locator(f'#rows tr[data-id="{name}"]')).to_be_focused()


def test_phone_width_dark(inspector, visit):
    page = visit(inspector, viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    _rank(page, QUERIES)
    page.locator("#rows tr").first.tap()
    _explained(page, page.locator("#rows tr").first.get_attribute("data-id"))
    expect(page.locator("#map svg")).to_be_visible()
    wide, screen = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= screen == 390
    parts = page.locator("#rows tr:first-child td:visible, #trust, #score")
    for left, right in parts.evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right])"
    ):
        assert 0 <= left < right <= 390
    shade = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", shade))) < 60


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0 1\n1 2\n2 0\n\na b\nb c\n", ["graph 1", "graph 2"]),
        ("graph_id,source,target\nx,0,1\nx,1,2\ny,0,1\n", ["x", "y"]),
        ("name,smiles\nethanol,CCO\nbad,C((\noctane,CCCCCCCC\n", ["ethanol", "octane"]),
        ('{"id": "p", "nodes": 3, "edges": [[0, 1], [1, 2]]}\n{"id": "q", "nodes": 2, "edges": [[0, 1]]}', ["p", "q"]),
        ('[{"nodes": 3,\n "edges": [[0, 1]]}]', ["graph-0"]),
    ],
)
def test_formats(any_domain, visit, text, names):
    page = visit(any_domain)
    _rank(page, text)
    assert sorted(_column(page, "id")) == names
    _open(page, names[-1])
    row = page.locator(f'#rows tr[data-id="{names[-1]}"]')
    nodes = int(row.locator("td.nodes").inner_text())
    assert page.locator("#pictures figure").first.locator("circle.node, circle.touch").count() == nodes


def test_a_dropped_file_and_an_error_that_clears_the_ranking(inspector, visit):
    page = visit(inspector, expected="422")
    expect(page.locator("#model")).to_contain_text(COUNTED)
    page.evaluate(
        """() => {
          const moved = new DataTransfer();
          moved.items.add(new File(["smiles,name\\nCCO,ethanol\\nCCCCCCCC,octane\\n"], "dropped.csv"));
          document.getElementById("input").dispatchEvent(new DragEvent("drop", { dataTransfer: moved, bubbles: true }));
        }"""
    )
    expect(page.locator("#rows tr")).to_have_count(2)
    page.locator("#rows tr").first.click()
    expect(page.locator("#verdict")).to_contain_text("Score")
    page.locator("#text").fill("0 1\n1 2\n")
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("#message")).to_contain_text("must carry what the references carry")
    for part in ("#ranking", "#detail"):
        expect(page.locator(part)).to_be_hidden()
    expect(page.locator("#empty")).to_be_visible()
    page.locator("#text").fill("  ")
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("#message")).to_contain_text("nothing to read")


def test_a_token_is_asked_for(guarded, visit):
    page = visit(guarded, expected="401")
    expect(page.locator("#token-form")).to_be_visible()
    page.locator("#token").fill("a-token-of-this-test")
    page.get_by_role("button", name="Use token").click()
    expect(page.locator("#model")).to_contain_text(COUNTED)
    _rank(page, "CCO ethanol")
    page.get_by_role("link", name="API").click()
    expect(page.locator("h1")).to_contain_text("GraphGlass")
    expect(page.get_by_role("heading", name="POST /v1/score")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(inspector, visit, serious_findings, scheme):
    page = visit(inspector, color_scheme=scheme)
    expect(page.locator("#model")).to_contain_text(COUNTED)
    assert serious_findings(page) == []
    _rank(page, QUERIES)
    _open(page, "caffeine")
    assert serious_findings(page) == []
    page.goto(f"{inspector}docs")
    assert serious_findings(page) == []
