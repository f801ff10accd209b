"""What a person does with the inspector, in a real browser."""

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


def _rank(page, text):
    page.locator("#text").fill(text)
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("#rows tr").first).to_be_visible()


def test_load_sort_open_and_trust(inspector, visit, tmp_path):
    page = visit(inspector)
    expect(page.locator("#model")).to_contain_text(COUNTED)
    (tmp_path / "queries.smi").write_text(QUERIES)
    page.locator("#file").set_input_files(tmp_path / "queries.smi")
    expect(page.locator("#rows tr")).to_have_count(5)
    expect(page.locator("#left-out")).to_contain_text("1 left out")
    expect(page.locator("#left-out li")).to_contain_text("torn")
    scores = [float(text.replace("−", "-")) for text in _column(page, "score")]
    assert scores == sorted(scores, reverse=True)

    page.get_by_role("button", name="nodes").click()
    assert [int(text) for text in _column(page, "nodes")] == [16, 15, 14, 7, 4]
    page.get_by_role("button", name="nodes").click()
    assert [int(text) for text in _column(page, "nodes")] == [4, 7, 14, 15, 16]
    expect(page.locator("th.nodes")).to_have_attribute("aria-sort", "ascending")

    page.locator('#rows tr[data-id="caffeine"]').click()
    _explained(page, "caffeine")
    expect(page.locator("#pictures figure")).to_have_count(4)
    assert page.locator("#pictures figure").first.locator("circle:not(.under)").count() == 14
    assert page.locator("#pictures circle.hot").count() > 0
    assert page.locator("#bars .bar").count() >= 8
    assert page.locator("#map .reference").count() == 24
    assert page.locator("#fields li").count() >= 1

    before = _score(page, "caffeine")
    page.get_by_role("button", name="Mark as trusted normal").click()
    expect(page.locator("#model")).to_contain_text("25 normal references")
    expect(page.locator("#verdict")).to_contain_text("was")
    assert _score(page, "caffeine") < before
    expect(page.locator('#rows tr[data-id="caffeine"] td.change')).to_have_class(re.compile("fell"))
    expect(page.locator('#rows tr[data-id="caffeine"]')).to_contain_text("trusted normal")
    expect(page.locator("#map .reference")).to_have_count(25)

    page.get_by_role("button", name="Take back").click()
    expect(page.locator("#model")).to_contain_text(COUNTED)
    expect(page.get_by_role("button", name="Mark as trusted normal")).to_be_enabled()
    assert _score(page, "caffeine") == pytest.approx(before, abs=1e-4)


def test_keyboard_alone(inspector, visit):
    page = visit(inspector)
    expect(page.locator("#model")).to_contain_text(COUNTED)
    page.keyboard.press("Tab")  # the link to the API
    page.keyboard.press("Tab")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.insert_text(QUERIES)
    for _ in range(5):  # the formats, the format, the level, the file, the button
        page.keyboard.press("Tab")
    expect(page.locator("#score")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#rows tr")).to_have_count(5)

    page.locator("#score").focus()
    page.keyboard.press("Tab")  # what was left out
    page.keyboard.press("Tab")
    expect(page.locator("th.rank button")).to_be_focused()
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
    assert drawing.get_attribute("viewBox") != box
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
    for part in page.locator("#rows tr:first-child td:visible, #trust, #score").all():
        box = part.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    shade = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", shade))) < 60


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0 1\n1 2\n2 0\n\na b\nb c\n", ["graph 1", "graph 2"]),
        ("graph_id,source,target\nx,0,1\nx,1,2\ny,0,1\n", ["x", "y"]),
        ('{"id": "p", "nodes": 3, "edges": [[0, 1], [1, 2]]}\n{"id": "q", "nodes": 2, "edges": [[0, 1]]}', ["p", "q"]),
        ('[{"nodes": 3,\n "edges": [[0, 1]]}]', ["graph 1"]),
        ("CCO same\nCCCCCCN same", ["same", "same (2)"]),
    ],
)
def test_formats(any_domain, visit, text, names):
    page = visit(any_domain)
    _rank(page, text)
    assert sorted(_column(page, "id")) == names
    page.locator(f'#rows tr[data-id="{names[-1]}"]').click()
    _explained(page, names[-1])
    row = page.locator(f'#rows tr[data-id="{names[-1]}"]')
    nodes = int(row.locator("td.nodes").inner_text())
    assert page.locator("#pictures figure").first.locator("circle:not(.under)").count() == nodes


def test_a_dropped_file_and_a_refusal(inspector, visit):
    page = visit(inspector, expected="422")
    expect(page.locator("#model")).to_contain_text(COUNTED)
    page.evaluate(
        """() => {
          const moved = new DataTransfer();
          moved.items.add(new File(["CCO ethanol\\nCCCCCCCC octane\\n"], "dropped.smi"));
          document.getElementById("input").dispatchEvent(new DragEvent("drop", { dataTransfer: moved, bubbles: true }));
        }"""
    )
    expect(page.locator("#rows tr")).to_have_count(2)
    page.locator("#text").fill("0 1\n1 2\n")
    page.locator("#format").select_option("auto")
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("#message")).to_contain_text("must carry what the references carry")
    page.locator("#text").fill("  ")
    page.get_by_role("button", name="Rank", exact=True).click()
    expect(page.locator("#message")).to_contain_text("Paste or open some graphs first")


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
