"""Scored graphs on the screen or in a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphglass.cli.console import print_line, print_table
from graphglass.files.rows import write_rows
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.detector.scored_graphs import ScoredGraphs


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
    hidden = {"error", "reason", *(["reference"] if len(set(table.reference.tolist())) < 2 else [])}
    order = [*first, *(name for name in columns if name not in {*first, *hidden})]
    ranked = sorted((rank, row) for row, rank in enumerate(columns["rank"]) if rank is not None)[:top]
    rows = [[_cell(columns[name][row]) for name in order] for _, row in ranked]
    print_table("Most abnormal first", order, rows)
    count = len(table)
    more = f" {count - top} not shown." if count > top else ""
    print_line(f"{counted(count, 'graph')}{flagged}{lost}.{more}")


def _cell(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def nothing_flaggable(alpha: float, references: int) -> str:
    """A warning if even the most abnormal graph has a p-value above alpha; nothing otherwise."""
    smallest = 1 / (references + 1)
    if smallest <= alpha or alpha == 0:
        return ""
    digit = 10 ** math.floor(math.log10(smallest))  # rounded up to one digit: the advice holds
    enough, larger = math.ceil(1 / alpha) - 1, math.ceil(smallest / digit) * digit
    return (
        f"no graph can be flagged at {alpha:g} with {counted(references, 'reference')}: the smallest p-value is "
        f"{smallest:.3f}; use at least {counted(enough, 'reference')} or --alpha {larger:g}"
    )
