"""An append-only, hash-chained file that several processes may write to and a crash cannot corrupt."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphglass.errors import LedgerError
from graphglass.files.atomic import write_whole

_ORIGIN = "0" * 64
_LARGEST_HEAD = 4096  # bytes; a head file has about a hundred
# Fingerprints stand outside the chain: its head is published, and must not depend on private graphs.
_TABLES = {
    "entries": "sequence INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, previous TEXT NOT NULL, "
    "digest TEXT NOT NULL UNIQUE",
    "contents": "sha256 TEXT PRIMARY KEY, content BLOB NOT NULL",
    "fingerprints": "release TEXT NOT NULL, fingerprint BLOB NOT NULL",
}
_SCHEMA = "".join(
    f"CREATE TABLE {table} ({columns}) STRICT;"
    + "".join(
        f"CREATE TRIGGER {table}_no_{action} BEFORE {action} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
        for action in ("UPDATE", "DELETE")
    )
    for table, columns in _TABLES.items()
)


@dataclass(frozen=True)
class Entry:
    """One line of the chain; ``digest`` covers its content and, through ``previous``, all lines before it."""

    sequence: int
    kind: str
    body: Mapping[str, Any]
    previous: str
    digest: str


def _digest(sequence: int, kind: str, body: str, previous: str) -> str:
    return hashlib.sha256(json.dumps([sequence, kind, body, previous]).encode()).hexdigest()


@dataclass
class Transaction:
    """The verified entries, and the right to append while nobody else can."""

    connection: sqlite3.Connection
    entries: list[Entry]

    def append(self, kind: str, body: Mapping[str, Any]) -> Entry:
        text = json.dumps(body, sort_keys=True)
        previous = self.entries[-1].digest if self.entries else _ORIGIN
        sequence = len(self.entries)
        entry = Entry(sequence, kind, json.loads(text), previous, _digest(sequence, kind, text, previous))
        row = (sequence, kind, text, previous, entry.digest)
        self.connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", row)
        self.entries.append(entry)
        return entry

    def store(self, content: bytes) -> str:
        """Keep a blob; returns its sha256."""
        sha256 = hashlib.sha256(content).hexdigest()
        self.connection.execute("INSERT OR IGNORE INTO contents VALUES (?, ?)", (sha256, content))
        return sha256

    def content(self, sha256: str) -> bytes:
        row = self.connection.execute("SELECT content FROM contents WHERE sha256 = ?", (sha256,)).fetchone()
        if row is None or hashlib.sha256(row[0]).hexdigest() != sha256:
            raise LedgerError(
                "A stored release is missing from the ledger or was altered. Restore the ledger from a copy."
            )
        return bytes(row[0])

    def store_fingerprints(self, release: str, fingerprints: Iterable[bytes]) -> None:
        rows = ((release, fingerprint) for fingerprint in fingerprints)
        self.connection.executemany("INSERT INTO fingerprints VALUES (?, ?)", rows)

    def fingerprint_counts(self) -> dict[str, int]:
        """How many fingerprints every release has stored."""
        return dict(self.connection.execute("SELECT release, COUNT(*) FROM fingerprints GROUP BY release"))

    def releases_with(self, fingerprints: Iterable[bytes]) -> dict[str, int]:
        """Releases that share some of these fingerprints, with the number shared."""
        asked = set(fingerprints)
        stored = self.connection.execute("SELECT DISTINCT release, fingerprint FROM fingerprints")
        return Counter(release for release, fingerprint in stored if fingerprint in asked)


class HashChain:
    """The file at ``path`` and, next to it, ``path.head``: the last entry this file is known to have reached.

    A copy restored from yesterday is shorter than its head file says, and is refused. The whole chain is verified once;
    later transactions verify what was added since.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.head_path = self.path.with_name(self.path.name + ".head")
        self.entries: list[Entry] = []

    def create(self, kind: str, body: Mapping[str, object]) -> None:
        """Make the file, readable by its owner alone, with a first entry."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError as error:
            raise LedgerError(f"The ledger {self.path} exists already.") from error
        except OSError as error:
            raise LedgerError(f"The ledger {self.path} cannot be created: {error.strerror}.") from error
        if self.head_path.exists():
            self.path.unlink()
            raise LedgerError(
                f"{self.head_path} belongs to a ledger that is gone. Put that ledger back; a new one would forget "
                "what it spent."
            )
        try:
            self._write_schema()
            with self.transaction() as transaction:
                transaction.append(kind, body)
        except BaseException:
            # Nothing was granted yet. What is left of the attempt would only block the next one.
            for suffix in ("", "-wal", "-shm", "-journal", ".head"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            raise

    def _write_schema(self) -> None:
        try:
            with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
                if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                    raise LedgerError(
                        f"The file system of {self.path} has no write-ahead log. Keep the ledger on a local disk."
                    )
                connection.execute("PRAGMA synchronous = FULL")
                connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        except sqlite3.Error as error:
            raise LedgerError(f"The ledger {self.path} cannot be created: {error}.") from error

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Take the write lock, verify the chain, hand it out, and commit what was appended, durably."""
        with self._locked() as connection:
            self.entries = self._verified(connection)
            transaction = Transaction(connection, list(self.entries))
            yield transaction
            connection.execute("COMMIT")
        if len(transaction.entries) > len(self.entries):
            self.entries = transaction.entries
            self._advance_head()

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            raise LedgerError(f"There is no ledger at {self.path}. Create one with `glass private budget create`.")
        if not self.path.is_file():
            raise self._foreign("a directory" if self.path.is_dir() else "no regular file")
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        try:
            # Closing rolls back an open transaction.
            with closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=60)) as connection:
                self._check_file(connection)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("BEGIN IMMEDIATE")
                yield connection
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise self._foreign("another kind of file") from error
            raise LedgerError(f"The ledger {self.path} cannot be used: {error}. Nothing was released.") from error

    def _check_file(self, connection: sqlite3.Connection) -> None:
        # Before the check of permissions: nobody should change those of a file that is no ledger. SQLite has to look,
        # for closing the file here would take away the locks of other threads on it.
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchall():
            raise self._foreign("another kind of file")
        if self.path.stat().st_mode & 0o077:
            raise LedgerError(f"The ledger {self.path} can be opened by others. Run: chmod 600 {self.path}")
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            raise LedgerError(f"The ledger {self.path} has lost its write-ahead log mode: it was altered.")

    def _foreign(self, found: str) -> LedgerError:
        return LedgerError(
            f"{self.path} is not a ledger but {found}. Name a ledger, or a new file to `glass private budget create`."
        )

    def _verified(self, connection: sqlite3.Connection) -> list[Entry]:
        """The entries known before, which are in memory, and the verified ones that follow them in the file."""
        entries = self.entries[:-1]
        previous = entries[-1].digest if entries else _ORIGIN
        query = "SELECT sequence, kind, body, previous, digest FROM entries WHERE sequence >= ? ORDER BY sequence"
        rows = connection.execute(query, (len(entries),))
        for expected, (sequence, kind, body, before, digest) in enumerate(rows, start=len(entries)):
            if sequence != expected or before != previous or digest != _digest(sequence, kind, body, before):
                raise LedgerError(
                    f"Entry {expected} of the ledger {self.path} was altered, inserted or removed. Do not use it."
                )
            try:
                entries.append(Entry(sequence, kind, dict(json.loads(body)), before, digest))
            except (ValueError, TypeError, RecursionError) as error:
                raise LedgerError(f"Entry {expected} of the ledger {self.path} cannot be read: {error}.") from error
            previous = digest
        if self.entries:
            self._require(entries, self.entries[-1].sequence, self.entries[-1].digest)
        self._check_head(entries)
        return entries

    def _check_head(self, entries: list[Entry]) -> None:
        try:
            if self.head_path.exists() and not self.head_path.is_file():
                raise ValueError("it is not a regular file")
            with self.head_path.open("rb") as file:
                head = json.loads(file.read(_LARGEST_HEAD))
            sequence, digest = head["sequence"], head["digest"]
            if not isinstance(sequence, int) or not isinstance(digest, str):
                raise TypeError("it holds no sequence number and hash")
        except FileNotFoundError:
            if len(entries) <= 1:
                return  # a crash right after creation; nothing was granted or spent yet
            raise LedgerError(
                f"{self.head_path} is missing; without it a rolled-back ledger would go unnoticed. Put it back."
            ) from None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise LedgerError(
                f"{self.head_path} cannot be read: {error}. Put back the file that was written with the ledger."
            ) from error
        self._require(entries, sequence, digest)

    def _require(self, entries: list[Entry], sequence: int, digest: str) -> None:
        if not 0 <= sequence < len(entries) or entries[sequence].digest != digest:
            raise LedgerError(
                f"The ledger {self.path} has been rolled back: entry {sequence} with hash {digest[:12]} is gone. "
                "Releases made since then would be forgotten; restore the newer file."
            )

    def _advance_head(self) -> None:
        # Under the write lock, so that a slower process cannot put an older head over a newer one.
        with self._locked() as connection:
            row = connection.execute("SELECT sequence, digest FROM entries ORDER BY sequence DESC LIMIT 1").fetchone()
            try:
                head = json.dumps({"sequence": row[0], "digest": row[1]}).encode()
                write_whole(self.head_path, head, owner_only=True)
            except OSError as error:
                raise LedgerError(f"The ledger head cannot be written: {error}") from error
