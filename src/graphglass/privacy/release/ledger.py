"""Ledger: how much privacy each dataset has, and what every release took from it."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from graphglass.channels.sketch import DIMENSION
from graphglass.errors import BudgetError, GlassError, LedgerError, ParameterError, PrivacyError
from graphglass.messages import counted
from graphglass.privacy.noise_scale import (
    SLACK_SHARE,
    check_epsilon_delta,
    gaussian_delta,
    noise_multiplier,
    slack_factor,
)
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.privacy.release.accounts import (
    Budget,
    Charge,
    budget_of,
    charge_of,
    charges_in,
    check_name,
    grants_in,
    skeleton,
)
from graphglass.privacy.release.hash_chain import Entry, HashChain, Transaction
from graphglass.privacy.release.mechanism import Mechanism
from graphglass.privacy.terms import MAX_REFERENCES, PrivacyTerms

FORMAT = "graphglass-ledger"
VERSION = 3


class Ledger:
    """A durable account of privacy, shared by every process that opens the file.

    A release is charged and the charge is on disk before noise is drawn: a crash can lose budget, never
    privacy. The chain of entries does not depend on the private graphs, so its head may be published. Next to the
    chain stand keyed fingerprints of the graphs of every release; the key never leaves the file.

    Parameters
    ----------
    path : path
        An existing ledger on a local disk. See :meth:`create`.

    Examples
    --------
    >>> from graphglass import Ledger
    >>> ledger = Ledger.create("clinic.ledger")
    >>> account = ledger.grant("clinic", epsilon=4.0, delta=1e-5)
    >>> ledger.budget("clinic").epsilon
    4.0
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

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        """A transaction of the chain; entries with content this version cannot have written are refused."""
        with self._chain.transaction() as transaction:
            genesis = transaction.entries[0].body if transaction.entries else {}
            if genesis.get("format") != FORMAT or genesis.get("version") != VERSION:
                raise LedgerError(
                    f"{self._chain.path} is not a version {VERSION} ledger. Use the GraphGlass version that wrote it, "
                    "and give to a new ledger what is left of its budgets."
                )
            try:
                bytes.fromhex(genesis["salt"])
                names = (entry.body.get(name, "") for entry in transaction.entries for name in ("dataset", "release"))
                if not all(isinstance(name, str) for name in names):
                    raise TypeError("a dataset or a release has no name")
                yield transaction
            except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
                if isinstance(error, GlassError):
                    raise
                path = self._chain.path
                raise LedgerError(f"The ledger {path} holds an entry that cannot be read: {error}.") from error

    def _entries(self) -> list[Entry]:
        with self._transaction() as transaction:
            return transaction.entries

    def grant(self, dataset: str, *, epsilon: float, delta: float, graphs_per_subject: int = 1) -> Budget:
        """Fix the total budget of a dataset, once and for all its releases.

        Parameters
        ----------
        dataset : str
            Name of the account.
        epsilon, delta : float
            What all releases together may cost a subject.
        graphs_per_subject : int
            The most graphs one protected subject owns: the unit of the budget.
        """
        check_epsilon_delta("Ledger.grant", epsilon, delta)
        check_name(dataset)
        if type(graphs_per_subject) is not int or not 1 <= graphs_per_subject <= MAX_REFERENCES:
            expected = f"a whole number from 1 to {MAX_REFERENCES}"
            raise ParameterError("Ledger.grant", "graphs_per_subject", expected, graphs_per_subject)
        small = Mechanism(min(1.0, float(epsilon)), float(delta), DIMENSION)
        if slack_factor(epsilon) * small.total_variation > Fraction(delta) * SLACK_SHARE:
            raise BudgetError(
                f"epsilon = {epsilon:g} is too large a budget at delta = {delta:g}: integer noise could not pay for a "
                "release of epsilon 1 from it. Choose a smaller epsilon (14 at delta 1e-5) or a larger delta."
            )
        total = 1 / Fraction(noise_multiplier(epsilon, gaussian_delta(delta))) ** 2
        with self._transaction() as transaction:
            for other in grants_in(transaction.entries):
                if other == dataset:
                    raise BudgetError(f"Dataset {other!r} has a budget already; a budget is fixed when it is created.")
                if skeleton(other) == skeleton(dataset):
                    raise BudgetError(
                        f"The name {dataset!r} looks like {other!r}, which has a budget already. Use that name if the "
                        "graphs are the same, and a clearly different one if not."
                    )
            body = {
                "dataset": dataset, "epsilon": epsilon, "delta": delta, "graphs_per_subject": graphs_per_subject,
                "mu_squared": str(total), "time": _now(),
            }  # fmt: skip
            transaction.append("budget", body)
            return budget_of(transaction.entries, dataset)

    def budget(self, dataset: str) -> Budget:
        """The account of a dataset, summed from the verified chain."""
        with self._transaction() as transaction:
            return budget_of(transaction.entries, dataset)

    def datasets(self) -> tuple[str, ...]:
        """Datasets with a budget, in the order they were granted."""
        with self._transaction() as transaction:
            return tuple(grants_in(transaction.entries))

    def head(self) -> tuple[int, str]:
        """Sequence number and hash of the last entry."""
        last = self._entries()[-1]
        return last.sequence, last.digest

    def collection(self, dataset: str) -> str:
        """A keyed digest of the dataset's name: lets a merge see that two summaries are about one dataset."""
        return self._keyed(dataset.encode()).hex()[:32]

    def fingerprint(self, content_hash: str) -> bytes:
        """A keyed digest of one graph's content hash, which only this ledger can make."""
        return self._keyed(b"graph|" + content_hash.encode())[:16]

    def _keyed(self, content: bytes) -> bytes:
        return hmac.digest(bytes.fromhex(self._chain.entries[0].body["salt"]), content, "sha256")

    def charge(
        self,
        dataset: str,
        release: str,
        *,
        mu_squared: Fraction,
        total_variation: Fraction,
        request: Mapping[str, Any],
        fingerprints: Sequence[bytes] = (),
        disjoint: bool = False,
    ) -> Charge:
        """Take a release from the budget, durably, before its noise exists.

        Parameters
        ----------
        dataset : str
            The account that pays.
        release : str
            Release id.
        mu_squared : Fraction
            Cost of the release.
        total_variation : Fraction
            Distance of its noise to a rounded Gaussian.
        request : mapping
            What was asked for, in public terms.
        fingerprints : sequence of bytes
            One per graph, see :meth:`fingerprint`.
        disjoint : bool
            Declare that graphs equal to those of another dataset belong to other subjects.

        Raises
        ------
        BudgetError
            If the budget does not suffice. The ledger is unchanged then.
        PrivacyError
            If this release id was charged before, or the graphs were released under another name.
        """
        if mu_squared <= 0 or total_variation < 0:
            raise ParameterError("Ledger.charge", "mu_squared", "positive", mu_squared)
        with self._transaction() as transaction:
            charges = charges_in(transaction.entries)
            if release in charges:
                raise PrivacyError(f"Release {release!r} was charged before. One release id never draws noise twice.")
            budget = budget_of(transaction.entries, dataset)
            if request.get("graphs_per_subject", budget.graphs_per_subject) != budget.graphs_per_subject:
                raise PrivacyError(
                    f"The budget of {dataset!r} is for subjects with up to {budget.graphs_per_subject} graphs; a "
                    "release of another unit cannot be charged to it."
                )
            if mu_squared > budget.remaining:
                raise BudgetError(
                    f"Dataset {dataset!r} has mu^2 = {float(budget.remaining):.6g} left (a release of epsilon "
                    f"{budget.epsilon_remaining:g} at delta {budget.delta:g}); this release needs "
                    f"{float(mu_squared):.6g}. Ask for a smaller epsilon."
                )
            slack = slack_factor(budget.epsilon) * (budget.total_variation + total_variation)
            if slack > Fraction(budget.delta) * SLACK_SHARE:
                raise BudgetError(
                    f"The delta set aside for integer noise does not suffice for this release of dataset {dataset!r}, "
                    f"after {counted(budget.releases, 'release')}. The next one can have up to epsilon "
                    f"{budget.epsilon_remaining:g}."
                )
            if not disjoint:
                _refuse_second_name(transaction, charges, dataset, fingerprints)
            body = {
                "dataset": dataset,
                "release": release,
                "mu_squared": str(mu_squared),
                "total_variation": str(total_variation),
                "request": dict(request),
                "fingerprints": len(fingerprints),
                "time": _now(),
            }
            transaction.store_fingerprints(release, fingerprints)
            return charge_of(transaction.append("charge", body))

    def complete(self, release: str, artifact: bytes) -> None:
        """Keep the finished release, so that asking again returns it instead of new noise."""
        with self._transaction() as transaction:
            kinds = [entry.kind for entry in transaction.entries if entry.body.get("release") == release]
            if kinds != ["charge"]:
                raise PrivacyError(f"Release {release!r} cannot be completed: the ledger has {kinds} for it.")
            transaction.append("artifact", {"release": release, "sha256": transaction.store(artifact), "time": _now()})

    def find(self, release: str) -> Charge | None:
        """The charge of a release id."""
        with self._transaction() as transaction:
            return charges_in(transaction.entries).get(release)

    def artifact(self, release: str) -> bytes | None:
        """The finished release of an id."""
        with self._transaction() as transaction:
            charge = charges_in(transaction.entries).get(release)
            return None if charge is None or charge.artifact is None else transaction.content(charge.artifact)

    def releases(self, dataset: str) -> tuple[Charge, ...]:
        """What was charged to a dataset, in the order of the ledger."""
        with self._transaction() as transaction:
            return tuple(charge for charge in charges_in(transaction.entries).values() if charge.dataset == dataset)

    def check(self, summary: PrivateSummary) -> tuple[PrivacyTerms, ...]:
        """The sites of a summary that this ledger paid for; a merged summary may have others.

        Raises
        ------
        LedgerError
            If there is none, or if a release about a dataset of this ledger is not in it: then the ledger, head file
            included, was rolled back.
        """
        own = {self.collection(dataset) for dataset in self.datasets()}
        with self._transaction() as transaction:
            paid = {(charge.head, charge.sequence, name) for name, charge in charges_in(transaction.entries).items()}
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
    """For the reader of a ledger alone: entries are ordered by their numbers, so that a wrong clock does no harm."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _refuse_second_name(
    transaction: Transaction, charges: Mapping[str, Charge], dataset: str, fingerprints: Sequence[bytes]
) -> None:
    """The same graphs under two names would have two budgets."""
    stored = transaction.fingerprint_counts()
    for entry in transaction.entries:
        if entry.kind == "charge" and stored.get(entry.body["release"], 0) != entry.body["fingerprints"]:
            raise LedgerError(
                f"The graph fingerprints of release {entry.body['release']!r} are incomplete: the ledger was altered."
            )
    for release, shared in transaction.releases_with(fingerprints).items():
        other = charges[release].dataset
        if other != dataset:
            raise PrivacyError(
                f"{shared} of the graphs were released under the name {other!r} before. A second name would give them "
                f"a second budget: release them as {other!r}, or declare that equal graphs belong to other subjects "
                "(--disjoint, disjoint=True)."
            )
