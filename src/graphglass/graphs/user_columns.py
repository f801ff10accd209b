"""The caller's own columns: values per graph, such as a name or a SMILES, that are carried along and never scored."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WHOLE = range(-(2**63), 2**63)  # what 64 bits hold


def own_column(values: Iterable[object]) -> NDArray[Any]:
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


def _plain(value: object) -> object:
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
