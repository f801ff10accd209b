"""Text files, plain or gzipped, read piece by piece within the limits."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphglass.errors import FormatError, LimitError
from graphglass.graphs.limits import Limits

_PIECE = 1 << 20


@contextmanager
def _pieces(path: Path, limits: Limits) -> Iterator[Callable[[], bytes]]:
    """A function that reads the next piece of a file, unpacked if gzipped, and checks the total.

    A piece holds at most a mebibyte, so memory follows what is read and not what the limits allow.
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
        if number == 1:
            _refuse_utf16(line, path.name)
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


def header_line(path: Path, limits: Limits) -> str:
    """The first line that is not blank; the empty text if there is none."""
    line = next((text for _, text in text_lines(path, limits) if text.strip()), "")
    return line.lstrip("\r").partition("\r")[0]  # lines may end in a bare carriage return


def _refuse_utf16(start: bytes, name: str) -> None:
    """Text in UTF-16 begins with a mark, or has a zero next to each of its first letters."""
    marked = start.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    if marked or b"\0\0" in (start[:4:2], start[1:4:2]):
        raise FormatError(
            f"{name} is text in UTF-16; expected UTF-8. Save it as UTF-8, or convert it: "
            "iconv -f UTF-16 -t UTF-8 OLD > NEW"
        )


def utf8_text(raw: bytes, name: str, line: int = 1) -> str:
    """The text of bytes that begin at a line of a file; others than UTF-8 are refused.

    With a replacement mark in place of such bytes, different ids would become one.
    """
    if line == 1:
        _refuse_utf16(raw, name)
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
