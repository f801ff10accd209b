"""A content-addressed store of embeddings on disk: the same prompt under the same fingerprint is encoded once."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import EncoderError, PrivacyError
from graphglass.files import cache_root
from graphglass.files.atomic import locked
from graphglass.files.progress import progress_bar
from graphglass.glass.encoders.numeric import NumericEncoder
from graphglass.glass.encoders.text_encoder import Fingerprint, TextEncoder, checked_rows

_SCHEMA = """
CREATE TABLE IF NOT EXISTS unit_row (
    key BLOB PRIMARY KEY, digest TEXT NOT NULL, checksum INTEGER NOT NULL, row BLOB NOT NULL
);
DROP TABLE IF EXISTS embedding; -- of version 0.2, with another column
"""
_private: ContextVar[bool] = ContextVar("private", default=False)
_PROMPTS_PER_STEP = 256
_KEYS_PER_QUERY = 500  # below SQLite's limit of variables in every version


class EmbeddingCache:
    """One SQLite file in write-ahead mode, shared by every process of a user.

    A row's key is the sha256 of the encoder's fingerprint and the prompt, so a change of weights, template or
    dimension is a different key and can never be served by mistake. Each row carries a checksum; a damaged
    row counts as absent.

    Parameters
    ----------
    folder : path or None
        None takes :func:`~graphglass.files.cache_root`.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.path = (Path(folder) if folder is not None else cache_root()) / "embeddings.sqlite"

    def load(self, fingerprint: Fingerprint, prompts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Stored rows, (prompts, dimension), and which of them were found, (prompts,)."""
        rows = np.zeros((len(prompts), fingerprint.dimension), np.float32)
        found = np.zeros(len(prompts), bool)
        if not self.path.exists():
            return rows, found
        places: dict[bytes, list[int]] = {}
        for i, key in enumerate(_keys(fingerprint, prompts)):
            places.setdefault(key, []).append(i)
        keys = list(places)
        with self._connection() as database:
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                some = keys[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(some))
                select = f"SELECT key, checksum, row FROM unit_row WHERE key IN ({marks})"  # noqa: S608
                for key, checksum, blob in database.execute(select, some):
                    if len(blob) != 4 * fingerprint.dimension or zlib.crc32(blob) != checksum:
                        continue
                    rows[places[key]] = np.frombuffer(blob, "<f4")
                    found[places[key]] = True
        return rows, found

    def store(self, fingerprint: Fingerprint, prompts: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Keep rows, (prompts, dimension); a row that is there already is replaced."""
        if rows.shape != (len(prompts), fingerprint.dimension):
            raise EncoderError(
                f"The cache of {fingerprint.name!r} holds rows of dimension {fingerprint.dimension} for {len(prompts)} "
                f"prompts, found shape {rows.shape}."
            )
        blobs = [np.ascontiguousarray(row, "<f4").tobytes() for row in rows]
        records = [
            (key, fingerprint.digest, zlib.crc32(blob), blob)
            for key, blob in zip(_keys(fingerprint, prompts), blobs, strict=True)
        ]
        with self._connection() as database:
            database.executemany("INSERT OR REPLACE INTO unit_row VALUES (?, ?, ?, ?)", records)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # One process at a time: SQLite does not wait where one connection opens the log that another is closing.
            with locked(self.path.parent):
                # For its owner alone: which prompts were encoded says which graphs were seen. SQLite gives its log the
                # same mode.
                os.close(os.open(self.path, os.O_CREAT | os.O_RDONLY, 0o600))
                self.path.chmod(0o600)
                with closing(sqlite3.connect(self.path, timeout=60)) as database:
                    database.execute("PRAGMA journal_mode = WAL")
                    database.execute("PRAGMA synchronous = NORMAL")
                    database.executescript(_SCHEMA)
                    with database:
                        yield database
        except (sqlite3.Error, OSError) as error:
            raise EncoderError(
                f"The embedding cache at {self.path} cannot be used ({error}). Delete it, "
                "or set GRAPHGLASS_CACHE to a folder you can write to."
            ) from error


@contextmanager
def private_encoding() -> Iterator[None]:
    """Inside, no cache is read or written and no endpoint is asked, whoever calls :func:`encode_cached`.

    A row from the cache was computed in a batch with other prompts, and its last bits may depend on them; that a
    prompt is in the cache shows that its graph was seen.
    """
    token = _private.set(True)
    try:
        yield
    finally:
        _private.reset(token)


def encode_cached(
    encoder: TextEncoder,
    prompts: Sequence[str],
    *,
    cache: EmbeddingCache | None = None,
    progress: bool = False,
) -> NDArray[np.float32]:
    """Unit rows, (prompts, dimension), encoding each distinct new prompt once.

    Rows are stored step by step in `cache` (default: the user's), so an interrupted run resumes where it stopped. The
    numeric encoder is faster than any store and goes past it.
    """
    if _private.get():
        if encoder.fingerprint.weights == "remote":
            raise PrivacyError(
                f"The model was made with the endpoint {encoder.fingerprint.name}, and a private release sends nothing "
                "anywhere. Use a model with a local text encoder, or release without a model."
            )
        return checked_rows(encoder.encode(prompts), len(prompts), encoder.dimension, encoder.fingerprint.name)
    if isinstance(encoder, NumericEncoder):
        return encoder.encode(prompts, progress=progress)
    store = EmbeddingCache() if cache is None else cache
    texts = list(prompts)
    fingerprint = encoder.fingerprint
    rows, found = store.load(fingerprint, texts)
    # Equal lengths next to each other: a step then makes few, full batches.
    new = {text for text, known in zip(texts, found, strict=True) if not known}
    missing = sorted(new, key=lambda text: (len(text), text))
    fresh: dict[str, NDArray[np.float32]] = {}
    with progress_bar(f"Encoding with {fingerprint.name}", len(missing), show=progress) as advance:
        for start in range(0, len(missing), _PROMPTS_PER_STEP):
            step = missing[start : start + _PROMPTS_PER_STEP]
            made = checked_rows(encoder.encode(step), len(step), fingerprint.dimension, fingerprint.name)
            store.store(fingerprint, step, made)
            fresh.update(zip(step, made, strict=True))
            advance(len(step))
    for i in np.flatnonzero(~found):
        rows[i] = fresh[texts[i]]
    return rows


def _keys(fingerprint: Fingerprint, prompts: Sequence[str]) -> list[bytes]:
    prefix = bytes.fromhex(fingerprint.digest)
    return [hashlib.sha256(prefix + prompt.encode()).digest() for prompt in prompts]
