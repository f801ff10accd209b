"""Arrays that need not stay in memory."""

from __future__ import annotations

import math
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LARGE = 2**28  # bytes from which an array lives in a file


def disk_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array of zeros. A large one lives in a temporary file, so the system can move it out of memory.

    The file has no name and disappears with the last view of the array. Without room for it on disk the array is an
    ordinary one.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.zeros(shape, dtype)
    try:
        with tempfile.TemporaryFile(prefix="graphglass-") as file:
            if hasattr(os, "posix_fallocate"):  # a full disk is an error here; a write to the map would be fatal
                os.posix_fallocate(file.fileno(), 0, size)
            return np.memmap(file, dtype, "w+", shape=shape).view(np.ndarray)
    except OSError:
        return np.zeros(shape, dtype)
