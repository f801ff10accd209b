"""Text files, plain or gzipped, read line by line within the limits."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from graphglass.errors import FormatError, LimitError
from graphglass.graphs.limits import Limits


def byte_lines(path: Path, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Line number (from 1) and content without the line end; a byte order mark is dropped.

    Raises
    ------
    LimitError
        At a line longer than `max_record_bytes`, or after `max_file_bytes` unpacked bytes.
    FormatError
        If a gzip file is damaged.
    """
    packed = path.suffix == ".gz"
    total = 0
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            number = 0
            while raw := stream.readline(limits.max_record_bytes + 1):
                number += 1
                total += len(raw)
                if len(raw) > limits.max_record_bytes:
                    bound = f"{limits.max_record_bytes:,} bytes (max_record_bytes)"
                    raise LimitError(f"{path.name} line {number} is longer than {bound}.")
                limits.check("max_file_bytes", total, f"Bytes of {path.name}")
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                yield number, raw.rstrip(b"\r\n")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"{path.name} is a damaged or truncated gzip file ({error}).") from error


def text_lines(path: Path, limits: Limits) -> Iterator[tuple[int, str]]:
    """As :func:`byte_lines`, decoded as UTF-8; bytes that are not UTF-8 become replacement marks."""
    for number, raw in byte_lines(path, limits):
        yield number, raw.decode("utf-8", "replace")


def read_bytes(path: Path, limits: Limits) -> bytes:
    """A whole file, unpacked if gzipped, never more than `max_file_bytes`."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(limits.max_file_bytes + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"{path.name} is a damaged or truncated gzip file ({error}).") from error
    limits.check("max_file_bytes", len(content), f"Bytes of {path.name}")
    return content
