"""Files a command writes: refused before any work if they cannot be written, and whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from math import isfinite
from pathlib import Path

from graphglass.errors import InputError


def refuse_unless_writable(path: Path, suffixes: tuple[str, ...] = (), *, inputs: Iterable[Path | None] = ()) -> None:
    """Find out before the work whether its result could be written.

    Parameters
    ----------
    path : Path
    suffixes : tuple of str
        The name must have one of them; any name will do if there are none.
    inputs : iterable of Path or None
        Files that are read, which the result must not replace.
    """
    if suffixes and path.suffix not in suffixes:
        raise InputError(f"{path} must end in {' or '.join(suffixes)}. Name another file to write to.")
    if path.is_dir():
        raise InputError(f"{path} is a directory. Name a file to write to.")
    if path.is_file() and any(read is not None and read.exists() and path.samefile(read) for read in inputs):
        raise InputError(f"{path} is an input, which the result would replace. Name another file to write to.")
    if path.is_symlink() and not path.is_relative_to("/dev"):  # /dev/stdout is a link everywhere
        raise InputError(f"{path} is a link, and what it points to would be replaced. Name the file itself.")
    if path.exists() and not path.is_file():
        return  # a device or a pipe is written to as it is; its folder need not be writable
    refuse_folder(path)


def refuse_folder(path: Path) -> None:
    """Refuse a path whose folder is missing or cannot be written to."""
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        trouble = "is a file, not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{path} cannot be written: the folder {folder} {trouble}. Create it or name another place.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} cannot be written: the folder {folder} does not allow it. Name another place.")


def write_file(path: Path, content: bytes) -> None:
    """Put the file there whole or not at all."""
    from graphglass.files.atomic import write_whole

    try:
        write_whole(path, content)
    except OSError as error:
        # Not the whole error: it would name the temporary file next to the path.
        reason = error.strerror or type(error).__name__
        raise InputError(f"Could not write {path}: {reason}. Nothing was left behind.") from error


def defused(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet would run it as a formula; -0.31 is a number and stays."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
