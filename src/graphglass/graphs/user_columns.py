"""The caller's own columns: values per graph, such as a name or a SMILES, that are carried along and never scored."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WHOLE = range(-(2**63), 2**63)  # what 64 bits hold
_EXACT = range(-(2**53), 2**53 + 1)  # what double precision holds exactly


def own_column(values: Iterable[Any]) -> NDArray[Any]:
    """One column: bool, int64 or float64 if all values are, else objects (text, numbers, None where one is missing)."""
    items = [_plain(value) for value in values]
    kinds = {type(item) for item in items}
    if kinds == {bool} or kinds == {float}:
        return np.asarray(items)
    if kinds == {int} and all(item in _WHOLE for item in items):
        return np.asarray(items, dtype=np.int64)
    column = np.empty(len(items), dtype=object)
    column[:] = items
    return column


def _plain(value: Any) -> Any:
    """A value that JSON can hold; a number that is not finite counts as missing, dates and others become text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, str | bool | int) else str(value)


def free_names(own: Collection[str], taken: Container[str]) -> list[str]:
    """What the caller's columns are called among columns of results: ``input_NAME`` where those have the name."""
    names = []
    for name in own:
        free = name
        while free in taken or (free != name and free in own):
            free = f"input_{free}"
        names.append(free)
    return names


def of_one_type(items: list[Any]) -> list[Any]:
    """A column for a table whose columns have a type: text if the values mix types, or an integer is too large.

    Integers and fractions are both numbers and stay, if double precision holds the integers exactly.
    """
    kinds = {type(item) for item in items} - {type(None)}
    held = _EXACT if float in kinds else _WHOLE
    if kinds in ({int}, {int, float}):
        mixed = any(type(item) is int and item not in held for item in items)
    else:
        mixed = len(kinds) > 1
    return [None if item is None else str(item) for item in items] if mixed else items
