"""glass info: what a model is made of, and what its numbers mean."""

from __future__ import annotations

import json

import typer

from graphglass.cli.option_groups import JSON, MODEL

app = typer.Typer()


@app.command()
def info(model: MODEL, as_json: JSON = False) -> None:
    """Print a model's settings, encoders, references and calibration, and what each number means."""
    from graphglass.cli.console import print_table
    from graphglass.detector.model_card import MEANINGS, model_facts
    from graphglass.detector.reference_detector import ReferenceDetector

    facts = model_facts(ReferenceDetector.load(model))
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        print_table(None, ("", "value", "meaning"), [(name, f"{facts[name]}", MEANINGS[name]) for name in facts])
