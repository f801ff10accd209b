"""Rows of results: written to a file whole or not at all, or printed as a ranking."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.storage.output_file import refuse_unless_writable, write_file
from graphglass.storage.table_cells import defused
from graphglass.wording import counted

SUFFIXES = (".csv", ".parquet", ".jsonl")


def write_rows(columns: Mapping[str, Any], path: Path) -> None:
    """Write equally long columns in the format that the suffix names."""
    refuse_unless_writable(path, SUFFIXES)
    write_file(path, encoded(columns, path.suffix))


def encoded(columns: Mapping[str, Any], suffix: str) -> bytes:
    """Equally long columns as the bytes of a ``.csv``, ``.parquet`` or ``.jsonl`` file."""
    import pyarrow as pa

    rows = {name: list(values) for name, values in columns.items()}
    if suffix == ".csv":
        rows = {name: [defused(cell) if isinstance(cell, str) else cell for cell in rows[name]] for name in rows}
    table = pa.table(rows)
    if suffix == ".jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist()).encode()
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


def ranks_of(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """1 for the most abnormal graph; equal scores rank in input order."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def print_ranking(columns: Mapping[str, Any], top: int) -> None:
    """Print the ``top`` most abnormal graphs, and how many there are in all."""
    from rich.table import Table

    from graphglass.cli.console import literal_console

    calibrated = "p_value" in columns
    table = Table(title="Most abnormal first")
    for heading in ("rank", "id", "score", *(("p-value", "flagged") if calibrated else ())):
        table.add_column(heading, justify="left" if heading == "id" else "right", overflow="fold")
    for row in np.argsort(columns["rank"])[:top]:
        cells = [str(columns["rank"][row]), columns["id"][row], f"{columns['score'][row]:.4f}"]
        if calibrated:
            cells += [f"{columns['p_value'][row]:.4f}", "yes" if columns["flagged"][row] else ""]
        table.add_row(*cells)
    console = literal_console()
    console.print(table)
    count = len(columns["id"])
    flagged = f", {int(np.sum(columns['flagged']))} flagged" if calibrated else ""
    console.print(f"{counted(count, 'graph')}{flagged}." + (f" {count - top} not shown." if count > top else ""))
