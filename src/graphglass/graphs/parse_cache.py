"""Parsed graphs in the user's cache, one binary file per source, so a large text dataset is parsed once."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from graphglass.files import cache_root
from graphglass.files.atomic import replacing
from graphglass.files.manifest import file_digest
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.rejects import logger
from graphglass.graphs.stored import restored, stored_arrays, stored_names

VERSION = 5
_WORTHWHILE = 4 << 20  # bytes of text below which parsing is as fast as the cache


def cache_entry(path: Path) -> Path | None:
    """The file in the cache for a zip or folder, or None for a source so small that the cache would not pay.

    A zip is identified by its content, a folder by the names, sizes and times of its files.
    """
    if path.is_dir():
        facts = [(item.resolve(), item.stat()) for item in sorted(path.rglob("*.txt")) if item.is_file()]
        size = sum(fact.st_size for _, fact in facts)
        source = "".join(f"{item}|{fact.st_size}|{fact.st_mtime_ns}\n" for item, fact in facts)
    else:
        size = 8 * path.stat().st_size
        source = file_digest(path) if size >= _WORTHWHILE else ""
    if size < _WORTHWHILE:
        return None
    return cache_root() / "graphs" / f"{sha256(f'columns/{VERSION}/{source}'.encode()).hexdigest()}.npz"


def load_entry(entry: Path) -> GraphSet | None:
    """The cached graphs; None if there are none or they are damaged, which only costs the time to parse again."""
    try:
        # The file is a zip, which has a checksum for every column.
        with entry.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            names = json.loads(stored["names"].item())
            return restored(stored, names, stored["labels"] if "labels" in stored else None)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile) as error:
        logger.info("cache entry %s is unusable (%s); the text is parsed again", entry, error)
        return None


def store_entry(graphs: GraphSet, entry: Path) -> None:
    """Keep the graphs for next time, if the cache can be written; the file appears whole or not at all."""
    columns: dict[str, Any] = stored_arrays(graphs) | ({} if graphs.labels is None else {"labels": graphs.labels})
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        # The graphs may come from a file that only its owner can read.
        with replacing(entry, owner_only=True) as temporary, temporary.open("wb") as file:
            np.savez(file, names=np.array(json.dumps(stored_names(graphs))), **columns)
    except OSError as error:
        logger.info("the parsed graphs could not be cached in %s: %s", entry, error)
