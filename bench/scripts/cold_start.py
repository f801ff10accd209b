"""How soon a person sees a ranking: a service that has just started, and 800 molecules opened in Chromium.

    python bench/scripts/cold_start.py --output bench/results/benchmarks/cold-start.json

Compiled kernels are cached; the model has 400 molecules that RDKit brings. Processor seconds of the service and of its
worker process count beside the clock, which other load on the machine slows down.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import expect, sync_playwright
from rdkit import RDConfig

from graphglass import GraphGlass, read_graphs

PATIENCE = 300_000  # milliseconds
ADDRESS = "http://127.0.0.1:8767/"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("bench/results/benchmarks/cold-start.json"))
    options = parser.parse_args()
    expect.set_options(timeout=PATIENCE)
    lines = Path(RDConfig.RDDataDir, "NCI", "first_5K.smi").read_text().splitlines()
    molecules = [line.split()[0] for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        model, file = Path(folder) / "model", Path(folder) / "new.smi"
        GraphGlass().fit(read_graphs(molecules[:400], format="smi")).save(model)
        file.write_text("".join(f"{smiles} molecule-{i}\n" for i, smiles in enumerate(molecules[2200:3000])))
        found = measure(model, file)
    report = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "load_average": round(os.getloadavg()[0], 1),
        **found,
    }
    options.output.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def measure(model: Path, file: Path) -> dict[str, Any]:
    """Seconds by the clock, and of the processor, from opening the file to each sign on the page."""
    serve = [Path(sys.executable).with_name("glass"), "serve", str(model), "--port", "8767"]
    server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"{ADDRESS}readyz")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(ADDRESS)
            expect(page.locator("#model")).to_contain_text("references")
            found: dict[str, Any] = {}

            def note(what: str) -> None:
                found[what] = {
                    "seconds": round(time.perf_counter() - start, 2),
                    "processor_seconds": round(processor_seconds(server.pid) - before, 2),
                }

            start, before = time.perf_counter(), processor_seconds(server.pid)
            page.locator("#file").set_input_files(file)
            expect(page.locator("#progress")).to_be_visible()
            note("sign of work")
            expect(page.locator("#rows tr").first).to_be_visible()
            note("ranked")
            found["graphs"] = page.locator("#rows tr").count()
            start, before = time.perf_counter(), processor_seconds(server.pid)
            page.locator("#rows tr").first.click()
            expect(page.locator("#verdict")).to_contain_text("Score")
            note("first explanation")
            browser.close()
    finally:
        server.terminate()
        server.wait()
    return found


def wait_for(address: str) -> None:
    for _ in range(3000):
        try:
            urllib.request.urlopen(address)
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{address} does not answer.")


def processor_seconds(process: int) -> float:
    """Of a process and of its children that still run."""
    lists = Path(f"/proc/{process}/task").glob("*/children")  # of every thread
    children = [child for path in lists for child in path.read_text().split()]
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK") + sum(processor_seconds(int(child)) for child in children)


if __name__ == "__main__":
    main()
