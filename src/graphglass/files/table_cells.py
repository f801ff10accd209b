"""Text for tables that people open in a spreadsheet."""

from __future__ import annotations

from math import isfinite


def defused(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet would run it as a formula; -0.31 is a number and stays."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
