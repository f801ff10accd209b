"""glass watch: score graphs as they arrive, and report drift."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.option_groups import ALPHA, LOCAL_MODEL
from graphglass.messages import counted

app = typer.Typer()


@app.command()
def watch(
    model: LOCAL_MODEL,
    source: Annotated[
        str, typer.Option("--input", help="- for standard input, or a directory with new and growing .jsonl files.")
    ] = "-",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Append results here, not to stdout.")] = None,
    alpha: ALPHA = 0.05,
    alarm: Annotated[
        float, typer.Option(help="Evidence needed to report drift; N gives a false alarm in at most 1 of N streams.")
    ] = 100.0,
    from_references: Annotated[
        bool, typer.Option("--from-references", help="Report drift from the references, not only within the stream.")
    ] = False,
    poll: Annotated[float, typer.Option(min=0.01, help="Seconds between checks of the directory.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Score what is in the directory now, then stop.")] = False,
) -> None:
    """Score JSON Lines as they arrive: one line with id, score, p_value and flagged per graph.

    A line is a node-link record, or {"id": ..., "smiles": ...}. Bad lines and drift are reported on standard error.
    Stops at the end of the input, or with Ctrl-C. With -o, watching a directory continues where the last run stopped;
    OUTPUT.places records where that is.
    """
    import json
    import os
    import sys

    from graphglass.detector.drift import DriftMartingale
    from graphglass.errors import InputError
    from graphglass.graphs.limits import DEFAULT_LIMITS
    from graphglass.serve.line_sources import (
        Places,
        directory_lines,
        read_places,
        standard_input,
        stream_lines,
        write_places,
    )
    from graphglass.serve.service import Service
    from graphglass.serve.stream_scorer import StreamScorer

    if not alarm > 1:
        raise InputError(f"--alarm must be above 1: the evidence starts there. Found {alarm:g}.")
    longest, complain = DEFAULT_LIMITS.max_record_bytes, partial(typer.echo, err=True)
    places: Places = {}
    remembered: Path | None = None
    if source == "-":
        batches = stream_lines(standard_input(), longest)
    elif Path(source).is_dir():
        if output is not None and output.suffix == ".jsonl" and output.resolve().parent == Path(source).resolve():
            raise InputError(f"{output} would itself be read from {source}. Write the results to another directory.")
        if output is not None and (output.is_file() or not output.exists()):
            remembered = output.with_name(f"{output.name}.places")
            if not output.exists():
                remembered.unlink(missing_ok=True)  # of results that were taken away
            places = read_places(remembered, Path(source))
        batches = directory_lines(Path(source), poll=poll, once=once, longest=longest, places=places, complain=complain)
    else:
        raise InputError(f"--input takes - or a directory; {source} is neither. Pipe a file in with < FILE.")
    service = Service(model)
    past = service.detector.decision_scores_.tolist() if from_references and service.detector is not None else []
    if from_references and not past:
        raise InputError("--from-references needs a model with references; this one holds a private summary.")
    drift = DriftMartingale(alarm, past=past)
    scorer = StreamScorer(service, alpha=alpha, drift=drift, complain=complain)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends watching as Ctrl-C does
    try:
        results = sys.stdout if output is None else output.open("a", encoding="utf-8")
    except OSError as error:
        raise InputError(f"Results cannot be written to {output}: {error}.") from error
    try:
        for lines in batches:
            for row in scorer.rows(lines):
                results.write(json.dumps(row) + "\n")
                results.flush()
            if remembered is not None:
                write_places(remembered, Path(source), places)
    except KeyboardInterrupt:
        pass  # Ctrl-C is how watching ends
    except BrokenPipeError:
        # Nobody reads the results any more. What is still buffered must not fail again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        if output is not None:
            results.close()
        typer.echo(
            f"{counted(scorer.scored, 'graph')} scored, {scorer.flagged} flagged, {counted(scorer.bad, 'bad line')}, "
            f"{counted(drift.alarms, 'drift alarm')}; evidence of drift now {drift.wealth:.3g} of {alarm:g}.",
            err=True,
        )
