"""Text for tables that people open in a spreadsheet."""

from __future__ import annotations


def defused(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet would run it as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
