"""Where commands print tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def literal_console(**settings: Any) -> Console:
    """A console that prints text as it is: ``[nH]`` in a graph's id is no markup, and ``:o:`` no emoji."""
    from rich.console import Console

    return Console(markup=False, emoji=False, **settings)
