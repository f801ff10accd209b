"""kill -9 at random moments of everything that writes: nothing is lost, and no release goes uncharged."""

from __future__ import annotations

import io
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from graphglass.files import atomic

KILLS = 100
MOLECULES = ("CCO", "CC(=O)O", "c1ccccc1O", "CCN(CC)CC", "C1CCCCC1", "NCC(=O)O", "CS(=O)(=O)N", "Clc1ccc(Cl)cc1")


def rows(share: float, folder: Path) -> list[dict[str, Any]]:
    from attack import row

    for name, molecules in (("old", MOLECULES), ("new", MOLECULES[:5]), ("more", ("CCCC", "OCCO"))):
        (folder / f"{name}.smi").write_text("".join(f"{text} {name}-{i}\n" for i, text in enumerate(molecules)))
    _glass("fit", folder / "old.smi", "-o", folder / "kept", "-q")
    _glass("fit", folder / "new.smi", "-o", folder / "other", "-q")
    targets = [_Fit(folder), _Save(folder), _Change(folder), _Review(folder), _Release(folder)]
    found = []
    for target in targets:
        tried, failed = max(2, round(KILLS * share / len(targets))), []
        seconds = _duration(target)
        for number in range(tried):
            target.prepare()
            delay = random.Random(f"{target.name}|{number}").random() * 1.2 * seconds
            ended = _killed(target.work, delay)
            if (reason := target.broken()) is not None:
                failed.append(f"kill {number} after {delay:.3f} s: {reason}")
            target.finished += ended
        for reason in failed:
            print(f"{target.name}: {reason}", flush=True)
        measured = f"{tried - target.finished} killed at work, {target.finished} had ended; {target.told()}"
        found.append(row(f"kill -9 in {target.name}", tried, len(failed), measured, findings=failed))
    return found


def _glass(*arguments: Any) -> None:
    """A command of `glass` in this process, without what it prints."""
    from graphglass.cli.app import app

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        app([str(argument) for argument in arguments], standalone_mode=False)


def _forked(work: Callable[[], None]) -> int:
    """The id of a child that does the work and ends. Libraries are loaded already, so a kill meets the work itself."""
    if child := os.fork():
        return child
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    atomic._SWEPT.clear()  # as in a new process, which has not yet looked for drafts of dead ones
    try:
        work()
    finally:
        os._exit(0)


def _killed(work: Callable[[], None], delay: float) -> bool:
    """Kill the work after some time; whether it had ended before."""
    child = _forked(work)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)  # a child that ended keeps its id until it is waited for
    return os.WIFEXITED(os.waitpid(child, 0)[1])


def _duration(target: _Target) -> float:
    """Seconds of the work when nobody kills it; the first time it may load libraries, in this process."""
    target.prepare()
    target.work()
    target.prepare()
    start = time.monotonic()
    os.waitpid(_forked(target.work), 0)
    return time.monotonic() - start


class _Target:
    """Something that writes, and what must hold after it was killed."""

    name = ""

    def __init__(self, folder: Path) -> None:
        self.folder, self.finished = folder, 0
        self.seen: dict[str, int] = {}

    def prepare(self) -> None:
        """Put everything back to the state before."""

    def work(self) -> None:
        """What is killed."""
        raise NotImplementedError

    def broken(self) -> str | None:
        """What is wrong after a kill; None if nothing is."""
        raise NotImplementedError

    def told(self) -> str:
        return ", ".join(f"{count} {what}" for what, count in sorted(self.seen.items()))

    def state(self, found: str) -> None:
        self.seen[found] = self.seen.get(found, 0) + 1

    def _ids(self, path: Path) -> tuple[str, ...]:
        """The references of a model that loads and scores as many graphs as it has."""
        from graphglass import ReferenceDetector, read_graphs

        detector = ReferenceDetector.load(path)
        assert len(detector.decision_function(read_graphs(self.folder / "more.smi"))) == 2
        return detector.references_.graphs.ids

    def _old_or_new(self, path: Path, old: set[str] | None, new: set[str]) -> str | None:
        from graphglass.errors import GlassError

        if old is None and not (path / "manifest.json").exists():
            self.state("absent")
            return None
        try:
            ids = set(self._ids(path))
        except GlassError as error:
            return str(error)
        if ids != new and ids != old:
            return f"neither the old state nor the new one: {sorted(ids)}"
        self.state("new" if ids == new else "old")
        return None


OLD = {f"old-{i}" for i in range(len(MOLECULES))}
NEW = {f"new-{i}" for i in range(5)}
ADDED = OLD | {"more-0", "more-1"}


class _Fit(_Target):
    name = "fit"

    def prepare(self) -> None:
        shutil.rmtree(self.folder / "fresh", ignore_errors=True)

    def work(self) -> None:
        _glass("fit", self.folder / "old.smi", "-o", self.folder / "fresh", "-q")

    def broken(self) -> str | None:
        return self._old_or_new(self.folder / "fresh", None, OLD)


class _Save(_Target):
    """Only the writing, which a kill within a whole fit seldom meets; then the next writer leaves no debris."""

    name = "save"

    def prepare(self) -> None:
        from graphglass import ReferenceDetector

        if not (self.folder / "saved").exists():
            shutil.copytree(self.folder / "kept", self.folder / "saved")
        self.new = getattr(self, "new", None) or ReferenceDetector.load(self.folder / "other")
        self.old = getattr(self, "old", None) or ReferenceDetector.load(self.folder / "kept")
        os.waitpid(_forked(lambda: self.old.save(self.folder / "saved")), 0)  # another process: it sweeps

    def work(self) -> None:
        self.new.save(self.folder / "saved")

    def broken(self) -> str | None:
        reason = self._old_or_new(self.folder / "saved", OLD, NEW)
        self.prepare()
        debris = [path.name for path in (self.folder / "saved").iterdir() if path.name.endswith(".draft")]
        return reason or (f"the next writer left {debris}" if debris else None)


class _Change(_Target):
    name = "references add"

    def prepare(self) -> None:
        shutil.rmtree(self.folder / "changed", ignore_errors=True)
        shutil.copytree(self.folder / "kept", self.folder / "changed")

    def work(self) -> None:
        _glass("references", self.folder / "changed", "add", self.folder / "more.smi")

    def broken(self) -> str | None:
        return self._old_or_new(self.folder / "changed", OLD, ADDED)


class _Review(_Target):
    """A reviewer marks graph after graph; what was confirmed must be in the file."""

    name = "review"

    def prepare(self) -> None:
        from graphglass import GraphGlass, read_graphs

        self.marks = self.folder / "marks.jsonl"
        self.marks.unlink(missing_ok=True)
        self.detector = getattr(self, "detector", None) or GraphGlass.load(self.folder / "other")
        self.graphs = read_graphs(self.folder / "old.smi")
        self.reader, self.writer = os.pipe()

    def work(self) -> None:
        review = self.detector.review(self.graphs, path=self.marks)
        while (graph := review.next()) is not None:
            review.mark(graph.ids[0], "anomaly" if len(review.marks) % 2 else "normal")
            os.write(self.writer, b".")

    def broken(self) -> str | None:
        from graphglass.errors import GlassError

        os.close(self.writer)
        confirmed = len(os.read(self.reader, 100))
        os.close(self.reader)
        try:
            kept = len(self.detector.review(self.graphs, path=self.marks).marks) if self.marks.exists() else 0
        except GlassError as error:
            return str(error)
        self.seen["marks confirmed"] = self.seen.get("marks confirmed", 0) + confirmed
        return None if confirmed <= kept <= confirmed + 1 else f"{confirmed} marks confirmed, {kept} in the file"


class _Release(_Target):
    """Every summary that exists was charged, and the ledger is whole."""

    name = "private release"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.ledger, self.number = folder / "ledger.db", 0
        _glass("private", "budget", "create", self.ledger, "--dataset", "wards", "--epsilon", "12")

    def prepare(self) -> None:
        self.number += 1
        self.output = self.folder / f"{self.number}.summary"

    def work(self) -> None:
        _glass("private", "release", self.folder / "old.smi", "--ledger", self.ledger, "--epsilon", "0.3", "-o",
               self.output)  # fmt: skip

    def broken(self) -> str | None:
        from graphglass.errors import GlassError
        from graphglass.privacy.private_summary import PrivateSummary
        from graphglass.privacy.release.ledger import Ledger

        try:
            ledger = Ledger(self.ledger)
            charged = len(ledger.releases("wards"))
            written = [PrivateSummary.load(path) for path in sorted(self.folder.glob("*.summary"))]
            for summary in written:
                ledger.check(summary)
        except GlassError as error:
            return str(error)
        self.seen = {"charged": charged, "summaries": len(written)}
        return None if len(written) <= charged else f"{len(written)} summaries, {charged} charges"
