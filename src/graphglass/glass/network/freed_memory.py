"""Keep freed memory in the process while a network is trained."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

_TRIM, _MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's mallopt
_WHILE_TRAINING = 1 << 30
_LARGEST_DEFAULT = 32 << 20  # where glibc's own growth of the second ends; the first is twice as large


@contextmanager
def keep_freed_memory() -> Iterator[None]:
    """Serve the next large tensor from memory that the last one freed.

    By default glibc returns large blocks to the system, which fills every new one with zeros; that takes a noticeable
    part of a training step. Without glibc nothing changes.
    """
    try:
        libc = ctypes.CDLL(None)
        set_limit, trim = libc.mallopt, libc.malloc_trim
    except (OSError, AttributeError, TypeError):
        yield
        return
    set_limit(_TRIM, _WHILE_TRAINING)
    set_limit(_MAP, _WHILE_TRAINING)
    try:
        yield
    finally:
        set_limit(_TRIM, 2 * _LARGEST_DEFAULT)
        set_limit(_MAP, _LARGEST_DEFAULT)
        trim(0)
