"""glass review: look at graphs one by one, the most abnormal first, and say what each is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.option_groups import MODEL
from graphglass.cli.reading_options import Reading, reads_graphs

app = typer.Typer()
KEYS = {"a": "anomaly", "n": "normal", "u": "unsure"}


@app.command()
@reads_graphs
def review(
    model: MODEL,
    graphs: Annotated[Path, typer.Argument(help="Graphs to review.")],
    marks: Annotated[Path | None, typer.Option(help="File of marks; FILE.marks.jsonl by default.")] = None,
    reviewer: Annotated[str, typer.Option(help="Name written with every mark.")] = "",
    most: Annotated[int | None, typer.Option(min=1, help="Stop after so many graphs.")] = None,
    *,
    reading: Reading,
) -> None:
    """Review graphs one at a time: every anomaly you mark brings more of its kind to the front.

    Answer a (anomaly), n (normal), u (unsure) or q (quit); what follows the letter is kept as a comment. Each answer
    is on disk before the next graph is shown; the same command continues where you stopped.
    """
    from graphglass.cli.console import literal_console
    from graphglass.detector.graphglass import GraphGlass

    detector = GraphGlass.load(model)
    path = graphs.with_name(graphs.name + ".marks.jsonl") if marks is None else marks
    session = detector.review(reading.read(graphs, detector=detector), path=path, reviewer=reviewer)
    console = literal_console()
    seen = 0
    while (graph := session.next()) is not None and seen != most:
        explanation = detector.explain(graph)
        progress = f"{len(session.marks)} of {len(session)} reviewed, {len(session.found)} found"
        console.print(f"[{progress}] {explanation.id}: {explanation.headline}")
        for sentence in explanation.reasons[:3]:
            console.print(f"  {sentence}")
        try:
            typed = typer.prompt("[a]nomaly, [n]ormal, [u]nsure, [q]uit", prompt_suffix="? ")
        except typer.Abort:
            break
        word, _, comment = typed.strip().partition(" ")
        answer = word[:1].lower()
        if answer == "q":
            break
        if answer not in KEYS:
            console.print("Answer a, n, u or q.")
            continue
        session.mark(explanation.id, KEYS[answer], comment.strip())
        seen += 1
    found = len(session.found)
    console.print(
        f"{found} {'anomaly' if found == 1 else 'anomalies'} found in {len(session.marks)} reviewed of {len(session)}."
    )
    if session.conflicts:
        console.print(
            "Marked as anomalies, but equal to a normal reference or a graph marked as normal: "
            f"{', '.join(session.conflicts)}."
        )
    console.print(f"Marks are in {path}.")
