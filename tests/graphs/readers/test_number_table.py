"""Columns of numbers."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import FormatError
from graphglass.graphs.readers.number_table import read_numbers


def read(text: bytes, **options: object) -> np.ndarray:
    return read_numbers(lambda: BytesIO(text), "x.txt", **{"columns": None, "dtype": np.int64, **options})  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(st.integers(-(2**62), 2**62), st.integers(-9, 9)), max_size=20),
    st.sampled_from([b",", b", ", b" ,  "]),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
)
@settings(max_examples=50, deadline=None)
def test_numbers_come_back(rows: list[tuple[int, int]], comma: bytes, end: bytes, last: bool) -> None:
    text = end.join(comma.join(str(value).encode() for value in row) for row in rows) + (end if last else b"")
    assert read(text, columns=2).tolist() == [list(row) for row in rows]


def test_the_line_at_fault_is_named_even_after_blank_lines() -> None:
    with pytest.raises(FormatError, match=r"x.txt line 4: expected 1 whole number, found something else: '1.5'"):
        read(b"1\n\n2\n1.5\n")
    with pytest.raises(FormatError, match=r"x.txt line 2: expected 2 numbers, found 3 columns"):
        read(b"1.0,2\n1,2,3\n", dtype=np.float64)


def test_a_number_too_large_for_its_type() -> None:
    with pytest.raises(FormatError, match=r"x.txt is not a table of 1 numbers per line.*99999999999"):
        read(b"1\n99999999999\n", dtype=np.int32)


def test_no_rows() -> None:
    assert read(b"\n\n", columns=2).shape == (0, 2)
