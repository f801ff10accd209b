"""Draw the pictures that show a page of GraphGlass: ``python docs/pictures.py``. It needs Chromium."""

import os
import runpy
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parent


def explained_anomaly() -> None:
    """The first explanation of the report that examples/molecules.py writes."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.chdir(folder)
        runpy.run_path(str(DOCS.parent / "examples" / "molecules.py"), run_name="__main__")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 980, "height": 900}, device_scale_factor=1.5)
        page.goto(f"file://{folder}/candidates.html")
        page.locator("#graph-1").screenshot(path=DOCS / "images" / "explained-anomaly.png")
        browser.close()
        os.chdir(DOCS)


if __name__ == "__main__":
    explained_anomaly()
