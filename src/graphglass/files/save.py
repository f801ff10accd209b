"""Write an artifact directory so a reader sees the old state or the new one, never a mixture."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file

from graphglass import __version__
from graphglass.errors import ArtifactError
from graphglass.files.atomic import drafted, locked, settle, write_whole
from graphglass.files.manifest import MANIFEST, MAPPED, Entry, Manifest, file_digest, format_version
from graphglass.files.output_file import refuse_folder

Tensors = Mapping[str, NDArray[Any]]
Write = Callable[[Path], object]


def save_artifact(
    path: str | Path,
    kind: str,
    *,
    tensors: Mapping[str, Tensors],
    documents: Mapping[str, object],
    files: Mapping[str, Path] | None = None,
) -> Manifest:
    """Write tensors as safetensors and documents as JSON, each under a name made from its content.

    ``files`` are copied as they are; a reader maps them. Nothing passes through memory a second time.

    The manifest is replaced last and at once, so it is the point at which the save takes effect; older files are
    removed after it. A crash, Ctrl-C or a full disk leaves the previous artifact readable.
    """
    refuse_url(path)
    directory = Path(path)
    if directory.exists() and not directory.is_dir():
        raise ArtifactError(f"{directory} is a file; an artifact needs its own directory.")
    leftovers = directory.iterdir() if directory.is_dir() and not (directory / MANIFEST).is_file() else ()
    if not all(_is_ours(path.name) for path in leftovers):  # those of a first save that was killed are
        raise ArtifactError(f"{directory} holds other files. Choose a new directory, or one that an artifact is in.")
    parts: dict[str, Write] = {
        f"{role}.safetensors": partial(_write_tensors, _contiguous(role, group)) for role, group in tensors.items()
    }
    parts |= {f"{role}.json": partial(_write_bytes, _json(role, document)) for role, document in documents.items()}
    parts |= {f"{role}{source.suffix}": partial(shutil.copyfile, source) for role, source in (files or {}).items()}
    written: list[Path] = []
    made = not directory.exists()
    try:
        directory.mkdir(mode=0o775, parents=True, exist_ok=True)
        with locked(directory):
            entries = {name.partition(".")[0]: _put(directory, name, write, written) for name, write in parts.items()}
            manifest = Manifest(kind, format_version(kind), __version__, entries)
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
        if isinstance(error, OSError | SafetensorError):
            raise ArtifactError(f"Could not write {directory}: {error}. What was there before is unchanged.") from error
        raise
    return manifest


def refuse_url(path: str | Path) -> None:
    """Artifacts are written to this machine; without this check ``s3://bucket`` would be a folder called ``s3:``."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(path)):  # one slash: a Path has merged the two
        raise ArtifactError(
            f"{path} is a URL, which can be loaded and not written. Name a local directory, and upload it afterwards."
        )


def refuse_unless_savable(path: Path) -> None:
    """Find out before a long fit whether its result could be written."""
    refuse_url(path)
    if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / MANIFEST).is_file())):
        raise ArtifactError(f"{path} exists and is not a model. Choose a new directory, or a model to replace.")
    refuse_folder(path)


def _put(directory: Path, name: str, write: Write, written: list[Path]) -> Entry:
    """Write one file under a name made from its content; a new one is noted, so a failure can take it back."""
    role, _, suffix = name.partition(".")
    with drafted(directory / name) as draft:
        write(draft)
        sha256 = file_digest(draft)
        entry = Entry(f"{role}-{sha256[:12]}.{suffix}", draft.stat().st_size, sha256)
        if not (directory / entry.file).exists():
            written.append(directory / entry.file)
        settle(draft, directory / entry.file)
    return entry


def _is_ours(name: str) -> bool:
    """Whether a save wrote this file: a part named after its content, or the draft of a part."""
    kinds = "|".join(("safetensors", "json", *MAPPED))
    pattern = rf"[^.]+-[0-9a-f]{{12}}\.({kinds})|\.[^.]+\.({kinds})\.[0-9a-f]{{12}}(\.draft)?"
    return re.fullmatch(pattern, name) is not None


def _contiguous(role: str, group: Tensors) -> dict[str, NDArray[Any]]:
    ready = {}
    for name, value in group.items():
        array = np.ascontiguousarray(value)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ArtifactError(f"{role}/{name} has NaN or infinite values and is not saved. Fit the model again.")
        ready[name] = array
    return ready


def _json(role: str, document: object) -> bytes:
    try:
        return json.dumps(document, indent=1, sort_keys=True, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ArtifactError(f"{role} cannot be written as JSON: {error}.") from error


def _write_tensors(group: dict[str, NDArray[Any]], path: Path) -> None:
    path.touch()
    mode = path.stat().st_mode
    save_file(group, path)  # which leaves a file that only its owner can read
    path.chmod(mode)


def _write_bytes(content: bytes, path: Path) -> None:
    path.write_bytes(content)
