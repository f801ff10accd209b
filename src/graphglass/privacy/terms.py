"""The terms under which one site released its part of a summary, and the promise of a summary in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from graphglass.errors import ArtifactError, ParameterError
from graphglass.glass.joint_features import JointFeatures
from graphglass.privacy.noise_scale import check_epsilon_delta, log_delta, rounding_distance, slack_factor
from graphglass.privacy.sketch_features import SketchFeatures

# The integer sum of this many features still fits 63 bits with room for noise.
MAX_REFERENCES = 2**30
# Nothing a release can have made is larger; a file that claims more is refused before anything is computed from it.
_LARGEST = {
    "references": MAX_REFERENCES, "graphs_per_subject": MAX_REFERENCES, "noise_scale": 2**53, "grid_bits": 30,
    "dimension": 2**22, "ledger_sequence": 2**40,
}  # fmt: skip
_LONGEST = {"release": 200, "collection": 200, "ledger_head": 200, "form": 8000}
_UNDECLARED = "not declared (version 0.2.0): one record may have changed how others were read"
NOT_COVERED: tuple[str, ...] = (
    "the graphs that are scored, and what their scores reveal about them",
    "settings chosen by looking at the private graphs, and the number of graphs, which is public",
    "several subjects at once, or a subject who owns more graphs than stated",
    "thresholds or any other figure computed from the private graphs outside this release",
    "timing, memory and other side channels of the machine that made the release",
)


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
    form : str
        The declared form of the records, in words.
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
    form: str = _UNDECLARED

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
        value = {"form": _UNDECLARED} | dict(value)
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
        for name, longest in _LONGEST.items():
            if len(getattr(self, name)) > longest:
                raise ArtifactError(f"The privacy term {name!r} is longer than {longest} characters.")
        slack = float(slack_factor(self.epsilon) * rounding_distance(self.dimension, self.noise_scale))
        booked = slack <= self.delta_slack < self.delta
        if not booked or log_delta(self.epsilon, self.mu) > math.log(self.delta - self.delta_slack):
            raise ArtifactError(
                f"The noise stated in the privacy terms does not keep the promise ({self.epsilon:g}, {self.delta:g}): "
                "the file is forged or damaged. Do not rely on it."
            )


def statement(sites: Sequence[PrivacyTerms], features: JointFeatures | SketchFeatures, encoder: str | None) -> str:
    """What a reader needs to judge the release: unit, relation, budget, noise, provenance, and what is not covered."""
    lines = []
    if len(sites) > 1:
        lines += [
            f"This summary adds up {len(sites)} releases of sites that declared their graphs and subjects disjoint.",
            "Each graph is protected by the terms of its own site; nothing was checked about overlap between sites.",
            "",
        ]
    for i, site in enumerate(sites):
        unit = (
            "one whole graph with everything derived from it"
            if site.graphs_per_subject == 1
            else f"one subject with up to {site.graphs_per_subject} whole graphs and everything derived from them"
        )
        if len(sites) > 1:
            lines.append(f"Site {i + 1}")
        lines += [
            f"Protected: {unit}.",
            f"Relation: neighbours differ by replacing one such unit; the size n = {site.references} is public.",
            f"Form: every record was read by itself, as {escaped(site.form)}. One of another form counts as zero.",
            f"Promise: ({site.epsilon:g}, {site.delta:g})-differential privacy.",
            f"Slack: delta includes {site.delta_slack:.3g} for drawing integer instead of continuous noise.",
            f"Equivalently: mu = {site.mu:.6f} in Gaussian differential privacy, up to that slack.",
            f"Noise: discrete Gaussian, sigma = {site.sigma:.6g} on each of {site.dimension} mean features.",
            f"Grid: 2^-{site.grid_bits}; sensitivity {site.sensitivity:.6g}, noise scale {site.noise_scale} units.",
            f"Release: {escaped(site.release)}; ledger entry {site.ledger_sequence}, head {escaped(site.ledger_head)}.",
            "",
        ]
    not_covered = NOT_COVERED
    if isinstance(features, SketchFeatures):
        lines.append(
            f"Features: public sketch, version {features.version}, sharpness {features.sharpness}; nothing in it was "
            "learned from data. It reads labels, neighbourhoods, size and structure; node attributes, edge attributes "
            "and directions do not enter."
        )
    else:
        lines += [
            f"Encoder: {escaped(str(encoder))}, fixed before the private graphs were seen.",
            "Overlap: no private graph has the content hash of a graph the encoder was trained on or read labels from.",
        ]
        not_covered = ("the graphs the encoder was trained on", *not_covered)
    lines += [
        "Reuse: scores and anything else computed from this summary and public data keep the promise.",
        "Another release about the same graphs adds to what is spent.",
        "Not covered: " + "; ".join(not_covered) + ".",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """The text with everything escaped that could move a cursor or start a line of its own."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
