"""Where GraphGlass keeps what it can compute again."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_root() -> Path:
    """``GRAPHGLASS_CACHE`` if set, else the platform's cache folder for this user."""
    if given := os.environ.get("GRAPHGLASS_CACHE"):
        return Path(given).expanduser()
    return user_cache_path("graphglass", appauthor=False)
