"""The `glass` command: a table of commands, each loaded when it is called."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from graphglass.errors import GlassError
from graphglass.messages import command_line

# The text is the line in `glass --help`. A command is a module of this package with a Typer object called `app`,
# or one in the module `commands` of its room.
COMMANDS = {
    "demo": "Fit on bundled molecules, rank held-out ones, write a report.",
    "fit": "Make a model from normal graphs.",
    "outliers": "The most unusual graphs of one file.",
    "score": "Rank graphs against a model's normal references.",
    "explain": "Why one graph has its score.",
    "review": "Look at graphs one by one and say what each is.",
    "references": "List and change a model's normal graphs and known anomalies.",
    "compare": "How two models rank the same graphs, and what moved.",
    "info": "The settings, references and calibration of a model.",
    "serve": "A model behind a REST API and an inspector page.",
    "watch": "Score graphs as they arrive, and report drift.",
    "describe": "The structural profile of every graph.",
    "prompt": "The text an encoder reads about every graph.",
    "encoders": "List text encoders.",
    "private": "Publish a noisy summary of reference graphs instead of the graphs.",
}
ROOMS = {"serve": "serve", "watch": "serve", "prompt": "glass", "encoders": "glass", "private": "privacy"}


class LazyGroup(TyperGroup):
    """Imports a command's module only when that command is used, and nothing for the list of commands."""

    listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self.listing = False

    def get_command(self, ctx: Any, name: str) -> Any:
        if name not in COMMANDS:
            return None
        if self.listing:
            return TyperCommand(name, short_help=COMMANDS[name])
        module = import_module(f"graphglass.{ROOMS[name]}.commands" if name in ROOMS else f"graphglass.cli.{name}")
        module.app._add_completion = False  # its two options would be listed as the command's own
        command: Any = get_command(module.app)
        command = getattr(command, "commands", {}).get(name, command)
        command.name, command.short_help = name, COMMANDS[name]
        return command

    def invoke(self, ctx: Any) -> Any:
        try:
            with command_line():
                return super().invoke(ctx)
        except KeyboardInterrupt:  # Typer would end silently
            typer.echo("glass: interrupted", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: importing rich takes longer than all else
)


def _version(wanted: bool) -> None:
    if wanted:
        from graphglass import __version__

        typer.echo(f"glass {__version__}")
        raise typer.Exit


@app.callback()
def glass(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(help="The encoder a model may use: an endpoint http://host/v1#model, a directory or a hub name."),
    ] = None,
) -> None:
    """Graph-level anomaly detection that transfers between domains."""
    if encoder is not None:
        os.environ["GRAPHGLASS_ENCODER"] = encoder  # workers of a cluster on this machine inherit it


def main() -> None:
    """Entry point of `glass`."""
    run_app(app, "glass")


def run_app(app: typer.Typer, name: str) -> None:
    """Run a command; expected errors and warnings become one line on standard error; an error exits with code 2."""
    warnings.showwarning = lambda message, *_: typer.echo(f"{name}: {message}", err=True)
    try:
        app()
    except GlassError as error:
        typer.echo(f"{name}: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        # What is still buffered must not fail again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = "" if error.filename is None else f"{error.filename}: "
        typer.echo(f"{name}: {where}{error.strerror or error}", err=True)
        sys.exit(2)
