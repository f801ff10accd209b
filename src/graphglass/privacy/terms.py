"""The terms under which one site released its part of a summary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from graphglass.errors import ArtifactError, ParameterError
from graphglass.privacy.noise_scale import check_epsilon_delta, log_delta, rounding_distance, slack_factor

# The integer sum of this many features still fits 63 bits with room for noise.
MAX_REFERENCES = 2**30
# Nothing a release can have made is larger; a file that claims more is refused before anything is computed from it.
_LARGEST = {
    "references": MAX_REFERENCES, "graphs_per_subject": MAX_REFERENCES, "noise_scale": 2**53, "grid_bits": 30,
    "dimension": 2**22, "ledger_sequence": 2**40,
}  # fmt: skip
_LONGEST = 200


@dataclass(frozen=True)
class PrivacyTerms:
    """What was promised about one release, in numbers. All of it is public.

    Attributes
    ----------
    epsilon, delta : float
        The promise of eq:dp_definition; ``delta`` already contains ``delta_slack``.
    delta_slack : float
        The part of delta that pays for integer instead of continuous noise.
    references : int
        Graphs summarised, n; public and fixed.
    graphs_per_subject : int
        Graphs one protected subject may own; they are replaced together.
    noise_scale : int
        Parameter of the discrete Gaussian in grid units, added to the sum of the features.
    grid_bits : int
        A feature of one is 2^grid_bits grid units.
    dimension : int
        Coordinates of the joint feature.
    release : str
        Release id.
    collection : str
        A keyed digest of the dataset's name: equal for two releases about one dataset of one ledger, opaque
        otherwise.
    ledger_sequence, ledger_head : int, str
        Position and hash of the charge in the ledger of the site.
    """

    epsilon: float
    delta: float
    delta_slack: float
    references: int
    graphs_per_subject: int
    noise_scale: int
    grid_bits: int
    dimension: int
    release: str
    collection: str
    ledger_sequence: int
    ledger_head: str

    @property
    def mu_squared(self) -> Fraction:
        """(sensitivity / noise)^2 as an exact fraction, the quantity ledgers add up."""
        return Fraction(2 * self.graphs_per_subject * 2**self.grid_bits, self.noise_scale) ** 2

    @property
    def mu(self) -> float:
        return math.sqrt(self.mu_squared)

    @property
    def sensitivity(self) -> float:
        """How far the mean feature moves when one subject's graphs are replaced, 2 g / n (prop:private_summary)."""
        return 2.0 * self.graphs_per_subject / self.references

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise per coordinate of the mean (eq:dp_release)."""
        return self.noise_scale / (self.references * 2.0**self.grid_bits)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PrivacyTerms:
        """Rebuild from the fields by name; unknown, missing or impossible values are refused."""
        kinds: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "str": (str,)}
        expected = {item.name: kinds[str(item.type)] for item in fields(cls)}
        if set(value) != set(expected):
            found = f"found {sorted(value)}"
            raise ArtifactError(f"Privacy terms must have exactly the fields {sorted(expected)}, {found}.")
        for name, kind in expected.items():
            if not isinstance(value[name], kind) or isinstance(value[name], bool):
                raise ArtifactError(f"The privacy term {name!r} has the wrong type: {value[name]!r}.")
        terms = cls(**value)
        terms._check()
        return terms

    def _check(self) -> None:
        """Refuse numbers out of range, and noise that does not keep the stated promise."""
        try:
            check_epsilon_delta("PrivacyTerms", self.epsilon, self.delta)
        except ParameterError as error:
            raise ArtifactError(str(error)) from error
        for name, most in _LARGEST.items():
            least = 0 if name == "ledger_sequence" else 1
            if not least <= getattr(self, name) <= most:
                raise ArtifactError(f"The privacy term {name!r} must lie between {least} and {most}.")
        if self.graphs_per_subject > self.references:
            raise ArtifactError("The privacy terms state more graphs per subject than there are graphs.")
        if any(len(getattr(self, name)) > _LONGEST for name in ("release", "collection", "ledger_head")):
            raise ArtifactError(f"A name in the privacy terms is longer than {_LONGEST} characters.")
        slack = float(slack_factor(self.epsilon) * rounding_distance(self.dimension, self.noise_scale))
        booked = slack <= self.delta_slack < self.delta
        if not booked or log_delta(self.epsilon, self.mu) > math.log(self.delta - self.delta_slack):
            raise ArtifactError(
                f"The noise stated in the privacy terms does not keep the promise ({self.epsilon:g}, {self.delta:g}): "
                "the file is forged or damaged. Do not rely on it."
            )
