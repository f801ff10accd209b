"""Every attack on GraphGlass in one run: about 15 minutes on two quiet cores.

    python bench/scripts/attack.py                          # all parts; writes the records and the tables of the page
    python bench/scripts/attack.py --share 0.1              # a tenth of the counts and seconds; nothing is recorded
    python bench/scripts/attack.py --only load,kills        # some parts; their rows of the record are replaced

| part       | what is done                                                                                         |
|------------|------------------------------------------------------------------------------------------------------|
| fuzz       | damaged files, objects, models, encoders, marks, summaries, ledgers and requests (`fuzz.py`)         |
| load       | 500 clients for 120 seconds, a tenth of the requests malformed, against a service on 127.0.0.1        |
| kills      | kill -9 at 100 random moments of fit, save, references add, review and a private release             |
| neighbours | files that differ in one record, in every format a release reads: how far the sum moves              |
| releases   | many releases of two neighbouring files through the command line: the epsilon that an attack proves  |
| pages      | 1,000 rows of hostile names, labels and columns in report pages, opened in Chromium                  |

Each part gives rows (what, tried, failures, and what was measured). The run fails if a row has a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
from glassbench.table_model import insert

RECORD = Path("bench/results/security/attack.json")
PAGE = Path("docs/security.md")
PARTS = ("fuzz", "load", "kills", "neighbours", "releases", "pages")


def run_part(part: str, share: float, folder: Path) -> list[dict[str, Any]]:
    """The rows of one part."""
    import attack_kills
    import attack_load
    import attack_pages
    import attack_releases

    parts: dict[str, Callable[[float, Path], list[dict[str, Any]]]] = {
        "fuzz": fuzz_rows,
        "load": attack_load.rows,
        "kills": attack_kills.rows,
        "neighbours": attack_releases.neighbour_rows,
        "releases": attack_releases.release_rows,
        "pages": attack_pages.rows,
    }
    return parts[part](share, folder)


def fuzz_rows(share: float, folder: Path) -> list[dict[str, Any]]:
    """`fuzz.py` has its own record and table; here its sums."""
    import fuzz

    output = fuzz.RECORD if share == 1.0 else folder / "fuzz.json"
    command = [sys.executable, str(Path(__file__).with_name("fuzz.py")), "--output", str(output)]
    ended = subprocess.run([*command, "--inputs", str(round(500 * share))], check=False)
    if not output.is_file():
        return [row("damaged inputs", 0, 1, f"fuzz.py ended with code {ended.returncode}")]
    return [fuzz_sums(json.loads(output.read_text()))]


def fuzz_sums(record: dict[str, Any]) -> dict[str, Any]:
    """All kinds of a record of `fuzz.py` in one row."""
    slowest = max(line["slowest_s"] for line in record["rows"])
    measured = f"{len(record['rows'])} kinds, slowest {slowest:.2f} CPU s"
    return row("damaged inputs", record["inputs"], len(record["findings"]), measured)


def row(what: str, tried: int, failures: int, measured: str, **more: Any) -> dict[str, Any]:
    """One line of the table; `more` is for the record alone."""
    return {"what": what, "tried": tried, "failures": failures, "measured": measured, **more}


def table(record: dict[str, Any]) -> str:
    """The Markdown table of a record."""
    lines = ["| part | what | tried | failures | measured |", "|---|---|---:|---:|---|"]
    for part in PARTS:
        for line in record.get(part, {}).get("rows", []):
            lines.append(f"| {part} | {line['what']} | {line['tried']:,} | {line['failures']} | {line['measured']} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--share", type=float, default=1.0, help="of all counts and seconds; below 1 nothing is recorded"
    )
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--table", action="store_true", help="only write the table of the page")
    options = parser.parse_args()
    if options.table:
        insert(table(json.loads(RECORD.read_text())), PAGE, "attack")
        return
    failures = 0
    for part in options.only.split(","):
        start, cpu = time.monotonic(), os.times()
        with tempfile.TemporaryDirectory() as place:
            os.environ["GRAPHGLASS_CACHE"] = str(Path(place) / "cache")
            rows = run_part(part, options.share, Path(place))
        used = os.times()
        seconds = sum(used[:4]) - sum(cpu[:4])
        for line in rows:
            print(f"{part}: {line['what']}: {line['tried']:,} tried, {line['failures']} failed; {line['measured']}")
        print(f"{part}: {time.monotonic() - start:.0f} s, {seconds:.0f} CPU s", flush=True)
        failures += sum(line["failures"] for line in rows)
        if options.share == 1.0:
            record = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
            record[part] = {"python": sys.version.split()[0], "cpu_seconds": round(seconds), "rows": rows}
            record = {name: record[name] for name in PARTS if name in record}
            RECORD.write_text(json.dumps(record, indent=1) + "\n")
            insert(table(record), PAGE, "attack")
    if failures:
        raise SystemExit(f"{failures} attacks succeeded.")
    print("No attack succeeded.")


if __name__ == "__main__":
    main()
