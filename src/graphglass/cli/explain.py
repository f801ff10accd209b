"""glass explain: why one graph has its score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphglass.cli.option_groups import JSON, MODEL
from graphglass.cli.reading_options import Reading, reads_graphs

if TYPE_CHECKING:
    from graphglass.detector.explanation import Explanation

app = typer.Typer()


@app.command()
@reads_graphs
def explain(
    model: MODEL,
    queries: Annotated[Path, typer.Argument(help="The file the graph is in.")],
    identifier: Annotated[str | None, typer.Option("--id", help="The graph's id, unless it is the only one.")] = None,
    as_json: JSON = False,
    *,
    reading: Reading,
) -> None:
    """Explain one score: nearest normal graphs, channels, unusual structure in words, and the nodes behind it."""
    from graphglass.detector.reference_detector import ReferenceDetector

    detector = ReferenceDetector.load(model)
    graphs = reading.read(queries, detector=detector)
    explanation = detector.explain(graphs, id=identifier)
    if as_json:
        typer.echo(json.dumps(explanation.to_json(), indent=2))
    else:
        _print(explanation)


def _print(explanation: Explanation) -> None:
    from rich.text import Text

    from graphglass.cli.console import harmless, literal_console, print_table

    console = literal_console()
    console.print(Text.assemble((harmless(explanation.id), "bold"), f": {explanation.headline}"))
    console.print("What raises the score:" if explanation.causes else "Nothing raises the score.")
    for cause in explanation.causes:
        console.print(f"  {cause.share:3.0f}%  {harmless(cause.words)}")
    parts = sorted(explanation.contributions.items(), key=lambda item: -item[1])
    rows = [(name, f"{value:+.4f}") for name, value in parts]
    print_table("Contributions (they sum to the score)", ("channel", "contribution"), rows)
    for title, near in (("normal graphs", explanation.neighbours), ("known anomalies", explanation.resembles)):
        cells = []
        for item in near:
            families = ", ".join(f"{family} {value:.2f}" for family, value in item.families.items())
            cells.append((item.id, f"{item.distance:.3f}", families))
        if cells:
            print_table(f"Nearest {title}", ("id", "distance", "similarity by family"), cells)
    order = (-explanation.node_attribution).argsort(kind="stable")[:5]
    hot = [i for i in order if explanation.node_attribution[i] > 0]
    nodes = ", ".join(f"{explanation.node_names[i]} ({explanation.node_attribution[i]:.3f})" for i in hot)
    console.print(f"Nodes with the largest parts of the score: {harmless(nodes) or 'none'}")
