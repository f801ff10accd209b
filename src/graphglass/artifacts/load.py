"""Read an artifact directory, local or through fsspec, and refuse anything that is not exactly what was saved."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as from_safetensors

from graphglass.artifacts.manifest import MANIFEST, Manifest, digest
from graphglass.errors import ArtifactError, MissingExtraError


@dataclass(frozen=True)
class Artifact:
    """A verified artifact: tensors and documents by role."""

    manifest: Manifest
    tensors: dict[str, dict[str, NDArray[Any]]]
    documents: dict[str, Any]


def load_artifact(path: str | Path, kind: str) -> Artifact:
    """Load and verify. ``path`` is a local directory or a URL that fsspec can read (``s3://``, ``memory://``, ...)."""
    where = str(path).rstrip("/")
    manifest = Manifest.from_json(_read(where, MANIFEST), kind=kind, where=where)
    tensors: dict[str, dict[str, NDArray[Any]]] = {}
    documents: dict[str, Any] = {}
    for role, entry in manifest.entries.items():
        content = _read(where, entry.file)
        if len(content) != entry.bytes or digest(content) != entry.sha256:
            raise ArtifactError(
                f"{where}/{entry.file} is not what was saved: expected {entry.bytes} bytes with sha256 {entry.sha256}, "
                f"found {len(content)} bytes. The file was altered or truncated; restore it or save the artifact again."
            )
        try:
            if entry.file.endswith(".safetensors"):
                tensors[role] = _finite(from_safetensors(content), f"{where}/{entry.file}")
            else:
                documents[role] = json.loads(content)
        except (SafetensorError, ValueError) as error:
            raise ArtifactError(f"{where}/{entry.file} cannot be decoded: {error}.") from error
    return Artifact(manifest, tensors, documents)


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


def _finite(group: dict[str, NDArray[Any]], where: str) -> dict[str, NDArray[Any]]:
    for name, array in group.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ArtifactError(f"{where} holds NaN or infinite values in {name!r}. Fit and save the model again.")
    return group


def _read(where: str, name: str) -> bytes:
    try:
        if "://" in where:
            return _read_url(f"{where}/{name}")
        return (Path(where) / name).read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ArtifactError(
            f"{where} has no {name}: it is not a saved artifact, or it is incomplete. Check the path or save it again."
        ) from error
    except OSError as error:
        raise ArtifactError(f"{where}/{name} cannot be read: {error}.") from error


def _read_url(url: str) -> bytes:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError("Reading a model from a URL", "cluster") from error
    with fsspec.open(url, "rb") as file:
        content: bytes = file.read()
    return content
