"""Result records: one JSON line per finished cell, a folder per benchmark, protocol and direction, nothing mixed.

A results folder holds ``manifest.json``, which says what the folder is for, and one ``METHOD.jsonl`` per method. A file
is replaced as a whole: an interruption leaves either the old records or the new ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphglass.errors import BenchError
from graphglass.files.atomic import locked, write_whole

FORMAT = 1
MANIFEST = "manifest.json"
REQUIRED = (
    "benchmark", "cell", "configuration", "data", "flip", "method", "metrics", "protocol", "seconds", "versions",
)  # fmt: skip

Record = dict[str, Any]
Cell = Mapping[str, str | int]


@dataclass(frozen=True)
class Purpose:
    """What a results folder is for; records of another purpose are refused."""

    benchmark: str
    protocol: str
    flip: bool = False

    def __str__(self) -> str:
        return f"benchmark {self.benchmark!r}, protocol {self.protocol!r}{', flipped' if self.flip else ''}"

    @property
    def title(self) -> str:
        """The protocol as tables name it."""
        return f"{self.protocol}{' (flipped)' if self.flip else ''}"

    @property
    def file_name(self) -> str:
        """The stem of files made from such a folder."""
        return f"{self.benchmark}-{self.protocol}{'-flip' if self.flip else ''}"


class Results:
    """One results folder."""

    def __init__(self, folder: str | Path, purpose: Purpose) -> None:
        self.folder, self.purpose = Path(folder), purpose

    @classmethod
    def create(cls, folder: str | Path, purpose: Purpose) -> Results:
        """Open a folder for writing; an empty or new one is marked with its purpose, one of another purpose refused."""
        path = Path(folder)
        if path.exists() and not path.is_dir():
            raise BenchError(f"{path} is a file; results need a folder.")
        if (path / MANIFEST).exists():
            found = cls.open(path).purpose
            if found != purpose:
                raise BenchError(
                    f"{path} holds results of {found}; this run is {purpose}. Choose another folder with -o: "
                    "results of different benchmarks, protocols or directions are never mixed."
                )
        elif path.exists() and any(path.iterdir()):
            raise BenchError(f"{path} is not empty and not a results folder (no {MANIFEST}). Choose another folder.")
        else:
            path.mkdir(parents=True, exist_ok=True)
            write_whole(path / MANIFEST, (json.dumps({"format": FORMAT, **asdict(purpose)}, indent=1) + "\n").encode())
        return cls(path, purpose)

    @classmethod
    def open(cls, folder: str | Path) -> Results:
        """Open an existing results folder for reading."""
        path = Path(folder) / MANIFEST
        if not path.exists():
            raise BenchError(f"{folder} is not a results folder: it has no {MANIFEST}.")
        try:
            content = json.loads(path.read_text())
            if "format" not in content:
                # A saved model has a file of this name too.
                what = f"a saved model ({content['kind']})" if "kind" in content else "something else"
                raise BenchError(f"{folder} holds {what}, not results. Name a folder that `glassbench` wrote.")
            version = content.pop("format")
            purpose = Purpose(**content)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BenchError(f"{path} is damaged ({error}). Restore it or use another folder.") from error
        if version != FORMAT:
            raise BenchError(f"{path} has format {version}, this version reads {FORMAT}.")
        return cls(Path(folder), purpose)

    def records(self, method: str | None = None) -> list[Record]:
        """Every record, or those of one method, in the order they were finished.

        A line that is half-written, of another benchmark, protocol, direction or method, or of a cell that an earlier
        line has, is refused.
        """
        paths = sorted(self.folder.glob(f"{method or '*'}.jsonl"))
        return [record for path in paths for record in self._read(path)]

    def append(self, record: Record) -> None:
        """Add the record of a finished cell, unless another run has recorded that cell in the meantime.

        The file is replaced atomically, and writers wait for each other.
        """
        path = self.folder / f"{record['method']}.jsonl"
        with locked(self.folder):
            if any(cell_key(found["cell"]) == cell_key(record["cell"]) for found in self.records(record["method"])):
                return
            old = path.read_text() if path.exists() else ""
            line = json.dumps(record, sort_keys=True, separators=(",", ":"))
            write_whole(path, f"{old}{line}\n".encode())

    def _read(self, path: Path) -> Iterator[Record]:
        lines: dict[object, int] = {}
        for number, line in enumerate(path.read_text().splitlines(keepends=True), start=1):
            try:
                record = json.loads(line)
                missing = [key for key in REQUIRED if key not in record]
            except (ValueError, TypeError):
                missing = ["a complete line"]
            if missing or not line.endswith("\n"):
                raise BenchError(
                    f"{path}, line {number}: half-written record (missing {', '.join(missing) or 'its line end'}). "
                    "Delete that line and run the benchmark again: only that cell is repeated."
                )
            if "preset" in record["configuration"]:
                raise BenchError(
                    f"{path}, line {number}: a record of version 0.2.0, where 'glass' was today's graphglass and "
                    "'glass-paper' today's glass. Use another folder."
                )
            found = Purpose(record["benchmark"], record["protocol"], record["flip"])
            if found != self.purpose or record["method"] != path.stem:
                raise BenchError(
                    f"{path}, line {number}: a record of {found}, method {record['method']!r} is in a folder of "
                    f"{self.purpose}. Remove it; records of different benchmarks are never mixed."
                )
            if (first := lines.setdefault(cell_key(record["cell"]), number)) != number:
                raise BenchError(
                    f"{path}, line {number}: a second record of the cell on line {first}; it would count twice. "
                    "Remove one of them."
                )
            yield record


def result_folders(root: str | Path) -> list[Results]:
    """Every results folder at or below `root`, in path order."""
    path = Path(root)
    if not path.is_dir():
        raise BenchError(f"There is no results folder {path}.")
    found = [Results.open(manifest.parent) for manifest in sorted(path.rglob(MANIFEST))]
    if not found:
        raise BenchError(
            f"{path} holds no results: there is no {MANIFEST} in it or below. Run a benchmark first, such as "
            f"`glassbench single -o {path / 'single'}`."
        )
    return found


def cell_key(cell: Cell) -> tuple[tuple[str, str | int], ...]:
    """A cell as a hashable value."""
    return tuple(sorted(cell.items()))
