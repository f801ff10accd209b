"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from uuid import uuid4

_HELD: ContextVar[frozenset[str]] = ContextVar("held", default=frozenset())  # directories that this thread has locked


@contextmanager
def replacing(path: Path, *, owner_only: bool = False) -> Iterator[Path]:
    """A path to write to; what was written takes the place of ``path`` at the end of the block, and survives a crash.

    If the block fails, what stood at ``path`` before is unchanged and nothing is left beside it. A link is followed. A
    device or a pipe, which cannot be replaced, is written to as it is. With ``owner_only`` nobody else may read it.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    with drafted(target) as draft:
        if owner_only:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield draft
        settle(draft, target)


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A hidden path beside ``path``; whatever is still there at the end of the block is removed."""
    # Not the process id alone: threads share it, and so may workers of two machines on one file system.
    draft = path.with_name(f".{path.name}.{uuid4().hex[:12]}")
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def settle(draft: Path, target: Path) -> None:
    """Write a finished draft through to the disk and move it into place."""
    with draft.open("rb+") as written:
        os.fsync(written.fileno())
    os.replace(draft, target)
    _sync_directory(target.parent)


def write_whole(path: Path, content: bytes, *, owner_only: bool = False) -> None:
    """Put ``content`` at ``path``, all of it or nothing."""
    with replacing(path, owner_only=owner_only) as temporary:
        temporary.write_bytes(content)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """One writer at a time: a second one waits, unless it runs inside the first. Only POSIX can lock a directory."""
    place = os.path.realpath(directory)
    if os.name != "posix" or place in _HELD.get():
        yield
        return
    import fcntl

    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        held = _HELD.set(_HELD.get() | {place})
        try:
            yield
        finally:
            _HELD.reset(held)
    finally:
        os.close(handle)  # which releases the lock


def _sync_directory(path: Path) -> None:
    """Make a rename last; only POSIX systems can open a directory to do so."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
