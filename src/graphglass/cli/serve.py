"""glass serve: a model behind a REST API and an inspector page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphglass.cli.option_groups import SOURCE_PRIOR, existing_model

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
