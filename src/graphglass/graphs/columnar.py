"""A graph set as one binary file per column, so that a large text dataset is parsed once."""

from __future__ import annotations

import json
import shutil
import tempfile
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.rejects import logger
from graphglass.storage.cache_folder import cache_root

VERSION = 3
_COLUMNS = (
    "node_offsets", "neighbour_offsets", "neighbours", "labels", "node_labels",
    "attributes", "edge_labels", "edge_attributes", "outgoing", "node_names", "removed",
)  # fmt: skip
_WORTHWHILE = 4 << 20  # bytes of text below which parsing is as fast as the cache


def source_key(path: Path) -> str | None:
    """What identifies the text behind a path: a zip's content, a folder's file names, sizes and times.

    None for a source so small that the cache would not pay.
    """
    digest = sha256(f"columns/{VERSION}".encode())
    if path.is_dir():
        files = sorted(item for item in path.rglob("*.txt") if item.is_file())
        if sum(item.stat().st_size for item in files) < _WORTHWHILE:
            return None
        for item in files:
            facts = item.stat()
            digest.update(f"{item.resolve()}|{facts.st_size}|{facts.st_mtime_ns}\n".encode())
    else:
        if path.stat().st_size < _WORTHWHILE // 8:
            return None
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def cache_entry(path: Path) -> Path | None:
    """The folder in the cache for this source, or None where the cache would not pay."""
    key = source_key(path)
    return None if key is None else cache_root() / "graphs" / key


def load_entry(entry: Path) -> GraphSet | None:
    """The cached graphs; None if there are none or they are damaged, which only costs the time to parse again."""
    try:
        return load_columns(entry)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        logger.info("cache entry %s is unusable (%s); the text is parsed again", entry, error)
        return None


def store_entry(graphs: GraphSet, entry: Path) -> None:
    """Keep the graphs for next time, if the cache can be written."""
    try:
        save_columns(graphs, entry)
    except OSError as error:
        logger.info("the parsed graphs could not be cached in %s: %s", entry, error)


def save_columns(graphs: GraphSet, folder: Path) -> None:
    """Write every column; the folder appears whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        manifest: dict[str, Any] = {
            "version": VERSION,
            "ids": list(graphs.ids),
            "attribute_names": list(graphs.attribute_names),
            "edge_attribute_names": list(graphs.edge_attribute_names),
            "label_names": {str(code): name for code, name in graphs.label_names.items()},
            "code_names": {owner: list(names.items()) for owner, names in graphs.code_names.items()},
            "checksums": {},
        }
        for name in _COLUMNS:
            value = getattr(graphs, name)
            if value is not None:
                np.save(made / f"{name}.npy", value, allow_pickle=False)
                manifest["checksums"][name] = _checksum(value)
        (made / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)  # fails, harmlessly, when another process was first
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        if not folder.exists():
            raise


def _checksum(value: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(value).view(np.uint8).data if value.size else b"")


def load_columns(folder: Path) -> GraphSet:
    """Read what :func:`save_columns` wrote.

    Raises
    ------
    ValueError
        If a column does not match its checksum, or another version wrote it.
    """
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if manifest["version"] != VERSION:
        raise ValueError(f"version {manifest['version']}, expected {VERSION}")
    columns: dict[str, Any] = {}
    for name, checksum in manifest["checksums"].items():
        if name not in _COLUMNS:
            raise ValueError(f"unknown column {name!r}")
        try:
            columns[name] = np.load(folder / f"{name}.npy", allow_pickle=False)
        except (FileNotFoundError, EOFError) as error:
            raise ValueError(f"column {name!r} is missing or truncated") from error
        if _checksum(columns[name]) != checksum:
            raise ValueError(f"column {name!r} does not match its checksum")
    return GraphSet(
        **columns,
        ids=tuple(manifest["ids"]),
        attribute_names=tuple(manifest["attribute_names"]),
        edge_attribute_names=tuple(manifest["edge_attribute_names"]),
        label_names={int(code): name for code, name in manifest["label_names"].items()},
        code_names={owner: dict(map(tuple, names)) for owner, names in manifest["code_names"].items()},
    )
