"""The graphs a model was made from, as hashes that mean nothing outside the model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SaltedHashes:
    """Content hashes under a salt of the model's own.

    Lists of two models cannot be compared, and no table of hashes made beforehand fits. Whoever has the model and a
    graph can still ask whether the graph is in it: a release has to.
    """

    salt: str = ""  # made from all hashes, so equal models are equal files
    digests: frozenset[str] = frozenset()  # one per graph

    @classmethod
    def of(cls, hashes: Iterable[str]) -> SaltedHashes:
        """Salt the content hashes of a model's graphs."""
        known = sorted(set(hashes))
        salt = hashlib.sha256("|".join(["graphglass/salt", *known]).encode()).hexdigest()
        return cls(salt).union(known)

    def union(self, hashes: Iterable[str]) -> SaltedHashes:
        """The same list with more graphs in it."""
        return SaltedHashes(self.salt, self.digests.union(map(self._salted, hashes)))

    def __contains__(self, content_hash: object) -> bool:
        return isinstance(content_hash, str) and self._salted(content_hash) in self.digests

    def __len__(self) -> int:
        return len(self.digests)

    def _salted(self, content_hash: str) -> str:
        return hashlib.sha256(f"{self.salt}|{content_hash}".encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        return {"salt": self.salt, "hashes": sorted(self.digests)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SaltedHashes:
        return cls(str(value["salt"]), frozenset(map(str, value["hashes"])))
