"""Columns of results to a CSV, Parquet or JSON Lines file, all or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphglass.atomic import replacing
from graphglass.errors import InputError

SUFFIXES = (".csv", ".parquet", ".jsonl")


def write_rows(columns: Mapping[str, Any], path: Path) -> None:
    """Write equally long columns in the format the suffix names; the file appears whole or not at all."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"Results are written to {', '.join(SUFFIXES)}; {path} has another ending.")
    if path.is_dir():
        raise InputError(f"{path} is a directory. Name a file to write to.")
    import pyarrow as pa

    table = pa.table({name: list(values) for name, values in columns.items()})
    try:
        with replacing(path) as temporary:
            if path.suffix == ".csv":
                import pyarrow.csv

                pyarrow.csv.write_csv(table, temporary)
            elif path.suffix == ".parquet":
                import pyarrow.parquet

                pyarrow.parquet.write_table(table, temporary)
            else:
                with temporary.open("w", encoding="utf-8") as file:
                    file.writelines(json.dumps(row) + "\n" for row in table.to_pylist())
    except OSError as error:
        raise InputError(f"Could not write {path}: {error}. Nothing was left behind.") from error
