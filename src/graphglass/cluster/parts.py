"""Which files are the parts of a job, and where each result goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from graphglass.errors import InputError

SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz")


@dataclass(frozen=True)
class Part:
    """One input file and the Parquet file its results go to."""

    source: str
    output: str


def input_files(sources: Sequence[str | Path]) -> list[str]:
    """Files, folders and patterns as a sorted list of part files.

    Every part holds whole graphs: graph tables in Parquet or records in JSON Lines.
    """
    found: list[str] = []
    for source in map(str, sources):
        if Path(source).is_dir():
            names = sorted(str(path) for path in Path(source).iterdir() if path.name.endswith(SUFFIXES))
        elif Path(source).is_file():
            names = [source]
        else:
            names = sorted(glob(source))
        if not names:
            raise InputError(f"{source} matches no part. Parts are files ending in {', '.join(SUFFIXES)}.")
        found += names
    wrong = next((name for name in found if not name.endswith(SUFFIXES)), None)
    if wrong is not None:
        raise InputError(f"{wrong} is not a part: parts end in {', '.join(SUFFIXES)}. Convert it with write_parquet.")
    return found


def list_parts(sources: Sequence[str | Path], output: Path) -> list[Part]:
    """Pair every input with ``output/NAME.parquet``; two inputs of one name are refused."""
    parts: dict[str, Part] = {}
    for source in input_files(sources):
        name = Path(source).name
        stem = next(name.removesuffix(suffix) for suffix in reversed(SUFFIXES) if name.endswith(suffix))
        if stem in parts:
            raise InputError(f"{source} and {parts[stem].source} would write to one file. Rename one of them.")
        parts[stem] = Part(str(Path(source).absolute()), str((output / f"{stem}.parquet").absolute()))
    return list(parts.values())
