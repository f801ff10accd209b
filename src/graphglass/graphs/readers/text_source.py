"""Text files, plain or gzipped, read piece by piece within the limits."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphglass.errors import FormatError, LimitError
from graphglass.graphs.limits import Limits

_PIECE = 1 << 20


@contextmanager
def _pieces(path: Path, limits: Limits) -> Iterator[Callable[[], bytes]]:
    """A function that reads the next piece of a file, unpacked if gzipped, and checks the total.

    A piece holds at most a mebibyte, so that memory follows what is read and not what the limits allow.
    """
    packed, total = path.stat().st_size, 0
    zipped = path.suffix == ".gz"
    with gzip.open(path, "rb") if zipped else path.open("rb") as stream:

        def piece() -> bytes:
            nonlocal total
            try:
                block = stream.read(_PIECE)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise FormatError(f"{path.name} is a damaged or truncated gzip file ({error}).") from error
            total += len(block)
            limits.check("max_file_bytes", total, f"Bytes of {path.name}")
            if zipped:
                limits.check_ratio(total, packed, path.name)
            return block

        yield piece


def byte_lines(path: Path, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Line number (from 1) and content without the line end, within the limits; a byte order mark is dropped."""
    number = 0
    open_line: list[bytes] = []  # pieces of a line whose end has not been read
    length = 0

    def whole(parts: list[bytes]) -> tuple[int, bytes]:
        nonlocal number
        number += 1
        line = b"".join(parts)
        if len(line) > limits.max_record_bytes:
            raise _too_long(path, number, limits)
        return number, (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).rstrip(b"\r")

    with _pieces(path, limits) as piece:
        while block := piece():
            first, *rest = block.split(b"\n")
            open_line.append(first)
            length += len(first)
            for following in rest:
                yield whole(open_line)
                open_line, length = [following], len(following)
            if length > limits.max_record_bytes:
                raise _too_long(path, number + 1, limits)
    if length:
        yield whole(open_line)


def _too_long(path: Path, number: int, limits: Limits) -> LimitError:
    return LimitError(f"{path.name} line {number} is longer than {limits.max_record_bytes:,} bytes (max_record_bytes).")


def text_lines(path: Path, limits: Limits) -> Iterator[tuple[int, str]]:
    """As :func:`byte_lines`, decoded as UTF-8."""
    for number, raw in byte_lines(path, limits):
        yield number, utf8_text(raw, path.name, number)


def utf8_text(raw: bytes, name: str, line: int = 1) -> str:
    """The text of bytes that begin at a line of a file; others than UTF-8 are refused.

    With a replacement mark in place of such bytes, different ids would become one.
    """
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line += len(raw[: error.start + 1].splitlines()) - 1
        raise FormatError(
            f"{name} line {line} is not UTF-8 (byte 0x{raw[error.start]:02x}). Save the file as UTF-8, or convert it "
            "from its encoding, such as Latin-1: iconv -f LATIN1 -t UTF-8 OLD > NEW"
        ) from error


def read_bytes(path: Path, limits: Limits) -> bytes:
    """A whole file, unpacked if gzipped, never more than `max_file_bytes`."""
    with _pieces(path, limits) as piece:
        return b"".join(iter(piece, b""))
