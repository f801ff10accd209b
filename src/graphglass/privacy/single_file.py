"""An artifact in one safetensors file: arrays, a JSON document, and a manifest with the sha256 of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as from_safetensors
from safetensors.numpy import save as to_safetensors

from graphglass import __version__
from graphglass.errors import ArtifactError
from graphglass.files.manifest import Entry, Manifest, digest, format_version

_DOCUMENT = "document"
_LARGEST_HEADER = 2**20


def pack_artifact(kind: str, arrays: Mapping[str, NDArray[Any]], document: Mapping[str, Any]) -> bytes:
    """The bytes of a file; equal content gives equal bytes."""
    ready = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    text = json.dumps(document, sort_keys=True, allow_nan=False)
    entries = {_DOCUMENT: Entry(_DOCUMENT, len(text), digest(text.encode()))}
    entries |= {name: Entry(name, value.nbytes, digest(value.tobytes())) for name, value in ready.items()}
    manifest = Manifest(kind, format_version(kind), __version__, entries).to_json()
    # One metadata key: the order of several would change from run to run.
    sealed = json.dumps([digest(manifest.encode()), manifest, text])
    return bytes(to_safetensors(ready, metadata={"artifact": sealed}))


def unpack_artifact(content: bytes, kind: str, where: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The document and arrays of :func:`pack_artifact`; anything altered, truncated or of another kind is refused."""
    try:
        size = int.from_bytes(content[:8], "little")
        if not 0 < size <= min(_LARGEST_HEADER, len(content) - 8):
            raise ValueError(f"its header claims {size} bytes")
        header = json.loads(content[8 : 8 + size])
        checksum, text, document = json.loads(header["__metadata__"]["artifact"])
        manifest = Manifest.from_json(text.encode(), kind=kind, where=where)
        arrays = from_safetensors(content)
        found = {name: (value.nbytes, digest(value.tobytes())) for name, value in arrays.items()}
        found[_DOCUMENT] = (len(document), digest(document.encode()))
        expected = {name: (entry.bytes, entry.sha256) for name, entry in manifest.entries.items()}
        if digest(text.encode()) != checksum or found != expected:
            raise ValueError("it does not match its checksums")
        return dict(json.loads(document)), arrays
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
        raise ArtifactError(f"{where} is not a {kind}, or it was altered or damaged ({error}).") from error
