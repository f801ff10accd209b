"""Ledger: how much privacy each dataset has, and what every release took from it."""

from __future__ import annotations

import hashlib
import math
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from graphglass.errors import BudgetError, LedgerError, ParameterError, PrivacyError
from graphglass.privacy.release.chain import Entry, HashChain
from graphglass.privacy.release.noise_scale import check_epsilon_delta, epsilon_of, noise_multiplier
from graphglass.privacy.summary import PrivateSummary
from graphglass.privacy.terms import PrivacyTerms

FORMAT = "graphglass-ledger"
VERSION = 1
# The share of every delta set aside for integer instead of continuous noise.
SLACK_SHARE = Fraction(1, 2**20)


def gaussian_delta(delta: float) -> float:
    """The part of a promised delta left for the Gaussian law once the slack's share is set aside."""
    return delta * (1.0 - float(SLACK_SHARE))


def slack_factor(epsilon: float) -> Fraction:
    """1 + e^epsilon, rounded up: what one unit of total variation costs in delta."""
    return 1 + Fraction(math.exp(epsilon) * (1.0 + 1e-12))


@dataclass(frozen=True)
class Budget:
    """The account of one dataset; ``spent`` includes charges whose release never finished."""

    dataset: str
    epsilon: float
    delta: float
    mu_squared: Fraction
    spent: Fraction
    total_variation: Fraction
    releases: int

    @property
    def remaining(self) -> Fraction:
        return self.mu_squared - self.spent

    @property
    def epsilon_spent(self) -> float:
        """All releases so far together, read as epsilon at the budget's delta."""
        return epsilon_of(math.sqrt(self.spent), gaussian_delta(self.delta)) if self.spent else 0.0

    @property
    def epsilon_remaining(self) -> float:
        """The largest single further release, read as epsilon at the budget's delta, rounded down to three decimals."""
        if self.remaining <= 0:
            return 0.0
        exact = epsilon_of(math.sqrt(self.remaining), gaussian_delta(self.delta))
        return math.floor(exact * 1000.0 + 1e-5) / 1000.0


@dataclass(frozen=True)
class Charge:
    """A charge in the ledger, and the release it paid for if that was finished."""

    sequence: int
    head: str
    dataset: str
    request: Mapping[str, Any]
    artifact: bytes | None


@dataclass(frozen=True)
class Receipt:
    """One line in the list of releases; ``finished`` if the ledger keeps the summary, so that its id returns it."""

    release: str
    dataset: str
    sequence: int
    time: str
    epsilon: float
    delta: float
    finished: bool


class Ledger:
    """A durable account of privacy, shared by every process that opens the file.

    A release is charged and the charge is on disk before noise is drawn: a crash can lose budget, never
    privacy. Nothing in the file depends on the private graphs, so that its head may be published.

    Parameters
    ----------
    path : path
        An existing ledger on a local disk. See :meth:`create`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._chain = HashChain(path)
        self._entries()  # a damaged or rolled-back ledger is refused on sight

    @classmethod
    def create(cls, path: str | os.PathLike[str]) -> Ledger:
        """Make an empty ledger, readable by its owner alone."""
        HashChain(path).create(
            "ledger", {"format": FORMAT, "version": VERSION, "salt": secrets.token_hex(32), "time": _now()}
        )
        return cls(path)

    def _entries(self) -> list[Entry]:
        with self._chain.transaction() as transaction:
            entries = transaction.entries
        genesis = entries[0].body if entries else {}
        if genesis.get("format") != FORMAT or genesis.get("version") != VERSION:
            raise LedgerError(f"{self._chain.path} is not a version {VERSION} ledger.")
        return entries

    def grant(self, dataset: str, *, epsilon: float, delta: float) -> Budget:
        """Fix the total budget of a dataset, once and for all its releases."""
        check_epsilon_delta("Ledger.grant", epsilon, delta)
        if not dataset or len(dataset) > 200:
            raise ParameterError("Ledger.grant", "dataset", "a name of 1 to 200 characters", dataset)
        total = 1 / Fraction(noise_multiplier(epsilon, gaussian_delta(delta))) ** 2
        with self._chain.transaction() as transaction:
            if dataset in _grants(transaction.entries):
                raise BudgetError(f"Dataset {dataset!r} has a budget already; a budget is fixed when it is created.")
            body = {"dataset": dataset, "epsilon": epsilon, "delta": delta, "mu_squared": str(total), "time": _now()}
            transaction.append("budget", body)
        return self.budget(dataset)

    def budget(self, dataset: str) -> Budget:
        """The account of a dataset, summed from the verified chain."""
        return _budget(self._entries(), dataset)

    def datasets(self) -> tuple[str, ...]:
        """Datasets with a budget, in the order they were granted."""
        return tuple(_grants(self._entries()))

    def head(self) -> tuple[int, str]:
        """Sequence number and hash of the last entry."""
        last = self._entries()[-1]
        return last.sequence, last.digest

    def collection(self, dataset: str) -> str:
        """A keyed digest of the dataset's name: lets a merge see that two summaries are about one dataset,
        tells no more.
        """
        salt = self._entries()[0].body["salt"]
        return hashlib.sha256(f"{salt}|{dataset}".encode()).hexdigest()[:32]

    def charge(
        self, dataset: str, release: str, *, mu_squared: Fraction, total_variation: Fraction, request: Mapping[str, Any]
    ) -> Charge:
        """Take a release from the budget, durably, before its noise exists.

        Raises
        ------
        BudgetError
            If the budget does not suffice. The ledger is unchanged then.
        PrivacyError
            If this release id was charged before.
        """
        if mu_squared <= 0 or total_variation < 0:
            raise ParameterError("Ledger.charge", "mu_squared", "positive", mu_squared)
        with self._chain.transaction() as transaction:
            if any(entry.kind == "charge" and entry.body["release"] == release for entry in transaction.entries):
                raise PrivacyError(f"Release {release!r} was charged before. One release id never draws noise twice.")
            budget = _budget(transaction.entries, dataset)
            if mu_squared > budget.remaining:
                raise BudgetError(
                    f"Dataset {dataset!r} has mu^2 = {float(budget.remaining):.6g} left (a release of epsilon "
                    f"{budget.epsilon_remaining:.4g} at delta {budget.delta:g}); this release needs "
                    f"{float(mu_squared):.6g}. Ask for a smaller epsilon."
                )
            slack = slack_factor(budget.epsilon) * (budget.total_variation + total_variation)
            if slack > Fraction(budget.delta) * SLACK_SHARE:
                raise BudgetError(
                    f"The delta set aside for integer noise is used up for dataset {dataset!r}, "
                    f"after {budget.releases} releases."
                )
            entry = transaction.append(
                "charge",
                {
                    "dataset": dataset,
                    "release": release,
                    "mu_squared": str(mu_squared),
                    "total_variation": str(total_variation),
                    "request": dict(request),
                    "time": _now(),
                },
            )
        return Charge(entry.sequence, entry.digest, dataset, entry.body["request"], None)

    def complete(self, release: str, artifact: bytes) -> None:
        """Keep the finished release, so that asking again returns it instead of new noise."""
        with self._chain.transaction() as transaction:
            kinds = [entry.kind for entry in transaction.entries if entry.body.get("release") == release]
            if kinds != ["charge"]:
                raise PrivacyError(f"Release {release!r} cannot be completed: the ledger has {kinds} for it.")
            transaction.append("artifact", {"release": release, "sha256": transaction.store(artifact), "time": _now()})

    def find(self, release: str) -> Charge | None:
        """The charge of a release id, with the stored release if it was finished."""
        with self._chain.transaction() as transaction:
            charge, artifact = None, None
            for entry in transaction.entries:
                if entry.body.get("release") == release:
                    charge = entry if entry.kind == "charge" else charge
                    artifact = transaction.content(entry.body["sha256"]) if entry.kind == "artifact" else artifact
        if charge is None:
            return None
        return Charge(charge.sequence, charge.digest, charge.body["dataset"], charge.body["request"], artifact)

    def releases(self, dataset: str) -> tuple[Receipt, ...]:
        """What was charged to a dataset, in the order of the ledger."""
        entries = self._entries()
        finished = {entry.body["release"] for entry in entries if entry.kind == "artifact"}
        return tuple(
            Receipt(
                release=entry.body["release"],
                dataset=dataset,
                sequence=entry.sequence,
                time=entry.body["time"],
                epsilon=entry.body["request"]["epsilon"],
                delta=entry.body["request"]["delta"],
                finished=entry.body["release"] in finished,
            )
            for entry in entries
            if entry.kind == "charge" and entry.body["dataset"] == dataset
        )

    def check(self, summary: PrivateSummary) -> tuple[PrivacyTerms, ...]:
        """The sites of a summary that this ledger paid for; a merged summary may have others.

        Raises
        ------
        LedgerError
            If there is none, or if a release about a dataset of this ledger is not in it: then the ledger, head file
            included, was rolled back.
        """
        entries = self._entries()
        own = {self.collection(dataset) for dataset in _grants(entries)}
        paid = {(entry.digest, entry.sequence, entry.body["release"]) for entry in entries if entry.kind == "charge"}
        sites = tuple(site for site in summary.sites if site.collection in own)
        if not sites:
            raise LedgerError(
                f"No release of the summary is about a dataset of the ledger {self._chain.path}. The summary is of "
                "another ledger, or this one was restored from a copy older than the dataset's budget."
            )
        for site in sites:
            if (site.ledger_head, site.ledger_sequence, site.release) not in paid:
                raise LedgerError(
                    f"Release {site.release!r} is not in the ledger {self._chain.path}: the ledger has been rolled "
                    "back, or the summary was altered."
                )
        return sites


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _grants(entries: list[Entry]) -> dict[str, Entry]:
    return {entry.body["dataset"]: entry for entry in entries if entry.kind == "budget"}


def _budget(entries: list[Entry], dataset: str) -> Budget:
    grants = _grants(entries)
    if dataset not in grants:
        known = ", ".join(grants) or "none"
        raise BudgetError(f"Dataset {dataset!r} has no budget in this ledger (it knows: {known}). Create one first.")
    body = grants[dataset].body
    charges = [entry.body for entry in entries if entry.kind == "charge" and entry.body["dataset"] == dataset]
    return Budget(
        dataset=dataset,
        epsilon=float(body["epsilon"]),
        delta=float(body["delta"]),
        mu_squared=Fraction(body["mu_squared"]),
        spent=sum((Fraction(charge["mu_squared"]) for charge in charges), Fraction(0)),
        total_variation=sum((Fraction(charge["total_variation"]) for charge in charges), Fraction(0)),
        releases=len(charges),
    )
