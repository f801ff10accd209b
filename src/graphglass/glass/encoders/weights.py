"""Model directories: where an encoder's weights are on this machine, and which weights they are."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from pathlib import Path

from graphglass.errors import EncoderError, MissingExtraError
from graphglass.files.manifest import file_digest

_NETWORK_SECONDS = 10.0
_LARGEST = {".safetensors": 64 * 2**30}  # bytes; every other file may have 64 MiB
_MODULES = re.compile(r"sentence_transformers\.[\w.]*\b(Transformer|Pooling|Normalize|Dense|LayerNorm)")


def find_weights(name: str, *, download: bool = False, revision: str | None = None) -> Path:
    """The directory that holds a model, given as a local directory or a hub name.

    A hub name that is not on this machine is fetched with `download`; without it no connection is ever opened.
    `revision` is a commit, tag or branch.
    """
    folder = Path(name) if Path(name).is_dir() else _snapshot(name, download, revision)
    if not any(folder.glob("*.safetensors")):
        raise EncoderError(
            f"No weights in {folder}: expected *.safetensors next to config.json. "
            f"If a download was interrupted, repeat it with: hf download {name}"
        )
    return folder


def refuse_unsafe(folder: Path) -> None:
    """Refuse a directory whose files are not plain, bounded and its own, or whose modules.json names foreign code."""
    # The hub's cache keeps the files of a snapshot next to it and links to them.
    blobs = folder.resolve().parents[1] / "blobs" if revision_of(folder) != "local" else None
    for path in sorted(folder.rglob("*")):
        linked = path.is_symlink()
        if linked and (blobs is None or not path.resolve().is_relative_to(blobs)):
            raise EncoderError(f"{path} is a link; an encoder's directory must hold the files themselves.")
        state = path.stat() if linked else path.lstat()
        if stat.S_ISDIR(state.st_mode):
            continue
        largest = _LARGEST.get(path.suffix, 64 * 2**20)
        if not stat.S_ISREG(state.st_mode) or state.st_size > largest:
            raise EncoderError(f"{path} must be a regular file of at most {largest:,} bytes; remove it.")
    if (folder / "modules.json").exists():
        try:
            modules = [
                (str(part["type"]), str(part["path"])) for part in json.loads((folder / "modules.json").read_text())
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EncoderError(f"{folder}/modules.json is not readable ({error}). Copy the model again.") from error
        for kind, place in modules:
            if not _MODULES.fullmatch(kind) or not (folder / place).resolve().is_relative_to(folder.resolve()):
                raise EncoderError(
                    f"{folder}/modules.json must name modules of sentence-transformers inside the directory, found "
                    f"{kind!r} in {place!r}. Code and files from elsewhere are not loaded."
                )


def weights_digest(folder: Path) -> str:
    """sha256 over the safetensors files of a directory, in the order of their names."""
    digests = [_file_digest(path) for path in sorted(folder.glob("*.safetensors"))]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def revision_of(folder: Path) -> str:
    """The commit of a hub snapshot, or ``local``."""
    return folder.name if re.fullmatch(r"[0-9a-f]{40}", folder.name) else "local"


def _snapshot(name: str, download: bool, revision: str | None) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError(f"The encoder {name!r}", "text") from error
    patterns = ["*.json", "*.safetensors", "*.txt", "*.model"]
    try:
        # The lookup on this machine comes first and opens no connection.
        return Path(snapshot_download(name, revision=revision, local_files_only=True, allow_patterns=patterns))
    except Exception as missing:
        if not download:
            raise EncoderError(
                f"The weights of {name!r} are not on this machine. Get them with `hf download {name}`, "
                f"or copy the model to a directory and give its path, or call load_encoder({name!r}, download=True)."
            ) from missing
    try:
        found = snapshot_download(name, revision=revision, allow_patterns=patterns, etag_timeout=_NETWORK_SECONDS)
        return Path(found)
    except Exception as error:
        raise EncoderError(
            f"The weights of {name!r} could not be downloaded ({type(error).__name__}: {str(error)[:200]}). "
            "On a machine without network, copy the model's directory and give its path."
        ) from error


def _file_digest(path: Path) -> str:
    # The hub's cache names large files by their sha256; reading 16 GB again would only repeat its check.
    if re.fullmatch(r"[0-9a-f]{64}", path.resolve().name):
        return path.resolve().name
    return file_digest(path)
