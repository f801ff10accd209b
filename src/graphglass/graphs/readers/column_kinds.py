"""Columns of numbers that identify or date a row: as attributes they would make every new graph look unusual."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

_FEW = 10  # values that may ascend or differ by chance
_IDENTIFIER = re.compile(r"(^|[^a-z])(id|uuid|guid|idx|rownum|serial)$|[a-z](Id|ID)$", re.IGNORECASE)
_EPOCHS = [(6e8 * unit, 2.2e9 * unit) for unit in (1.0, 1e3, 1e6, 1e9)]  # 1989 to 2039, in seconds and smaller units


def column_kind(name: str, column: NDArray[np.float64]) -> str | None:
    """What the values are if they should not be compared, as a plural noun; None for ordinary numbers."""
    values = column[np.isfinite(column)]
    if len(values) < 3 or values.min() == values.max():
        return None
    low, high = float(values.min()), float(values.max())
    if any(first <= low and high < last for first, last in _EPOCHS):
        return "time stamps"
    whole = bool((values == np.round(values)).all())
    if whole and 19000101 <= low and high <= 21001231:
        months, days = values // 100 % 100, values % 100
        if ((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all():
            return "dates"
    if len(values) < _FEW:
        return None
    distinct = len(np.unique(values))
    steps = np.diff(values)
    if distinct == len(values) and (whole or len(values) >= 5 * _FEW) and ((steps > 0).all() or (steps < 0).all()):
        return "running numbers"
    if whole and distinct == len(values) == high - low + 1:
        return "running numbers"
    if whole and _IDENTIFIER.search(name) and distinct > 2 * _FEW:
        return "identifiers"
    equally_long = low > 0 and len(f"{low:.0f}") == len(f"{high:.0f}") >= 5
    return "identifiers" if whole and equally_long and distinct == len(values) >= 2 * _FEW else None
