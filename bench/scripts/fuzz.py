"""Damaged files and requests against every reader: what was tried and how it ended.

    python bench/scripts/fuzz.py                          # some minutes; writes the record and the table of the page
    python bench/scripts/fuzz.py --kind model:document --only 17    # repeat one input and show its traceback
    python bench/scripts/fuzz.py --kind request --update  # only some kinds; their rows of the record are replaced
    python bench/scripts/fuzz.py --table                  # only the table, from the record

Every input follows from a seed, its kind and its number. Inputs are read in a process with 8 GB of address space and 60
seconds for each. *Clear error* is an error of GraphGlass, or a 4xx answer. *Raw* is any other exception, or a 5xx
answer; *crash* and *timeout* end the process. The run fails if there is a raw exception, a crash or a timeout.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
import numpy as np

import fuzz_samples as samples
from glassbench.table_model import insert
from graphglass import GraphGlass, ReferenceDetector, read_graphs
from graphglass.errors import GlassError
from graphglass.glass import pretrained
from graphglass.graphs.read import read_report
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.privacy.release.ledger import Ledger

ADDRESS_SPACE = 8 << 30
SECONDS = 60
RECORD = Path("bench/results/security/fuzz.json")
PAGE = Path("docs/security.md")
OUTCOMES = ("accepted", "clear error", "raw", "crash", "timeout")
FILES = (
    "m.smi", "m.csv", "e.csv", "e.tsv", "m.sdf", "g.jsonl", "g.jsonl.gz", "g.parquet", "e.parquet", "g.graphml",
    "g.gexf", "g.gml", "t.zip",
)  # fmt: skip
MODELS = ("model", "flow-model", "paper-model")
MODEL_PARTS = ("bytes", "manifest", "header", "document", "arrays")
PATHS = ("/v1/score", "/v1/explain", "/v1/references", "/v1/anomalies")
ENCODERS = pretrained.FOLDER
BODY = {
    "graphs": [
        {"id": "a", "nodes": 4, "edges": [[0, 1], [1, 2], [2, 3]]},
        {"id": "b", "directed": True, "nodes": [{"id": 0, "label": "C", "attributes": {"q": 0.5}}, {"id": 1}],
         "edges": [{"source": 0, "target": 1, "label": "s", "attributes": {"w": 2}}]},
    ],
    "smiles": ["CCO", {"smiles": "c1ccccc1", "id": "c"}],
}  # fmt: skip


def kinds(inputs: int) -> dict[str, int]:
    """How many inputs of every kind are tried."""
    return (
        {f"file:{name}": inputs for name in FILES}
        | {f"object:{name}": 2 * inputs for name in ("networkx", "HeteroData")}
        | {f"{model}:{part}": inputs // 4 for model in MODELS for part in MODEL_PARTS}
        | {"model:reading": 2 * inputs, "review:marks": 2 * inputs}
        | {f"pretrained:{part}": 2 * inputs // 5 for part in MODEL_PARTS}
        | {f"summary:{part}": inputs // 2 for part in ("bytes", "document", "arrays")}
        | {f"ledger:{part}": inputs // 2 for part in ("bytes", "head", "entries")}
        | {f"request:{name}": inputs for name in ("body", "file")}
    )


class Worker:
    """Reads damaged inputs; lives in its own process."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.folder, self.scratch = folder, scratch
        self.queries = {
            "flow-model": read_graphs(folder / "graphs" / "g.jsonl"),
            "model": read_graphs(["CCO", "c1ccncc1", "CC(=O)OC"], format="smi"),
        }
        self.queries["paper-model"] = self.queries["model"]
        self._client: Any = None
        self._detector: GraphGlass | None = None
        for name in MODELS:  # libraries load now, not during the first input
            ReferenceDetector.load(folder / name).decision_function(self.queries[name])

    def run(self, kind: str, number: int, seed: int) -> str:
        """Read one input; returns ``accepted``, raises what the reader raised."""
        rng = random.Random(f"{seed}|{kind}|{number}")
        group, _, part = kind.partition(":")
        own = {"file", "object", "summary", "ledger", "request", "review", "pretrained"}
        return getattr(self, group)(rng, part) if group in own else self.model(rng, part, group)

    def file(self, rng: random.Random, part: str) -> str:
        path = self.scratch / part
        path.write_bytes(samples.damaged_file(rng, self.folder / "graphs" / part))
        result = read_report(path)
        return "accepted" if len(result.graphs) else "clear error"

    def model(self, rng: random.Random, part: str, name: str) -> str:
        path = samples.copy_sample(self.folder / name, self.scratch / "model")
        samples.damage_model(rng, path, part)
        detector, queries = ReferenceDetector.load(path), self.queries[name]
        detector.decision_function(queries)
        detector.explain(queries[0])
        if part == "reading":
            reading = detector.references_.graphs.reading
            detector.decision_function(read_graphs(self.folder / "graphs" / "m.csv", reading=reading))
        return "accepted"

    def object(self, rng: random.Random, part: str) -> str:
        make = samples.odd_networkx if part == "networkx" else samples.odd_hetero
        result = read_report([make(rng) for _ in range(rng.randrange(1, 4))])
        return "accepted" if len(result.graphs) else "clear error"

    def review(self, rng: random.Random, part: str) -> str:
        marks = self.scratch / "marks.jsonl"
        content = samples.marks(rng, self.queries["model"].ids)
        marks.write_bytes(samples.damaged_bytes(rng, content) if rng.random() < 0.7 else content)
        if self._detector is None:
            self._detector = GraphGlass.load(self.folder / "model")
        self._detector.review(self.queries["model"], path=marks).next()
        return "accepted"

    def pretrained(self, rng: random.Random, part: str) -> str:
        folder = samples.copy_sample(ENCODERS / "mol", self.scratch / "mol")
        samples.damage_model(rng, folder, part)
        pretrained.FOLDER = self.scratch
        pretrained.load_pretrained("mol")
        return "accepted"

    def summary(self, rng: random.Random, part: str) -> str:
        content = samples.damaged_summary(rng, (self.folder / "s.summary").read_bytes(), part)
        (self.scratch / "s").write_bytes(content)
        summary = PrivateSummary.load(self.scratch / "s")
        assert summary.statement.isprintable() or "\n" in summary.statement
        summary.scores(self.queries["model"])
        return "accepted"

    def ledger(self, rng: random.Random, part: str) -> str:
        path = samples.copy_sample(self.folder / "ledger", self.scratch / "ledger") / "l.db"
        samples.damage_ledger(rng, path, part)
        ledger = Ledger(path)
        for name in ledger.datasets():
            ledger.budget(name)
            for charge in ledger.releases(name):
                ledger.artifact(charge.release)
        ledger.check(PrivateSummary.load(self.folder / "s.summary"))
        return "accepted"

    def request(self, rng: random.Random, part: str) -> str:
        client = self.client()
        if part == "file":
            name = rng.choice(FILES)
            content = samples.damaged_file(rng, self.folder / "graphs" / name)
            shown = rng.choice((name, name, "", "x.bin"))
            answer = client.post("/v1/read", params={"name": shown}, content=content,
                                 headers={"content-type": "application/octet-stream"})  # fmt: skip
        else:
            content = json.dumps(samples.damaged_value(rng, BODY, 0.08)).encode()
            if rng.random() < 0.3:
                content = samples.damaged_bytes(rng, content)
            path = rng.choice(PATHS[:2] * 4 + PATHS[2:])
            answer = client.post(path, content=content, headers={"content-type": "application/json"})
        if answer.status_code >= 500:
            raise RuntimeError(f"{answer.status_code} {answer.text[:200]}")
        return "accepted" if answer.status_code < 300 else "clear error"

    def client(self) -> Any:
        """A service around a copy of the model; one for all requests of this process."""
        if self._client is None:
            from fastapi.testclient import TestClient

            from graphglass.serve.app import create_app
            from graphglass.serve.service import Service

            served = samples.copy_sample(self.folder / "model", self.scratch / "served")
            self._client = TestClient(create_app(Service(served)), raise_server_exceptions=False)
            self._client.__enter__()
        return self._client


def work(pipe: Any, folder: Path, seed: int) -> None:
    """In the worker's process: answer (outcome, detail, processor seconds) for every (kind, number)."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["GRAPHGLASS_CACHE"] = str(folder / "cache")
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    quiet()
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        worker = Worker(folder, Path(scratch))
        pipe.send("ready")
        while True:
            try:
                kind, number = pipe.recv()
            except EOFError:
                return
            start, detail = time.process_time(), ""
            try:
                outcome = worker.run(kind, number, seed)
            except GlassError:
                outcome = "clear error"
            except BaseException as error:
                outcome = "raw"
                frames = traceback.extract_tb(error.__traceback__)
                detail = f"{type(error).__name__}: {error}"[:300] + f" ({frames[-1].filename}:{frames[-1].lineno})"
            pipe.send((outcome, detail, time.process_time() - start))


def quiet() -> None:
    """Readers log what they skip; here that is every input."""
    import logging

    logging.disable(logging.CRITICAL)
    from rdkit import RDLogger

    RDLogger.DisableLog("rdApp.*")


class Supervisor:
    """Starts the worker, asks it, and replaces it when it dies or hangs."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed, self.process = folder, seed, None

    def ask(self, kind: str, number: int) -> tuple[str, str, float]:
        if self.process is None:
            self.start()
        try:
            self.pipe.send((kind, number))
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()
            outcome, detail = "timeout", f"no answer after {SECONDS} s"
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            outcome, detail = "crash", signal.Signals(-code).name if code < 0 else f"exit code {code}"
        self.stop()
        return outcome, detail, float(SECONDS)

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, self.folder, self.seed))
        self.process.start()
        theirs.close()
        self.pipe.recv()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def fuzz(folder: Path, inputs: int, seed: int, wanted: str | None, show: Callable[[str], None]) -> dict[str, Any]:
    """Try all kinds; the record of the run."""
    supervisor = Supervisor(folder, seed)
    rows, findings, start = [], [], time.monotonic()
    for kind, count in kinds(inputs).items():
        if wanted is not None and not kind.startswith(wanted):
            continue
        counts: Counter[str] = Counter()
        slowest = 0.0
        for number in range(count):
            outcome, detail, seconds = supervisor.ask(kind, number)
            counts[outcome] += 1
            slowest = max(slowest, seconds)
            if detail:
                findings.append({"kind": kind, "number": number, "outcome": outcome, "detail": detail})
                show(f"{kind} {number}: {outcome}: {detail}")
        rows.append(
            {"kind": kind, "inputs": count, **{name: counts[name] for name in OUTCOMES}, "slowest_s": round(slowest, 2)}
        )
        show(f"{kind}: {dict(counts)}, slowest {slowest:.2f} s, {time.monotonic() - start:.0f} s so far")
    supervisor.stop()
    return {
        "seed": seed,
        "address_space_gb": ADDRESS_SPACE >> 30,
        "seconds_per_input": SECONDS,
        "python": sys.version.split()[0],
        "inputs": sum(row["inputs"] for row in rows),
        "rows": rows,
        "findings": findings,
    }


def updated(before: dict[str, Any], some: dict[str, Any]) -> dict[str, Any]:
    """A record with the rows and findings of another run in place of its own."""
    new = {row["kind"]: row for row in some["rows"]}
    both = {row["kind"]: row for row in before["rows"]} | new
    rows = [both[kind] for kind in kinds(0) if kind in both]
    findings = [item for item in before["findings"] if item["kind"] not in new] + some["findings"]
    return {**before, "inputs": sum(row["inputs"] for row in rows), "rows": rows, "findings": findings}


def table(record: dict[str, Any]) -> str:
    """The Markdown table of a record."""
    tried = (
        f"{record['inputs']:,} inputs, seed {record['seed']}, {record['address_space_gb']} GB of address space, "
        f"{record['seconds_per_input']} seconds per input:"
    )
    head = "| input | tried | accepted | clear error | raw exception | crash | timeout | slowest, CPU s |"
    lines = [tried, "", head, "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for row in record["rows"]:
        counts = " | ".join(f"{row[name]:,}" for name in OUTCOMES)
        lines.append(f"| `{row['kind']}` | {row['inputs']:,} | {counts} | {row['slowest_s']:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=RECORD)
    parser.add_argument("--inputs", type=int, default=500, help="inputs of every graph format; others follow from it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", help="only kinds that start with this; nothing is recorded")
    parser.add_argument("--only", type=int, help="only this number of --kind, in this process")
    parser.add_argument("--update", action="store_true", help="with --kind: replace these rows of the record")
    parser.add_argument("--table", action="store_true", help="only write the table of the page")
    options = parser.parse_args()
    if options.table:
        insert(table(json.loads(options.output.read_text())), PAGE, "fuzz")
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["GRAPHGLASS_CACHE"] = str(folder / "cache")
        samples.write_samples(folder)
        if options.only is not None:
            (folder / "scratch").mkdir()
            print(Worker(folder, folder / "scratch").run(options.kind, options.only, options.seed))
            return
        record = fuzz(folder, options.inputs, options.seed, options.kind, lambda text: print(text, flush=True))
    if options.update:
        record = updated(json.loads(options.output.read_text()), record)
    if options.kind is None or options.update:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(record, indent=1) + "\n")
        if options.output == RECORD:
            insert(table(record), PAGE, "fuzz")
    if record["findings"]:
        raise SystemExit(f"{len(record['findings'])} inputs ended in a raw exception, a crash or a timeout.")


if __name__ == "__main__":
    main()
