"""The promise of a summary in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from graphglass.glass.joint_features import JointFeatures
from graphglass.privacy.sketch_features import SketchFeatures
from graphglass.privacy.terms import PrivacyTerms

NOT_COVERED: tuple[str, ...] = (
    "the graphs that are scored, and what their scores reveal about them",
    "settings chosen by looking at the private graphs, and the number of graphs, which is public",
    "several subjects at once, or a subject who owns more graphs than stated",
    "thresholds or any other figure computed from the private graphs outside this release",
    "timing, memory and other side channels of the machine that made the release",
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
