"""The commands `glass serve` and `glass watch`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.option_groups import ALPHA, LOCAL_MODEL, SOURCE_PRIOR, existing_model
from graphglass.messages import counted

app = typer.Typer()


@app.command()
def serve(
    model: Annotated[
        Path,
        typer.Argument(
            help="A directory `glass fit` wrote, or a private summary of sketches.",
            callback=lambda path: path if path is not None and path.is_file() else existing_model(path),
        ),
    ],
    host: Annotated[str, typer.Option(help="Address; any address but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="TCP port.")] = 8000,
    token_file: Annotated[Path | None, typer.Option(help="File with the token clients must send.")] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Serve this private summary in place of the model's references.")
    ] = None,
    source_prior: SOURCE_PRIOR = False,
) -> None:
    """Serve a model: POST /v1/score, /v1/explain, the references, metrics, and the inspector at /."""
    from graphglass.errors import MissingExtraError, ServeError

    try:
        import uvicorn

        from graphglass.serve.app import create_app
        from graphglass.serve.middleware import LOOPBACK_NAMES, check_address, read_token
        from graphglass.serve.service import Service
    except ImportError as error:
        raise MissingExtraError("Serving a model", "serve") from error
    token = None if token_file is None else read_token(token_file)
    check_address(host, token)
    service = Service(model, summary=summary, source_prior=source_prior)
    service.ready()  # compiled kernels load now, not during the first request
    # Without a token the service is for this machine alone, whatever name a browser was told to call it by.
    application = create_app(service, token=token, hosts=LOOPBACK_NAMES if token is None else None)
    typer.echo(f"Serving {model} at http://{host}:{port}/ (Ctrl-C stops)", err=True)
    config = uvicorn.Config(
        application, host=host, port=port, log_level="warning", limit_concurrency=2048, timeout_keep_alive=15,
        server_header=False, ws="none",
    )  # fmt: skip
    try:
        uvicorn.Server(config).run()
    except OSError as error:
        raise ServeError(f"Could not listen on {host}:{port}: {error}.") from error


@app.command()
def watch(
    model: LOCAL_MODEL,
    alpha: ALPHA = 0.05,
    fdr: Annotated[
        float | None,
        typer.Option(help="Bound the expected share of false alarms among all flagged graphs, in place of --alpha."),
    ] = None,
    alarm: Annotated[
        float, typer.Option(help="Evidence needed to report drift; N gives a false alarm in at most 1 of N streams.")
    ] = 100.0,
    from_references: Annotated[
        bool, typer.Option("--from-references", help="Report drift from the references, not only within the stream.")
    ] = False,
) -> None:
    """Score JSON Lines from standard input as they arrive and write one JSON line for each.

    A line is a node-link record, or {"id": ..., "smiles": ...}. A graph gives id, score, p_value, flagged and, if it is
    flagged, the first reason; a line that cannot be read gives an error; drift gives {"event": "drift", ...} after the
    graph that completes it. Stops at the end of the input, or with Ctrl-C.
    """
    import json
    import os
    import sys

    from graphglass.errors import InputError
    from graphglass.graphs.limits import DEFAULT_LIMITS
    from graphglass.serve.drift import DriftMartingale
    from graphglass.serve.online_fdr import OnlineFDR
    from graphglass.serve.service import Service
    from graphglass.serve.stream import StreamScorer, standard_input, stream_lines

    if not alarm > 1:
        raise InputError(f"--alarm must be above 1: the evidence starts there. Found {alarm:g}.")
    if fdr is not None and not 0 < fdr < 1:
        raise InputError(f"--fdr must be between 0 and 1. Found {fdr:g}.")
    service = Service(model)
    for option, asked in (("--from-references", from_references), ("--fdr", fdr is not None)):
        if asked and service.detector is None:
            raise InputError(f"{option} needs a model with references; this one holds a private summary.")
        if asked and service.smallest_p_value is None:
            raise InputError(f"{option} needs p-values, and this model gives none: it ranks graphs of another domain.")
    past = service.detector.decision_scores_.tolist() if from_references and service.detector is not None else []
    drift = DriftMartingale(alarm, past=past)
    scorer = StreamScorer(service, alpha=alpha, drift=drift, fdr=None if fdr is None else OnlineFDR(fdr))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends watching as Ctrl-C does
    try:
        for lines in stream_lines(standard_input(), DEFAULT_LIMITS.max_record_bytes):
            for row in scorer.rows(lines):
                sys.stdout.write(json.dumps(row) + "\n")
                sys.stdout.flush()
    except KeyboardInterrupt:
        pass  # Ctrl-C is how watching ends
    except BrokenPipeError:
        # Nobody reads the results any more. What is still buffered must not fail again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        typer.echo(
            f"{counted(scorer.scored, 'graph')} scored, {scorer.flagged} flagged, {counted(scorer.bad, 'bad line')}, "
            f"{counted(drift.alarms, 'drift alarm')}; evidence of drift now {drift.wealth:.3g} of {alarm:g}.",
            err=True,
        )
