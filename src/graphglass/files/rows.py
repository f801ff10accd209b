"""Rows of results as a CSV, Parquet or JSON Lines file, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from graphglass.files.output_file import defused, refuse_unless_writable, write_file

SUFFIXES = (".csv", ".parquet", ".jsonl")
_WHOLE = range(-(2**63), 2**63)  # what 64 bits hold
_EXACT = range(-(2**53), 2**53 + 1)  # what double precision holds exactly


def write_rows(columns: Mapping[str, object], path: Path, suffix: str | None = None) -> None:
    """Write equally long columns in the format of a suffix, by default that of the path."""
    refuse_unless_writable(path, SUFFIXES if suffix is None else ())
    write_file(path, encoded(columns, suffix or path.suffix))


def encoded(columns: Mapping[str, Any], suffix: str) -> bytes:
    """Equally long columns as the bytes of a ``.csv``, ``.parquet`` or ``.jsonl`` file."""
    names = list(columns)
    cells = [own.tolist() if isinstance(own, np.ndarray) else list(own) for own in columns.values()]
    if suffix == ".jsonl":
        rows = (dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True))
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    import pyarrow as pa

    cells = [of_one_type(column) for column in cells]
    if suffix == ".csv":
        names = [defused(name) for name in names]
        cells = [[defused(cell) if isinstance(cell, str) else cell for cell in column] for column in cells]
    table = pa.table([pa.array(column) for column in cells], names=names)
    # To memory first: Arrow's own errors would name the temporary file.
    buffer = pa.BufferOutputStream()
    if suffix == ".csv":
        import pyarrow.csv

        pyarrow.csv.write_csv(table, buffer)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, buffer)
    content: bytes = buffer.getvalue().to_pybytes()
    return content


def of_one_type(items: list[object]) -> list[object]:
    """A column for a table whose columns have a type: text if the values mix types, or an integer is too large.

    Integers and fractions are both numbers and stay, if double precision holds the integers exactly.
    """
    kinds = {type(item) for item in items} - {type(None)}
    held = _EXACT if float in kinds else _WHOLE
    if kinds in ({int}, {int, float}):
        mixed = any(type(item) is int and item not in held for item in items)
    else:
        mixed = len(kinds) > 1
    return [None if item is None else str(item) for item in items] if mixed else items
