"""Report pages of graphs whose names, labels and columns are markup and script: nothing of it runs in Chromium."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

ROWS, REPORTS = 1000, 5
HIT = "window.hit=1"
PAYLOADS = (
    f"<script>{HIT}</script>", f"<img src=x onerror={HIT}>", f"<svg onload={HIT}>", f'" onmouseover="{HIT}" x="',
    f"' autofocus onfocus='{HIT}", f"</style><script>{HIT}</script>", f"</title><script>{HIT}</script>",
    f"<iframe srcdoc='<script>parent.{HIT}</script>'>", f"javascript:{HIT}", f"<a href=javascript:{HIT}>x</a>",
    f"<!--><script>{HIT}</script>", f"]]><script>{HIT}</script>", "<link rel=stylesheet href=http://hit.invalid/>",
    "<meta http-equiv=refresh content='0;url=http://hit.invalid/'>", "<base href=http://hit.invalid/>",
    f"&lt;script&gt;{HIT}&lt;/script&gt;", f"\\u003cscript\\u003e{HIT}\\u003c/script\\u003e", "=cmd|'/c x'!A1",
    f"<math><mtext></form><form><mglyph><style></math><img src onerror={HIT}>", "url(http://hit.invalid/)",
    f"<details open ontoggle={HIT}>", f"\u202e<script>{HIT}</script>", f"\x00<script>{HIT}</script>", "}<b>{",
)  # fmt: skip

# What no report has, apart from the empty icon that every page names.
FOREIGN = (
    "[onload]", "[onerror]", "[onmouseover]", "[onfocus]", "[ontoggle]", "iframe", "base", "meta[http-equiv=refresh]",
    'link:not([href="data:,"])', 'a[href^="javascript:" i]',
)  # fmt: skip


def hostile(rng: random.Random) -> str:
    """A payload, whole, cut into another one, or between other characters."""
    text = rng.choice(PAYLOADS)
    match rng.randrange(4):
        case 0:
            place = rng.randrange(len(text))
            return text[:place] + rng.choice(PAYLOADS) + text[place:]
        case 1:
            return rng.choice(('"', "'", "`", ">", "-->", "\\", "&quot;", "\n", "</td>", "</svg>")) + text
        case 2:
            return "".join(rng.choice((char.upper(), char.lower())) for char in text)
    return text


def record(rng: random.Random, number: int) -> dict[str, Any]:
    """A small graph of hostile texts, as a line of JSON Lines has them."""
    count = rng.randrange(2, 7)
    nodes = [{"id": f"{hostile(rng)} {i}", "label": rng.choice(("C", hostile(rng)))} for i in range(count)]
    edges = [
        {"source": nodes[i]["id"], "target": nodes[i + 1]["id"], "label": rng.choice(("s", hostile(rng)))}
        for i in range(count - 1)
    ]
    columns = {"note": hostile(rng), "link": hostile(rng), PAYLOADS[number % 3]: hostile(rng), "n": number}
    return {"id": f"{hostile(rng)} {number}", "nodes": nodes, "edges": edges, "columns": columns}


def rows(share: float, folder: Path) -> list[dict[str, Any]]:
    from playwright.sync_api import sync_playwright

    from attack import row

    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    each, reports, hits = max(20, round(ROWS * share / REPORTS)), max(1, round(REPORTS * share)), []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for number in range(reports):
            hits += [f"report {number}: {hit}" for hit in opened(browser, written(folder, number, each), each)]
        browser.close()
    for hit in hits:
        print(f"pages: {hit}", flush=True)
    measured = "a script, handler, frame, link or foreign request is a failure"
    return [row("rows of report pages", each * reports, len(hits), measured, hits=hits)]


def opened(browser: Any, path: Path, count: int) -> list[str]:
    """What went wrong when a page was opened and clicked on."""
    hits: list[str] = []
    own, page = path.as_uri(), browser.new_page()

    def asked(request: Any) -> None:
        if request.url.partition("#")[0] != own and not request.url.startswith("data:"):
            hits.append(f"request {request.url[:100]}")

    page.on("request", asked)
    page.on("dialog", lambda dialog: (hits.append("a dialog"), dialog.dismiss()))
    page.goto(own)
    shown = page.locator("table.sortable tbody tr").count()
    for name in ("button", "summary", "table.sortable a"):
        for item in page.locator(name).all()[:12]:
            item.dispatch_event("click")
    page.mouse.move(300, 300)
    found = page.evaluate(f"[window.hit, document.querySelectorAll('{','.join(FOREIGN)}').length]")
    page.close()
    if found != [None, 0]:
        hits.append(f"window.hit and elements: {found}")
    if shown != count:
        hits.append(f"{shown} of {count} rows are shown")
    return hits


def written(folder: Path, number: int, count: int) -> Path:
    """A report about hostile graphs against references of which some are as hostile."""
    from graphglass import GraphGlass, read_graphs
    from graphglass.report.page import write_report

    rng = random.Random(number)
    source, path = folder / f"{number}.jsonl", folder / f"report-{number}.html"
    source.write_text("".join(json.dumps(record(rng, i)) + "\n" for i in range(count + 20)))
    graphs = read_graphs(source, keep="all")
    detector = GraphGlass().fit(graphs[:20])
    write_report(detector, detector.score_table(graphs[20:]), path, about={hostile(rng): hostile(rng)})
    return path
