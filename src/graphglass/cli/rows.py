"""Rows of results: written to a file whole or not at all, or printed as a ranking."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphglass.cli.console import print_line, print_table
from graphglass.files.output_file import refuse_unless_writable, write_file
from graphglass.files.table_cells import defused
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.detector.scored_graphs import ScoredGraphs

SUFFIXES = (".csv", ".parquet", ".jsonl")


def write_rows(columns: Mapping[str, Any], path: Path) -> None:
    """Write equally long columns in the format that the suffix names."""
    refuse_unless_writable(path, SUFFIXES)
    write_file(path, encoded(columns, path.suffix))


def encoded(columns: Mapping[str, Any], suffix: str) -> bytes:
    """Equally long columns as the bytes of a ``.csv``, ``.parquet`` or ``.jsonl`` file."""
    names = list(columns)
    cells = [own.tolist() if isinstance(own, np.ndarray) else list(own) for own in columns.values()]
    if suffix == ".jsonl":
        rows = (dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True))
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    import pyarrow as pa

    from graphglass.graphs.user_columns import of_one_type

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


def show_ranking(table: ScoredGraphs, output: Path | None, top: int) -> None:
    """Write scored graphs to a file in their order, or print the ``top`` most abnormal ones."""
    columns = table.columns()
    flagged = "" if table.p_values is None else f"; {int(table.flagged.sum())} flagged"
    lost = f"; {counted(len(table.rejected), 'record')} could not be read" if table.rejected else ""
    if output is not None:
        write_rows(columns, output)
        print_line(f"Wrote {counted(len(columns['id']), 'row')} to {output}{flagged}{lost}.")
        return
    first = ("rank", "id", "score", *(("p_value", "flagged") if table.p_values is not None else ()))
    hidden = {"error", *(["reference"] if not table.reference.any() else [])}
    order = [*first, *(name for name in columns if name not in {*first, *hidden})]
    rows = [[_cell(columns[name][row]) for name in order] for row in table.order[:top]]
    print_table("Most abnormal first", order, rows)
    count = len(table)
    more = f" {count - top} not shown." if count > top else ""
    print_line(f"{counted(count, 'graph')}{flagged}{lost}.{more}")


def _cell(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
