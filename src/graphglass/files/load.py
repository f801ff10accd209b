"""Read an artifact directory, local or through fsspec, and refuse anything that is not exactly what was saved."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as from_safetensors
from safetensors.numpy import load_file

from graphglass.errors import ArtifactError, MissingExtraError
from graphglass.files import cache_root
from graphglass.files.atomic import replacing
from graphglass.files.manifest import LARGEST_MANIFEST, MANIFEST, MAPPED, Entry, Manifest, digest, file_digest


@dataclass(frozen=True)
class Artifact:
    """A verified artifact: tensors, documents and files to map by role."""

    manifest: Manifest
    tensors: dict[str, dict[str, NDArray[Any]]]
    documents: dict[str, Any]
    files: dict[str, Path]


def load_artifact(path: str | Path, kind: str) -> Artifact:
    """Load and verify. ``path`` is a local directory or a URL that fsspec can read (``s3://``, ``memory://``, ...)."""
    where = str(path).rstrip("/")
    found = _read(where, MANIFEST)
    while True:
        try:
            return _load(where, Manifest.from_json(found, kind=kind, where=where))
        except ArtifactError:
            # A save in the meantime removes the files of the manifest read before it; the new ones are whole.
            newer = _read(where, MANIFEST)
            if newer == found:
                raise
            found = newer


def _load(where: str, manifest: Manifest) -> Artifact:
    tensors: dict[str, dict[str, NDArray[Any]]] = {}
    documents: dict[str, Any] = {}
    files: dict[str, Path] = {}
    for role, entry in manifest.entries.items():
        if entry.file.endswith(MAPPED):
            files[role] = _file(where, entry)
            continue
        try:
            if entry.file.endswith(".safetensors"):
                tensors[role] = _finite(_tensors(where, entry), f"{where}/{entry.file}")
            else:
                documents[role] = json.loads(_content(where, entry))
        except (SafetensorError, ValueError, RecursionError) as error:
            raise ArtifactError(f"{where}/{entry.file} cannot be decoded: {error}.") from error
    return Artifact(manifest, tensors, documents, files)


def _content(where: str, entry: Entry) -> bytes:
    """The verified content of a file."""
    content = _read(where, entry.file, entry.bytes)
    if len(content) != entry.bytes or digest(content) != entry.sha256:
        raise _altered(where, entry, len(content))
    return content


def _tensors(where: str, entry: Entry) -> dict[str, NDArray[Any]]:
    """Verified arrays; those of a local file are in memory once, without a copy of the file's content."""
    if "://" in where:
        return dict(from_safetensors(_content(where, entry)))
    try:
        return dict(load_file(_file(where, entry)))
    except FileNotFoundError as error:  # removed since it was verified
        raise _missing(where, entry.file) from error


def artifact_kind(path: str | Path) -> str:
    """What a saved artifact holds, from its manifest alone."""
    where = str(path).rstrip("/")
    try:
        return str(json.loads(_read(where, MANIFEST))["kind"])
    except (ValueError, KeyError, TypeError) as error:
        raise ArtifactError(f"{where}/{MANIFEST} is not a readable manifest ({error}).") from error


def artifact_digest(path: str | Path) -> str:
    """sha256 of a saved artifact's manifest, which changes whenever anything in it does."""
    return digest(_read(str(path).rstrip("/"), MANIFEST))


def _file(where: str, entry: Entry) -> Path:
    """A verified file on this machine; one of a remote artifact is fetched into the user's cache once."""
    try:
        if "://" in where:
            path = cache_root() / "artifacts" / f"{entry.sha256}{Path(entry.file).suffix}"
            if not path.exists():
                _fetch(f"{where}/{entry.file}", path)
        else:
            path = _inside(where, entry.file)
        size = path.stat().st_size
        if size != entry.bytes or file_digest(path) != entry.sha256:
            if "://" in where:
                path.unlink()
            raise _altered(where, entry, size)
    except FileNotFoundError as error:
        raise _missing(where, entry.file) from error
    except OSError as error:
        raise ArtifactError(f"{where}/{entry.file} cannot be read: {error}.") from error
    return path


def _fetch(url: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with _open_url(url) as source, replacing(path) as temporary, temporary.open("wb") as target:
        shutil.copyfileobj(source, target, 2**20)


def _altered(where: str, entry: Entry, found: int) -> ArtifactError:
    return ArtifactError(
        f"{where}/{entry.file} is not what was saved: expected {entry.bytes} bytes with sha256 {entry.sha256}, "
        f"found {found} bytes. The file was altered or truncated; restore it or save the artifact again."
    )


def _missing(where: str, name: str) -> ArtifactError:
    return ArtifactError(
        f"{where} has no {name}: it is not a saved artifact, or it is incomplete. Check the path or save it again."
    )


def _finite(group: dict[str, NDArray[Any]], where: str) -> dict[str, NDArray[Any]]:
    for name, array in group.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ArtifactError(f"{where} holds NaN or infinite values in {name!r}. Fit and save the model again.")
    return group


def _read(where: str, name: str, expected: int | None = None) -> bytes:
    """The content of a file; one that is larger than expected is refused without reading it whole."""
    most = LARGEST_MANIFEST if expected is None else expected
    try:
        with _open_url(f"{where}/{name}") if "://" in where else _inside(where, name).open("rb") as file:
            # In pieces: one read of a claimed size would reserve that much memory.
            pieces, size = [], 0
            while size <= most and (piece := file.read(2**20)):
                pieces.append(piece)
                size += len(piece)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _missing(where, name) from error
    except OSError as error:
        raise ArtifactError(f"{where}/{name} cannot be read: {error}.") from error
    if size > most:
        raise ArtifactError(f"{where}/{name} is larger than the {most} bytes it should have. Save the artifact again.")
    return b"".join(pieces)


def _inside(where: str, name: str) -> Path:
    """A regular file of the directory; a link that leads out of it, a pipe or a device is refused."""
    path = Path(where) / name
    if path.exists() and (not path.is_file() or path.resolve().parent != Path(where).resolve()):
        raise ArtifactError(
            f"{path} is not a file of the artifact but leads elsewhere. Copy the artifact with its files."
        )
    return path


def _open_url(url: str) -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError("Reading a model from a URL", "cluster") from error
    try:
        return fsspec.open(url, "rb")
    except ImportError as error:
        raise ArtifactError(f"{url} cannot be read without another package. {error}.") from error
    except ValueError as error:  # an unknown protocol
        raise ArtifactError(f"{url} cannot be read: {error}. Name a directory, or a URL that fsspec knows.") from error
