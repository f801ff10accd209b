"""glass info: what a model is made of, and what its numbers mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphglass.cli.option_groups import JSON, MODEL

if TYPE_CHECKING:
    from graphglass.detector.reference_detector import ReferenceDetector

app = typer.Typer()
MEANINGS = {
    "method": "GraphGlass compares through channels; GLASS is the method of the paper",
    "channels": "the ways in which graphs are compared; those without data are skipped",
    "channels not built": "what would repeat another channel, and why",
    "references": "normal graphs that scores are measured against",
    "known anomalies": "graphs near one of them score higher",
    "candidates": "with very many references, an index selects those that a query is compared with, in every channel",
    "index": "of the references' sketches, and how many of the nearest sketches it finds",
    "calibration": "what p-values and the threshold come from",
    "reference nodes": "in all references together",
    "reference edges": "in all references together",
    "reading": "how the references were read; queries are read in the same way",
    "repeats": "once: equal references count as one graph; keep: each is an observation",
    "threshold": "`predict` flags scores above it; the share `contamination` of the references lies above it",
    "smallest p-value": "1 / (references with a leave-one-out score + 1): no graph can have a lower one",
    "scorer": "how the paper's codes are weighted",
    "domain": "named in the prompts",
    "text encoder": "reads the descriptions of graphs",
    "slices": "prefix sizes of the codes",
    "made from": "graphs the encoders were trained on",
    "epochs": "passes over those graphs; the last one is used",
    "final loss": "alignment with the text anchors, lower is closer; it does not measure detection",
    "encoder fingerprint": "two models with the same one give comparable codes",
}


@app.command()
def info(
    model: MODEL,
    as_json: JSON = False,
    plot: Annotated[Path | None, typer.Option(help="Write the training's loss curve to this SVG file.")] = None,
) -> None:
    """Print a model's settings, encoders, references and calibration, and what each number means."""
    from graphglass.cli.console import print_table
    from graphglass.detector.reference_detector import ReferenceDetector

    detector = ReferenceDetector.load(model)
    if plot is not None:
        from graphglass.drawing.charts import loss_curve
        from graphglass.files.output_file import refuse_unless_writable, write_file

        refuse_unless_writable(plot, (".svg",))
        write_file(plot, loss_curve(detector.training_losses()).encode())
    facts = model_facts(detector)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        print_table(None, ("", "value", "meaning"), [(name, f"{facts[name]}", MEANINGS[name]) for name in facts])


def model_facts(detector: ReferenceDetector) -> dict[str, object]:
    """Everything that `glass info` prints, by name; each name has an entry in :data:`MEANINGS`."""
    scorer = detector.scorer_
    return {
        "method": type(detector).__name__,
        "channels": ", ".join(channel.name for channel in scorer.channels),
        "references": scorer.reference_count,
        "known anomalies": 0 if detector.anomalies_ is None else len(detector.anomalies_),
        **scorer.approximations(),
        "reading": "not known" if scorer.reading is None else scorer.reading.described(),
        "reference nodes": scorer.graphs.node_count,
        "reference edges": scorer.graphs.edge_count,
        "threshold": round(detector.threshold_, 6),
        "smallest p-value": round(1 / (len(detector.references_) + 1), 6),
        **detector.method_facts(),
    }
