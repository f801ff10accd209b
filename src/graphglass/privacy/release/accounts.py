"""What the entries of a ledger add up to: named budgets, and the charges against them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from graphglass.channels.sketch import DIMENSION
from graphglass.errors import BudgetError, ParameterError
from graphglass.privacy.noise_scale import (
    SLACK_SHARE,
    epsilon_of,
    gaussian_delta,
    noise_multiplier,
    rounding_distance,
    slack_factor,
)
from graphglass.privacy.release.hash_chain import Entry
from graphglass.privacy.release.mechanism import GRID_BITS

_ALPHABETS = frozenset({"LATIN", "GREEK", "CYRILLIC", "CHEROKEE", "ARMENIAN"})  # their letters look alike


@dataclass(frozen=True)
class Budget:
    """The account of one dataset; ``spent`` includes charges whose release never finished.

    Its unit is a subject with up to ``graphs_per_subject`` graphs: that many are protected together.
    """

    dataset: str
    epsilon: float
    delta: float
    graphs_per_subject: int
    mu_squared: Fraction
    spent: Fraction
    total_variation: Fraction
    releases: int

    @property
    def unit(self) -> str:
        """What is protected, in words."""
        own = self.graphs_per_subject
        return "one graph" if own == 1 else f"a subject with up to {own} graphs"

    @property
    def remaining(self) -> Fraction:
        return self.mu_squared - self.spent

    @property
    def epsilon_spent(self) -> float:
        """All releases so far together, read as epsilon at the budget's delta."""
        return epsilon_of(math.sqrt(self.spent), gaussian_delta(self.delta)) if self.spent else 0.0

    @property
    def epsilon_remaining(self) -> float:
        """The largest single further release, read as epsilon at the budget's delta, rounded down to three decimals.

        It is a release of features of the default dimension. Of a large budget, integer noise allows less than the sum
        of mu squared: it must be so wide that what is left of the delta set aside for it suffices.
        """
        slack = Fraction(self.delta) * SLACK_SHARE / slack_factor(self.epsilon) - self.total_variation
        if self.remaining <= 0 or slack <= 0:
            return 0.0
        least_scale = math.isqrt(int(rounding_distance(DIMENSION, 1) / slack)) + 1
        mu_squared = min(self.remaining, Fraction(2 * self.graphs_per_subject * 2**GRID_BITS, least_scale) ** 2)
        delta = gaussian_delta(self.delta)
        # The tolerance shows a whole budget as it was granted; it must not round any other one up.
        thousandths = math.floor(epsilon_of(math.sqrt(mu_squared), delta) * 1000.0 + 1e-5)
        if thousandths and 1 / Fraction(noise_multiplier(thousandths / 1000.0, delta)) ** 2 > mu_squared:
            thousandths -= 1
        return thousandths / 1000.0


@dataclass(frozen=True)
class Charge:
    """What one release took; ``artifact`` is the sha256 of the finished release, None if it never finished."""

    release: str
    dataset: str
    sequence: int
    head: str
    time: str
    request: Mapping[str, Any]
    artifact: str | None = None


def grants_in(entries: Sequence[Entry]) -> dict[str, Entry]:
    """The entry that granted each dataset its budget."""
    return {entry.body["dataset"]: entry for entry in entries if entry.kind == "budget"}


def charge_of(entry: Entry, artifact: str | None = None) -> Charge:
    """An entry of kind ``charge``."""
    body = entry.body
    return Charge(
        body["release"], body["dataset"], entry.sequence, entry.digest, body["time"], body["request"], artifact
    )


def charges_in(entries: Sequence[Entry]) -> dict[str, Charge]:
    """All charges by release id, in the order of the ledger."""
    artifacts = {entry.body["release"]: entry.body["sha256"] for entry in entries if entry.kind == "artifact"}
    return {
        entry.body["release"]: charge_of(entry, artifacts.get(entry.body["release"]))
        for entry in entries
        if entry.kind == "charge"
    }


def budget_of(entries: Sequence[Entry], dataset: str) -> Budget:
    """The account of one dataset."""
    grants = grants_in(entries)
    if dataset not in grants:
        known = ", ".join(grants) or "none"
        raise BudgetError(f"Dataset {dataset!r} has no budget in this ledger (it knows: {known}). Create one first.")
    body = grants[dataset].body
    charges = [entry.body for entry in entries if entry.kind == "charge" and entry.body["dataset"] == dataset]
    return Budget(
        dataset=dataset,
        epsilon=float(body["epsilon"]),
        delta=float(body["delta"]),
        graphs_per_subject=int(body["graphs_per_subject"]),
        mu_squared=Fraction(body["mu_squared"]),
        spent=sum((Fraction(charge["mu_squared"]) for charge in charges), Fraction(0)),
        total_variation=sum((Fraction(charge["total_variation"]) for charge in charges), Fraction(0)),
        releases=len(charges),
    )


def check_name(dataset: str) -> None:
    """Refuse a name that a reader could take for another one."""
    words = {unicodedata.name(c, "").split(" ")[0] for c in dataset if c.isalpha()}  # LATIN, GREEK, CYRILLIC, ...
    lookalike = len(words & _ALPHABETS) > 1
    if not 1 <= len(dataset) <= 200 or not dataset.isprintable() or dataset != dataset.strip() or lookalike:
        raise ParameterError(
            "Ledger.grant", "dataset", "1 to 200 printable characters of one alphabet, without spaces around", dataset
        )


def skeleton(dataset: str) -> str:
    """Equal for names a reader could take for one another: case, accents, separators, 0 and O, 1, I and l."""
    letters = unicodedata.normalize("NFKD", dataset).casefold()
    kept = "".join(c for c in letters if c.isalnum()) or dataset
    return kept.translate(str.maketrans("01i", "oll"))
