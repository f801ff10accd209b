"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to; what was written takes the place of ``path`` at the end of the block.

    If the block fails, what stood at ``path`` before is unchanged and nothing is left beside it. A link is followed. A
    device or a pipe, which cannot be replaced, is written to as it is.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    # Not the process id alone: threads share it, and so may workers of two machines on one file system.
    temporary = target.with_name(f".{target.name}.{uuid4().hex[:12]}")
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path``, all of it or nothing."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
