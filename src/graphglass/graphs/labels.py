"""Node and edge labels as integers: whole numbers stay, text becomes a stable 63-bit code."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError


@lru_cache(maxsize=65_536)
def text_code(text: str) -> int:
    """The code of a text label: the first 63 bits of its blake2b digest, the same on every machine."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def label_code(value: object, names: dict[int, str]) -> int:
    """The code of one label; text is remembered in `names`. A missing label counts as the empty text."""
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if value is None:
        value = ""
    if isinstance(value, str):
        code = text_code(value)
        names[code] = value
        return code
    if isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer()):
        whole = int(float(value)) if not isinstance(value, Integral) else int(value)
        if -(2**63) <= whole < 2**63:
            return whole
    raise GraphError(f"a label must be text or a whole number, found {value!r}")


def label_codes(values: Iterable[object], names: dict[int, str]) -> NDArray[np.int64]:
    return np.fromiter((label_code(value, names) for value in values), np.int64)


def class_labels(values: list[object]) -> NDArray[Any] | None:
    """Class labels as one array: int64 if all are whole, float64 if all are numbers, else text.

    None unless every graph has one.
    """
    if not values or any(value is None for value in values):
        return None
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    if all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in values):
        return np.asarray(values, dtype=np.int64)
    if all(isinstance(value, int | float) for value in values):
        return np.asarray(values, dtype=np.float64)
    return np.asarray([str(value) for value in values], dtype=np.str_)


def typed_texts(values: list[object]) -> list[object]:
    """Class labels of which some are text: whole numbers if all that are text look like one, else the text."""
    try:
        return [int(value) if isinstance(value, str) else value for value in values]
    except ValueError:
        return values


def frequent(parts: Iterable[NDArray[np.int64]], most: int) -> NDArray[np.int64]:
    """The most frequent values in ascending order; ties go to the lower value."""
    found, numbers = zip(*(np.unique(part, return_counts=True) for part in parts), strict=True)
    kinds, places = np.unique(np.concatenate(found), return_inverse=True)
    counts = np.bincount(places, np.concatenate(numbers))
    return np.sort(kinds[np.argsort(-counts, kind="stable")[:most]])


def columns_of(values: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """The column of every value: its place among the known ones, or the one after them."""
    if not len(known):
        return np.zeros(len(values), np.int64)
    place = np.searchsorted(known, values).clip(max=len(known) - 1)
    return np.where(known[place] == values, place, len(known))
