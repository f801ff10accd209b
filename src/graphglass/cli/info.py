"""glass info: what a model is made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphglass.cli.option_groups import JSON, MODEL

if TYPE_CHECKING:
    from graphglass.detector.reference_scorer import ReferenceScorer

app = typer.Typer()


@app.command()
def info(
    model: MODEL,
    as_json: JSON = False,
    plot: Annotated[Path | None, typer.Option(help="Write the training's loss curve to this SVG file.")] = None,
) -> None:
    """Print a model's settings, encoders, references and calibration."""
    from graphglass.detector.glass import GLASS

    detector = GLASS.load(model)
    embedder = detector.embedder_
    history = () if embedder is None else embedder.graph.history.loss
    if plot is not None:
        from graphglass.report.charts import standalone_loss_curve
        from graphglass.storage.output_file import refuse_unless_writable, write_file

        refuse_unless_writable(plot, (".svg",))
        write_file(plot, standalone_loss_curve(history).encode())
    references, settings = detector.references_.graphs, detector.settings()
    facts = {
        "preset": detector.preset,
        "channels": ", ".join(channel.name for channel in detector.scorer_.channels),
        "references": detector.scorer_.reference_count,
        "known anomalies": 0 if detector.anomalies_ is None else len(detector.anomalies_),
        **index_facts(detector.scorer_),
        "reference nodes": references.node_count,
        "reference edges": references.edge_count,
        "threshold": round(detector.threshold_, 6),
        "smallest p-value": round(1 / (len(references) + 1), 6),
    }
    if embedder is not None and settings is not None:
        facts |= {
            "scorer": settings.scorer,
            "domain": embedder.domain,
            "text encoder": embedder.text.fingerprint.name,
            "slices": ", ".join(map(str, embedder.slices)),
            "made from": f"{len(detector.training_hashes())} graphs",
            "epochs": len(history),
            "final loss": round(history[-1], 6) if history else None,
            "encoder fingerprint": detector.encoder_fingerprint(),
        }
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        typer.echo(f"{name:<{width}}  {value}")


def index_facts(scorer: ReferenceScorer) -> dict[str, str]:
    """What is approximate in a model of very many references; nothing otherwise."""
    from graphglass.detector.large_references import RECALL_AT

    if scorer.large is None:
        return {}
    index, kept = scorer.large.index, len(scorer.reference_scores)
    found = "exact" if index.kind == "flat" else f"recall@{RECALL_AT} {index.recall:.3f}"
    return {
        "candidates": f"every query is compared with the {scorer.large.candidates} references nearest by sketch",
        "index": f"{index.kind}, {found}",
        "calibration": f"leave-one-out scores of {kept} references, drawn once, against all",
    }
