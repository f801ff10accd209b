"""Where commands print tables."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

PIPED = 160  # columns


def literal_console(**settings: Any) -> Console:
    """A console that prints text as it is: ``[nH]`` in a graph's id is no markup, and ``:o:`` no emoji.

    What would steer a terminal, in an id or a label, is shown instead of sent. A pipe has no width to keep to.
    """
    from rich.console import Console

    if "width" not in settings and "COLUMNS" not in os.environ and not sys.stdout.isatty():
        settings["width"] = PIPED

    class Literal(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(harmless(text), **options)

    return Literal(markup=False, emoji=False, **settings)


def print_line(text: str) -> None:
    """Print one line with the same care as a table."""
    literal_console().print(text, highlight=False)


WHOLE = 40  # characters of a name or id that stays on one line; longer ones would push out the other columns


def print_table(title: str | None, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; columns whose cells are all numbers are aligned to the right."""
    from rich.box import SIMPLE
    from rich.table import Table

    cells = [list(row) for row in rows]
    table = Table(title=title, box=SIMPLE)
    for place, heading in enumerate(headings):
        numeric = all(_is_number(row[place]) for row in cells)
        table.add_column(
            "p-value" if heading == "p_value" else heading,
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=place == 0 and all(len(row[0]) <= WHOLE for row in cells),  # there to be copied
        )
    for row in cells:
        table.add_row(*row)
    literal_console().print(table)


def _is_number(text: str) -> bool:
    try:
        float(text.rstrip("%"))
    except ValueError:
        return text in ("", "-")
    return True


def harmless(text: str) -> str:
    """Control and direction characters by their code; line breaks of our own tables do not pass through here."""
    steers = {char for char in text if char != "\n" and unicodedata.category(char) in ("Cc", "Cf")}
    return text.translate({ord(char): char.encode("unicode_escape").decode("ascii") for char in steers})
