"""Rows of results: written to a file whole or not at all, or printed as a ranking."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.cli.console import print_line, print_table
from graphglass.files.output_file import refuse_unless_writable, write_file
from graphglass.files.table_cells import defused
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.graphs.graph_set import GraphSet

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


def ranking(
    graphs: GraphSet, scores: NDArray[np.float64], p_values: NDArray[np.float64] | None = None, alpha: float = 0.05
) -> dict[str, Any]:
    """The columns of a ranking: id, score, p-value and flag if there are p-values, rank, the user's own columns."""
    from graphglass.graphs.user_columns import free_names

    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    columns: dict[str, Any] = {"id": graphs.ids, "score": scores}
    if p_values is not None:
        columns |= {"p_value": p_values, "flagged": p_values <= alpha}
    columns["rank"] = ranks
    return columns | dict(zip(free_names(graphs.columns, columns), graphs.columns.values(), strict=True))


def show_ranking(columns: Mapping[str, Any], output: Path | None, top: int) -> None:
    """Write a ranking to a file, or print its ``top`` most abnormal graphs."""
    flagged = f"; {int(np.sum(columns['flagged']))} flagged" if "flagged" in columns else ""
    count = len(columns["id"])
    if output is not None:
        write_rows(columns, output)
        print_line(f"Wrote {counted(count, 'score')} to {output}{flagged}.")
        return
    first = ("rank", "id", "score", *(("p_value", "flagged") if flagged else ()))
    order = [*first, *(name for name in columns if name not in first)]
    rows = [[_cell(columns[name][row]) for name in order] for row in np.argsort(columns["rank"])[:top]]
    print_table("Most abnormal first", order, rows)
    print_line(f"{counted(count, 'graph')}{flagged}." + (f" {count - top} not shown." if count > top else ""))


def _cell(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
