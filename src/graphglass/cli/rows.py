"""Columns of results to a CSV, Parquet or JSON Lines file, all or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphglass.storage.output_file import refuse_unless_writable, write_file

SUFFIXES = (".csv", ".parquet", ".jsonl")


def write_rows(columns: Mapping[str, Any], path: Path) -> None:
    """Write equally long columns in the format the suffix names; the file appears whole or not at all."""
    refuse_unless_writable(path, SUFFIXES)
    import pyarrow as pa

    table = pa.table({name: list(values) for name, values in columns.items()})
    if path.suffix == ".jsonl":
        write_file(path, "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode())
        return
    # To memory first: Arrow's own errors would name the temporary file.
    buffer = pa.BufferOutputStream()
    if path.suffix == ".csv":
        import pyarrow.csv

        pyarrow.csv.write_csv(table, buffer)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, buffer)
    write_file(path, buffer.getvalue().to_pybytes())
