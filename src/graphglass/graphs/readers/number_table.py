"""Text files of comma-separated numbers, parsed column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from graphglass.errors import FormatError


def read_numbers(
    open_file: Callable[[], IO[bytes]], name: str, *, columns: int | None, dtype: type[np.number[Any]]
) -> NDArray[Any]:
    """The numbers of a file without header, (rows, columns); blanks around commas are allowed, empty lines are skipped.

    `columns` is taken from the first line if it is None. A number that `dtype` cannot hold is refused. The file is
    opened afresh to find the line of an error.
    """
    integer = issubclass(dtype, np.integer)
    with open_file() as stream:
        first = stream.readline()
        while first and not first.strip():
            first = stream.readline()
    if not first:
        return np.zeros((0, columns or 1), dtype)
    width = columns or first.count(b",") + 1
    names = [str(i) for i in range(width)]
    kind = pa.from_numpy_dtype(dtype)
    try:
        with open_file() as stream:
            table = csv.read_csv(
                pa.PythonFile(stream, mode="r"),
                read_options=csv.ReadOptions(column_names=names, block_size=8 << 20),
                parse_options=csv.ParseOptions(quote_char=False),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(names, kind), null_values=[], strings_can_be_null=False
                ),
            )
    except pa.ArrowInvalid as error:
        _locate(open_file, name, width, integer)
        raise FormatError(f"{name} is not a table of {width} numbers per line: {error}") from error
    out = np.empty((table.num_rows, width), dtype, order="F")
    for i in range(width):
        start = 0
        for chunk in table.column(i).chunks:  # not the column at once, which would be a third copy
            out[start : start + len(chunk), i] = chunk.to_numpy()
            start += len(chunk)
    return out


def _locate(open_file: Callable[[], IO[bytes]], name: str, width: int, integer: bool) -> None:
    """Raise for the first line that is not `width` numbers."""
    parse = int if integer else float
    expected = f"{width} {'whole ' if integer else ''}number{'s' if width > 1 else ''}"
    with open_file() as stream:
        for line, raw in enumerate(stream, start=1):
            if not raw.strip():
                continue
            cells = raw.split(b",")
            try:
                numbers = [parse(cell) for cell in cells]
            except ValueError:
                numbers = []
            if len(numbers) != width:
                text = raw.strip()[:60].decode("utf-8", "replace")
                found = f"{len(cells)} columns" if len(cells) != width else "something else"
                raise FormatError(f"{name} line {line}: expected {expected}, found {found}: {text!r}.")
