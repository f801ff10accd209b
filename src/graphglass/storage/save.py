"""Write an artifact directory so that a reader sees the old state or the new one, never a mixture."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as to_safetensors

from graphglass import __version__
from graphglass.errors import ArtifactError
from graphglass.storage.atomic import locked, replacing, write_whole
from graphglass.storage.manifest import MANIFEST, MAPPED, VERSION, Entry, Manifest, digest, file_digest

Tensors = Mapping[str, NDArray[Any]]


def save_artifact(
    path: str | Path,
    kind: str,
    *,
    tensors: Mapping[str, Tensors],
    documents: Mapping[str, Any],
    files: Mapping[str, Path] | None = None,
) -> Manifest:
    """Write tensors as safetensors and documents as JSON, each under a name made from its content.

    ``files`` are copied as they are, without passing through memory; a reader maps them.

    The manifest is replaced last and at once, so it is the point at which the save takes effect; older files are
    removed after it. A crash, Ctrl-C or a full disk leaves the previous artifact readable.
    """
    directory = Path(path)
    if directory.exists() and not directory.is_dir():
        raise ArtifactError(f"{directory} is a file; an artifact needs a directory of its own.")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / MANIFEST).is_file():
        raise ArtifactError(f"{directory} holds other files. Choose a new directory, or one that an artifact is in.")
    contents = {f"{role}.safetensors": to_safetensors(_contiguous(role, group)) for role, group in tensors.items()}
    contents |= {f"{role}.json": _json(role, document) for role, document in documents.items()}
    written: list[Path] = []
    made = not directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with locked(directory):
            entries = _write_files(directory, contents, files or {}, written)
            manifest = Manifest(kind, VERSION, __version__, entries)
            write_whole(directory / MANIFEST, manifest.to_json().encode())
            kept = {entry.file for entry in entries.values()} | {MANIFEST}
            for stale in directory.iterdir():
                if stale.name not in kept and _is_ours(stale.name):
                    stale.unlink(missing_ok=True)
    except BaseException as error:  # Ctrl-C too: what it leaves behind would keep the next save out
        named = (directory / MANIFEST).read_text() if (directory / MANIFEST).is_file() else ""
        for leftover in written:
            if leftover.name not in named:  # else the save was in effect already
                leftover.unlink(missing_ok=True)
        if made:
            with suppress(OSError):
                directory.rmdir()
        if isinstance(error, OSError):
            raise ArtifactError(f"Could not write {directory}: {error}. What was there before is unchanged.") from error
        raise
    return manifest


def _write_files(
    directory: Path, contents: Mapping[str, bytes], files: Mapping[str, Path], written: list[Path]
) -> dict[str, Entry]:
    """Write what is new, and note it in ``written`` so that a failure can take it back."""
    entries = {}
    for name, content in contents.items():
        role, suffix = name.split(".")
        sha256 = digest(content)
        file = f"{role}-{sha256[:12]}.{suffix}"
        if not (directory / file).exists():
            written.append(directory / file)
        write_whole(directory / file, content)
        entries[role] = Entry(file, len(content), sha256)
    for role, source in files.items():
        sha256 = file_digest(source)
        file = f"{role}-{sha256[:12]}{source.suffix}"
        if not (directory / file).exists():
            written.append(directory / file)
            _copy(source, directory / file)
        entries[role] = Entry(file, source.stat().st_size, sha256)
    return entries


def _is_ours(name: str) -> bool:
    stem, _, suffix = name.rpartition(".")
    mark = stem.rpartition("-")[2]
    return suffix in {"safetensors", "json", *MAPPED} and len(mark) == 12 and set(mark) <= set("0123456789abcdef")


def _contiguous(role: str, group: Tensors) -> dict[str, NDArray[Any]]:
    ready = {}
    for name, value in group.items():
        array = np.ascontiguousarray(value)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ArtifactError(f"{role}/{name} has NaN or infinite values and is not saved. Fit the model again.")
        ready[name] = array
    return ready


def _json(role: str, document: Any) -> bytes:
    try:
        return json.dumps(document, indent=1, sort_keys=True, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ArtifactError(f"{role} cannot be written as JSON: {error}.") from error


def _copy(source: Path, path: Path) -> None:
    with source.open("rb") as content, replacing(path) as temporary, temporary.open("wb") as file:
        shutil.copyfileobj(content, file, 2**20)
