"""Files: atomic writes, saved artifacts, disk-backed arrays, output checks, progress; and where the cache is."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """Where what can be computed again is kept: ``GRAPHGLASS_CACHE``, else the platform's cache folder of this user."""
    if given := os.environ.get("GRAPHGLASS_CACHE"):
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("graphglass", appauthor=False)
