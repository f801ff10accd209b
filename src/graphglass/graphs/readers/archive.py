"""Zip archives opened without trust: nothing is extracted, sizes and names are checked before a byte is unpacked."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from graphglass.errors import FormatError
from graphglass.graphs.limits import Limits


@contextmanager
def open_archive(path: Path, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """The archive, after its table of contents was checked: sizes, encryption, and names that leave the archive."""
    if not path.stat().st_size:
        raise FormatError(f"{path.name} is empty (0 bytes). Fetch or copy it again.")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(path, archive.infolist(), limits)
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise FormatError(
            f"{path.name} is not a readable zip archive ({error}). It may be truncated: fetch or copy it again."
        ) from error


def _check_members(path: Path, members: list[zipfile.ZipInfo], limits: Limits) -> None:
    limits.check("max_zip_entries", len(members), f"Members of {path.name}")
    declared = sum(member.file_size for member in members)
    limits.check("max_zip_bytes", declared, f"Unpacked bytes of {path.name}")
    limits.check_ratio(declared, path.stat().st_size, path.name)
    for member in members:
        name = member.filename
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if name.startswith(("/", "\\")) or ".." in parts or ":" in name:
            raise FormatError(f"{path.name} holds a member whose path leaves the archive: {name!r}. It is refused.")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise FormatError(f"{path.name} holds a symbolic link: {name!r}. It is refused.")
        if not 0 <= member.header_offset < path.stat().st_size:
            raise FormatError(f"{path.name} is not a readable zip archive: {name!r} lies outside of the file.")
        if member.flag_bits & 0x1:
            raise FormatError(f"{path.name} is encrypted ({name!r}). Unpack it yourself and read the folder.")
