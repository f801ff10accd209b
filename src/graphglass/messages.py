"""Words that messages share."""

from __future__ import annotations

from collections.abc import Sequence


def setting(name: str, value: object) -> str:
    """A setting of the reader as people give it: the option of a command, and the keyword in Python."""
    return f"--{name.replace('_', '-')} {value} ({name}={value!r} in Python)"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``1 graph``, ``2 graphs``; an irregular plural is named."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listing(names: Sequence[str], most: int = 12) -> str:
    """The first names, and how many there are in all if some are not shown."""
    if not names:
        return "none"
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
