"""The README.md of a saved model: what it was made from, and what its numbers mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphglass import __version__
from graphglass.channels.calibration import conformal_p_values
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.detector.reference_detector import ReferenceDetector

LEVELS = (0.01, 0.05, 0.1)


def model_card(detector: ReferenceDetector) -> str:
    """Markdown that depends on the model alone: equal models have equal cards."""
    scorer = detector.scorer_
    graphs = scorer.graphs
    known = 0 if detector.anomalies_ is None else len(detector.anomalies_)
    changed = {
        name: value
        for name, value in detector.get_params().items()
        if value != type(detector)().get_params()[name] and name != "verbose"
    }
    settings = ", ".join(f"{name}={value!r}" for name, value in changed.items()) or "none"
    middle, largest = int(np.median(graphs.sizes)), int(graphs.sizes.max())
    lines = [
        "# Model card",
        "",
        (f"Written by GraphGlass {__version__}. `manifest.json` has the sha256 of every file except this page."),
        "",
        "## Data",
        "",
        f"- {counted(len(graphs), 'normal reference')}, {counted(known, 'known anomaly', 'known anomalies')}",
        (
            f"- nodes per graph: median {middle}, at most {largest}; {graphs.node_count} nodes and {graphs.edge_count} "
            "edges in all"
        ),
        f"- graphs carry: {'; '.join(scorer.schema.carried()) or 'structure alone'}",
        "",
        "## Settings",
        "",
        f"- method {type(detector).__name__}; settings other than the default: {settings}",
        *(f"- {name}: {value}" for name, value in detector.method_facts().items()),
        f"- reading: {'not known' if scorer.reading is None else scorer.reading.described()}",
        f"- channels: {', '.join(channel.name for channel in scorer.channels)}",
        f"- threshold {detector.threshold_:.6g}: the share {detector.contamination:g} of the references scores higher",
        "",
        "## Calibration",
        "",
        *_calibration(detector),
        "",
        "## What is approximate",
        "",
        *_approximate(detector),
    ]
    return "\n".join(lines) + "\n"


def _calibration(detector: ReferenceDetector) -> list[str]:
    scores = detector.decision_scores_
    if len(scores) < 4:
        return ["Too few references for a check."]
    p_values = conformal_p_values(scores[::2], scores[1::2])
    rows = [f"| {level:g} | {(p_values <= level).mean():.3f} |" for level in LEVELS]
    return [
        (
            "P-values of every other reference against the rest, from leave-one-out scores. A share near the level is "
            f"right; no p-value of this model is below {1 / (len(scores) + 1):.2g}."
        ),
        "",
        "| level | share with a p-value at most this |",
        "|---|---:|",
        *rows,
    ]


def _approximate(detector: ReferenceDetector) -> list[str]:
    found = ["Codes come from a trained encoder; see `encoder_settings`."] * bool(detector.references_.codes)
    found += [f"{name}: {text}" for name, text in detector.scorer_.approximations().items()]
    estimated = detector.references_.profile.estimated
    if np.any(estimated):
        found.append(f"Structure of {counted(int(np.sum(estimated)), 'large reference')} was estimated by sampling.")
    return [f"- {line}" for line in found] or ["Nothing: every query is compared with every reference."]
