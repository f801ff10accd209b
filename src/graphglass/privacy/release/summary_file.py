"""Where a release is written: refused before the charge if it cannot be, recoverable after it."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path

from graphglass.errors import ArtifactError, InputError
from graphglass.privacy.private_summary import PrivateSummary


def refuse_output(path: Path, stored: PrivateSummary | None = None) -> None:
    """Refuse a path that could not be written, or that holds something else than the ``stored`` summary."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory. Name a file for the summary.")
    if os.path.lexists(path) and (stored is None or not _holds(path, stored)):
        held = "" if stored is None else f" and is not release {stored.sites[0].release}"
        raise InputError(f"{path} exists already{held}. A release never replaces another file: name a new one.")
    if not os.path.isdir(path.parent):
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}. Create it or name another.")
    try:
        # What the write itself begins with. Permissions alone miss full, read-only and special file systems.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}. Name another file.") from error


def write_output(path: Path, summary: PrivateSummary, *, repeated: bool) -> None:
    """Write a release that the ledger keeps, or say how to get at it."""
    try:
        # Again: embedding the graphs may have taken hours since the first look.
        refuse_output(path, summary)
        summary.save(path)
    except (ArtifactError, InputError) as error:
        release = summary.sites[0].release
        raise ArtifactError(
            f"{error} Release {release} {'is' if repeated else 'was charged and is'} kept in the ledger: repeat the "
            f"request with --release-id {shlex.quote(release)} (release_id={release!r} in Python) and another output, "
            "at no further cost."
        ) from error


def _holds(path: Path, summary: PrivateSummary) -> bool:
    if not path.is_file():
        return False  # reading a pipe or a device could wait for ever
    try:
        return PrivateSummary.load(path).sites == summary.sites
    except ArtifactError:
        return False
