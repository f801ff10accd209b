"""The manifest: what a saved directory holds, and the single point at which a save takes effect."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphglass.errors import ArtifactError

MANIFEST = "manifest.json"
# Raised for a kind whose stored content changes its meaning; every other kind has version 1.
VERSIONS = {"graphglass-detector": 2}
LARGEST_MANIFEST = 2**20  # bytes
MAPPED = ("npy", "faiss")  # files that are mapped into memory, not read


def format_version(kind: str) -> int:
    """The version of artifacts of a kind that this release writes and reads."""
    return VERSIONS.get(kind, 1)


@dataclass(frozen=True)
class Entry:
    """One stored file: its name on disk, size and sha256."""

    file: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """Kind and format version of an artifact, and its files by role (``encoder``, ``references``, ...)."""

    kind: str
    version: int
    written_by: str
    entries: dict[str, Entry]

    def to_json(self) -> str:
        files = {role: vars(entry) for role, entry in sorted(self.entries.items())}
        body = {"kind": self.kind, "version": self.version, "written_by": self.written_by, "files": files}
        return json.dumps(body, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: bytes, *, kind: str, where: str) -> Manifest:
        try:
            body: dict[str, Any] = json.loads(text)
            entries = {role: Entry(**entry) for role, entry in body["files"].items()}
            manifest = cls(body["kind"], body["version"], body["written_by"], entries)
            if not all(
                isinstance(e.bytes, int) and e.bytes >= 0 and isinstance(e.sha256, str) for e in entries.values()
            ):
                raise TypeError("a file has no size or hash")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ArtifactError(f"{where}/{MANIFEST} is not a readable manifest ({error}). Save again.") from error
        if manifest.kind != kind:
            raise ArtifactError(f"{where} holds a {manifest.kind!r}, but a {kind!r} was expected.")
        if manifest.version != format_version(kind):
            raise ArtifactError(
                f"{where} has format version {manifest.version}; this release of GraphGlass reads version "
                f"{format_version(kind)}. It was written by GraphGlass {manifest.written_by}: use that release, or fit "
                "and save again."
            )
        for entry in entries.values():
            if not isinstance(entry.file, str) or not re.fullmatch(r"\w[\w.-]*", entry.file, re.ASCII):
                raise ArtifactError(f"{where}/{MANIFEST} names a file outside the directory: {entry.file!r}.")
        return manifest


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of a file of any size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
