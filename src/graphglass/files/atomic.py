"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from uuid import uuid4

_HELD: ContextVar[frozenset[str]] = ContextVar("held", default=frozenset())  # directories that this thread has locked
_SWEPT: set[str] = set()  # directories in which this process has looked for drafts of dead writers
_DRAFT = re.compile(r"\..+\.[0-9a-f]{12}\.draft")


@contextmanager
def replacing(path: Path, *, owner_only: bool = False) -> Iterator[Path]:
    """A path to write to; what was written takes the place of ``path`` at the end of the block, and survives a crash.

    If the block fails, what stood at ``path`` before is unchanged and nothing is left next to it. A link is followed. A
    device or a pipe, which cannot be replaced, is written to as it is. With ``owner_only`` nobody else may read it.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    with drafted(target, 0o600 if owner_only else 0o664) as draft:
        yield draft
        settle(draft, target)


@contextmanager
def drafted(path: Path, mode: int = 0o664) -> Iterator[Path]:
    """An empty hidden file next to ``path``; whatever is still there at the end of the block is removed.

    The umask takes from the `mode`, which never lets everyone write. Drafts that killed writers left in the folder are
    removed first.
    """
    _sweep(path.parent)
    # Not the process id alone: threads share it, and so may workers of two machines on one file system.
    draft = path.with_name(f".{path.name}.{uuid4().hex[:12]}.draft")
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        _try_lock(handle)
        if not os.fstat(handle).st_nlink:  # another process swept it before it was locked, which it does once
            os.close(handle)
            handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        yield draft
    finally:
        draft.unlink(missing_ok=True)
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Remove the drafts that no living process holds, once per process and only if nobody else writes here."""
    place = os.path.realpath(folder)
    if os.name != "posix" or place in _SWEPT:
        return
    _SWEPT.add(place)
    with suppress(OSError):
        handles = [os.open(folder, os.O_RDONLY)]
        try:
            if place not in _HELD.get() and not _try_lock(handles[0]):
                return
            for entry in os.scandir(folder):
                if _DRAFT.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    handles.append(os.open(entry.path, os.O_RDONLY))
                    if _try_lock(handles[-1]):
                        os.unlink(entry.path)
        finally:
            for handle in handles:
                os.close(handle)


def _try_lock(handle: int) -> bool:
    """Lock an open file or directory without waiting, where the system can; whether nobody else had."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


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
