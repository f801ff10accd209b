"""Where commands print tables."""

from __future__ import annotations

import os
import sys
import unicodedata
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


def harmless(text: str) -> str:
    """Control and direction characters by their code; line breaks of our own tables do not pass through here."""
    kept = (char if char == "\n" or unicodedata.category(char) not in ("Cc", "Cf") else _escaped(char) for char in text)
    return "".join(kept)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
