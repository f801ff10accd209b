"""Scores of some graphs as a table that a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

SHOWN = 50


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores, p-values and flags of some graphs, in their order.

    Attributes
    ----------
    ids : tuple of str
    scores, p_values : float64 (graphs,)
    flagged : bool (graphs,)
        Whether the p-value is at most the alpha asked for.
    notice : str
        Names queries that are references, whose scores are too low; empty if there are none.
    """

    ids: tuple[str, ...]
    scores: NDArray[np.float64]
    p_values: NDArray[np.float64]
    flagged: NDArray[np.bool_]
    notice: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    def order(self) -> NDArray[np.int64]:
        """Places of the graphs, the most abnormal first."""
        return np.argsort(-self.scores, kind="stable")

    def _repr_html_(self) -> str:
        rows = [
            (escape(self.ids[i]), f"{self.scores[i]:.4f}", f"{self.p_values[i]:.4f}", "flagged" * bool(self.flagged[i]))
            for i in self.order()[:SHOWN]
        ]
        more = len(self) - len(rows)
        notes = [escape(self.notice)] * bool(self.notice) + [f"{more} more rows are not shown."] * (more > 0)
        return html_table(("id", "score", "p-value", ""), rows) + "".join(f"<p>{note}</p>" for note in notes)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table; cells must be escaped already."""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
