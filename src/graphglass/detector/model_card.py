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
# What each number of a model means.
MEANINGS = {
    "method": "GraphGlass compares through channels; GLASS is the method of the paper",
    "settings": "those of the constructor that differ from the default",
    "channels": "the ways in which graphs are compared; those without data are skipped",
    "channels not built": "what would repeat another channel, and why",
    "references": "normal graphs that scores are measured against",
    "known anomalies": "graphs near one of them score higher",
    "candidates": "with very many references, an index selects those that a query is compared with, in every channel",
    "index": "of the references' sketches, and how many of the nearest sketches it finds",
    "approximate": "what is not compared exactly",
    "estimated": "by sampling, where graphs are very large",
    "calibration": "what p-values and the threshold come from",
    "graphs carry": "queries must carry the same",
    "nodes per graph": "median of the references, and the largest",
    "reference nodes": "in all references together",
    "reference edges": "in all references together",
    "reading": "how the references were read; queries are read in the same way",
    "repeats": "once: equal references count as one graph; keep: each is an observation",
    "threshold": "`predict` flags scores above it; the share `contamination` of the references lies above it",
    "zero-shot": "the references are of another domain than the queries: no p-values and no flags",
    "smallest p-value": "1 / (references with a leave-one-out score + 1): no graph can have a lower one",
    "scorer": "how the paper's codes are weighted",
    "domain": "named in the prompts",
    "text encoder": "reads the descriptions of graphs",
    "slices": "prefix sizes of the codes",
    "made from": "training graphs, and references whose node labels define input columns",
    "epochs": "passes over those graphs; the last one is used",
    "final loss": "alignment with the text anchors, lower is closer; it does not measure detection",
    "encoder fingerprint": "two models with the same one give comparable codes",
}


def model_facts(detector: ReferenceDetector) -> dict[str, object]:
    """Everything that `glass info` and the card say, by name; each name has an entry in :data:`MEANINGS`."""
    scorer = detector.scorer_
    graphs = scorer.graphs
    estimated = int(detector.references_.profile.estimated.sum())
    return {
        "method": type(detector).__name__,
        "settings": repr(type(detector)(**detector.get_params() | {"verbose": False})),  # progress changes no model
        "channels": ", ".join(channel.name for channel in scorer.channels),
        "references": scorer.reference_count,
        "known anomalies": 0 if detector.anomalies_ is None else len(detector.anomalies_),
        **(scorer.approximations() or {"approximate": "nothing: every query is compared with every reference"}),
        **({"estimated": f"structure of {counted(estimated, 'reference')}"} if estimated else {}),
        "graphs carry": "; ".join(scorer.schema.carried()) or "structure alone",
        "reading": "not known" if scorer.reading is None else scorer.reading.described(),
        "nodes per graph": f"{int(np.median(graphs.sizes))}, at most {graphs.sizes.max()}",
        "reference nodes": graphs.node_count,
        "reference edges": graphs.edge_count,
        **({"zero-shot": "a ranking alone"} if scorer.zero_shot else _calibrated(detector)),
        **detector.method_facts(),
    }


def _calibrated(detector: ReferenceDetector) -> dict[str, object]:
    return {
        "threshold": round(detector.threshold_, 6),
        "smallest p-value": round(1 / (len(detector.references_) + 1), 6),
    }


def model_card(detector: ReferenceDetector) -> str:
    """Markdown that depends on the model alone: equal models have equal cards."""
    lines = [
        "# Model card",
        "",
        f"Written by GraphGlass {__version__}. `manifest.json` has the sha256 of every file except this page.",
        "",
        *(f"- {name}: {value} ({MEANINGS[name]})" for name, value in model_facts(detector).items()),
        "",
        "## Calibration",
        "",
        *_calibration(detector),
    ]
    return "\n".join(lines) + "\n"


def _calibration(detector: ReferenceDetector) -> list[str]:
    scores = detector.decision_scores_
    if detector.scorer_.zero_shot:
        return ["None: references of another domain give no p-values."]
    if len(scores) < 4:
        return ["Too few references for a check."]
    p_values = conformal_p_values(scores[::2], scores[1::2])
    rows = [f"| {level:g} | {(p_values <= level).mean():.3f} |" for level in LEVELS]
    return [
        "P-values of every other reference against the rest, by leave-one-out scores. A share near the level is right.",
        "",
        "| level | share with a p-value at most this |",
        "|---|---:|",
        *rows,
    ]
