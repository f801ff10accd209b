"""Draw the pictures that show pages of GraphGlass: ``python docs/pictures.py``. It needs Chromium and the datasets.

``--all FOLDER`` writes every combination of page, domain, width and colour scheme there instead, to look at.
"""

import argparse
import contextlib
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import uvicorn
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import notebooks
from graphglass import GraphGlass, load_dataset, read_graphs, write_json_lines
from graphglass.graphs.graph_set import GraphSet
from graphglass.report.page import write_report
from graphglass.serve.app import create_app
from graphglass.serve.middleware import LOOPBACK_NAMES
from graphglass.serve.service import Service

DOCS = Path(__file__).parent
DATASETS = {"proteins": "PROTEINS", "social": "IMDB-BINARY"}
DOMAINS = ("molecules", "proteins", "social", "logs")
WIDTHS = {"desktop": {"width": 1200, "height": 850}, "phone": {"width": 390, "height": 844}}
# What the pages of docs/ show: page, domain, width, scheme.
SHOWN = (
    ("inspector", "molecules", "desktop", "light"),
    ("inspector", "social", "phone", "dark"),
    ("inspector", "logs", "desktop", "dark"),
    ("review", "molecules", "desktop", "light"),
    ("report", "logs", "desktop", "light"),
)


def main() -> None:
    """Draw what the docs show, or everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="FOLDER")
    folder = parser.parse_args().all
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as work:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        if folder is None:
            explained_anomaly(browser)
        for domain in DOMAINS:
            pages(browser, domain, Path(work) / domain, folder)
        browser.close()


def explained_anomaly(browser: Browser) -> None:
    """The first explanation of the report that examples/molecules.ipynb writes."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        notebooks.run(notebooks.EXAMPLES / "molecules.ipynb")
        page = browser.new_page(viewport={"width": 980, "height": 900}, device_scale_factor=1.5)
        page.goto(f"file://{folder}/candidates.html")
        path = DOCS / "images" / "explained-anomaly.png"
        page.locator("#graph-1").screenshot(path=path)
        shrink(path)


def pages(browser: Browser, domain: str, work: Path, folder: Path | None) -> None:
    """Report, inspector and review of one domain."""
    work.mkdir()
    if domain in DATASETS:
        normals, queries = split(DATASETS[domain])
    else:
        normals, queries = molecules(work) if domain == "molecules" else log_sessions()
    detector = GraphGlass().fit(normals)
    detector.save(work / "model")
    write_report(detector, detector.score_table(queries), work / "report.html")
    file = work / ("candidates.csv" if domain == "molecules" else "queries.jsonl")
    if domain != "molecules":
        write_json_lines(queries, file)
    with serving(work / "model") as address:
        for width, viewport in WIDTHS.items():
            for scheme in ("light", "dark"):
                for name in ("report", "inspector", "review"):
                    if folder is None and (name, domain, width, scheme) not in SHOWN:
                        continue
                    page = browser.new_page(viewport=viewport, color_scheme=scheme, device_scale_factor=1)
                    page.set_default_timeout(300_000)
                    if name == "report":
                        page.goto((work / "report.html").as_uri())
                    else:
                        page.goto(address)
                        page.locator("#file").set_input_files(file)
                        if name == "review":
                            page.locator("#review-start").click()
                            page.locator('#verdicts [data-verdict="anomaly"]').click()
                            page.locator("#review-found button").wait_for()
                        else:
                            page.locator("#rows tr").first.click()
                        page.locator("#pictures figure").first.wait_for()
                        page.locator("#map circle").first.wait_for()
                        page.mouse.move(0, 0)
                    target = folder or DOCS / "images"
                    target.mkdir(parents=True, exist_ok=True)
                    page.wait_for_timeout(300)
                    path = target / f"{name}-{domain}-{width}-{scheme}.png"
                    page.screenshot(path=path, full_page=folder is not None or name == "inspector")
                    page.close()
                    shrink(path)


def shrink(path: Path) -> None:
    """Keep 64 colours, which is enough for flat drawings and less than half the bytes."""
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def split(dataset: str) -> tuple[GraphSet, GraphSet]:
    """A hundred graphs of the larger class, and eight more with four of the other."""
    graphs = load_dataset(dataset)
    classes, counts = np.unique(graphs.labels, return_counts=True)
    usual, other = (np.flatnonzero(graphs.labels == classes[i]) for i in (counts.argmax(), counts.argmin()))
    return graphs[usual[:100]].without_labels(), graphs[np.concatenate([usual[100:108], other[:4]])].without_labels()


def molecules(work: Path) -> tuple[GraphSet, GraphSet]:
    """The tables of examples/molecules.ipynb."""
    with contextlib.chdir(work), contextlib.redirect_stdout(None):
        notebooks.run(notebooks.EXAMPLES / "molecules.ipynb")
    return read_graphs(work / "drugs.csv"), read_graphs(work / "candidates.csv", keep="all")


def log_sessions() -> tuple[GraphSet, GraphSet]:
    """The sessions of examples/logs.ipynb."""
    with contextlib.redirect_stdout(None):
        names = notebooks.run(notebooks.EXAMPLES / "logs.ipynb")
    return read_graphs(names["normal"]), read_graphs(names["new"][:9] + names["odd"])


@contextlib.contextmanager
def serving(model: Path) -> Iterator[str]:
    """The address of a service that runs meanwhile."""
    listener = socket.create_server(("127.0.0.1", 0))
    application = create_app(Service(model), token=None, hosts=LOOPBACK_NAMES)
    server = uvicorn.Server(uvicorn.Config(application, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    server.should_exit = True
    thread.join(30)
    listener.close()


if __name__ == "__main__":
    main()
