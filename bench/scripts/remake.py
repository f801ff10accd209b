"""Remake every record of GraphGlass with the present code, and then every page and figure.

    python bench/scripts/remake.py --data DATA            # records, then pages; run it again after an interruption
    python bench/scripts/remake.py --pages                # the pages alone

Records whose fingerprint is that of the present code are kept, all others of GraphGlass are dropped and measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from glassbench.fingerprint import fingerprint

RESULTS = Path("bench/results")
METHOD = "graphglass"
SMALL = "MUTAG,PROTEINS,ENZYMES,DHFR,BZR,COX2,AIDS,IMDB-BINARY"
# Folder of results, and the command that fills it.
BENCHMARKS = {
    "single/minority": "single --methods graphglass",
    "single/minority-flip": "single --methods graphglass --flip",
    "single/good-d": "single --methods graphglass --protocol good-d",
    "single/good-d-flip": f"single --methods graphglass --protocol good-d --flip --datasets {SMALL}",
    "suite": "suite --methods graphglass",
    "known/full": "known --methods graphglass --seeds 2",
    "known/limit-400": "known --methods graphglass --seeds 2 --limit 400",
    "anomaly-share/minority": f"anomaly-share --methods graphglass --seeds 2 --datasets {SMALL}",
    "private-sketch/minority": "private --methods graphglass --seeds 1",
    "private-sketch/minority-flip": "private --methods graphglass --seeds 1 --flip",
    "shift": "shift --seeds 3",
    "contaminated": "contaminated --methods graphglass,graphglass-trimmed --seeds 1",
    "review": "review --seeds 3",
    "review-draws": "review --seeds 12 --rules fixed,review --datasets BZR,IMDB-BINARY",
}
SCRIPTS = ("quality.py tasks --seeds 0 3", "quality.py few", "quality.py zero-shot", "quality.py edges", "planted.py")
PAGES = (
    "glassbench table bench/results --headline --into README.md",
    "glassbench table bench/results/single --summary --into bench/docs/benchmark.md",
    "glassbench table bench/results/known --into bench/docs/quality.md",
    "glassbench table bench/results/private-sketch/minority --summary --into docs/privacy.md",
    "glassbench table bench/results/pretrained/minority --into src/graphglass/glass/pretrained/README.md",
    "glassbench plot bench/results/authors -o docs/images",
    "glassbench plot bench/results/known/limit-400 -o docs/images",
    "glassbench plot bench/results/anomaly-share/minority -o docs/images",
    "reproduction_page.py", "baselines_page.py", "quality.py page",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("GRAPHGLASS_DATA"), help="the data root")
    parser.add_argument("--pages", action="store_true", help="only the pages and figures")
    options = parser.parse_args()
    if not options.pages:
        code = fingerprint(METHOD)
        work = [f"glassbench {command} -o {RESULTS / folder}" for folder, command in BENCHMARKS.items()]
        work += [f"{script} --data {options.data}" if "quality" in script else script for script in SCRIPTS]
        dropped = sum(drop_other_code(path, code) for path in sorted(RESULTS.rglob(f"{METHOD}.jsonl")))
        dropped += sum(drop_other_code(path, code) for path in sorted((RESULTS / "quality").glob("*.jsonl")))
        print(f"{dropped} records of other code dropped; the fingerprint is {code}.", flush=True)
        run_all(work, options.data)
    run_all(PAGES, options.data)


def drop_other_code(path: Path, code: str | None) -> int:
    """Keep the lines of a file that carry this fingerprint; how many went."""
    lines = path.read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line).get("fingerprint") == code]
    if len(kept) < len(lines):
        draft = path.with_suffix(".draft")
        draft.write_text("".join(kept))
        draft.replace(path)
    return len(lines) - len(kept)


def run_all(work: tuple[str, ...] | list[str], data: Path | None) -> None:
    """One command after another, each in a process; the first that fails ends the run."""
    environment = os.environ | ({} if data is None else {"GRAPHGLASS_DATA": str(data)})
    for number, line in enumerate(work, start=1):
        program, *arguments = line.split()
        start = (
            ["-c", "from glassbench.cli import main; main()"]
            if program == "glassbench"
            else [f"bench/scripts/{program}"]
        )
        print(f"[{number}/{len(work)}] {line}", flush=True)
        before = time.perf_counter()
        subprocess.run([sys.executable, *start, *arguments], env=environment, check=True)
        print(f"[{number}/{len(work)}] {time.perf_counter() - before:.0f} s", flush=True)


if __name__ == "__main__":
    main()
