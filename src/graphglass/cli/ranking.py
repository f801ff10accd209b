"""The ranking as a table in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def print_ranking(columns: Mapping[str, Any], top: int) -> None:
    """Print the ``top`` most abnormal graphs, and how many there are in all."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Most abnormal first")
    for heading in ("rank", "id", "score", "p-value", "flagged"):
        table.add_column(heading, justify="left" if heading == "id" else "right", overflow="fold")
    for row in np.argsort(columns["rank"])[:top]:
        table.add_row(
            str(columns["rank"][row]),
            columns["id"][row],
            f"{columns['score'][row]:.4f}",
            f"{columns['p_value'][row]:.4f}",
            "yes" if columns["flagged"][row] else "",
        )
    console = Console()
    console.print(table)
    count, flagged = len(columns["id"]), int(np.sum(columns["flagged"]))
    console.print(f"{count} graphs, {flagged} flagged." + (f" {count - top} not shown." if count > top else ""))
