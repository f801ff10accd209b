"""Options that several commands share, one by one or as a group that reaches a command as one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from graphglass.errors import InputError


def existing_model(model: str | Path | None) -> Any:
    """Refuse a path that holds no model before anything is read or imported; URLs are checked when they are read."""
    path = None if model is None or "://" in str(model) else Path(model)
    if path is not None and not (path / "manifest.json").is_file():
        found = "is a file" if path.is_file() else "has no manifest.json" if path.is_dir() else "does not exist"
        raise InputError(f"{path} is not a model: it {found}. Name a directory that `glass fit` wrote.")
    return model


MODEL = Annotated[str, typer.Argument(help="A directory `glass fit` wrote, or its URL.", callback=existing_model)]
LOCAL_MODEL = Annotated[Path, typer.Argument(help="A directory `glass fit` wrote.", callback=existing_model)]
KEEP = Annotated[
    str | None, typer.Option("--keep", help="Columns of the input to carry along, such as name,smiles; or all.")
]
QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="Report no progress.")]
CLUSTER = Annotated[
    str | None, typer.Option("--cluster", help="local, or a Dask scheduler (tcp://host:8786): one result per part.")
]
WORKERS = Annotated[int | None, typer.Option("--workers", min=1, help="Processes of a local cluster.")]
JSON = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
ALPHA = Annotated[float, typer.Option(min=0, max=1, help="Flag graphs whose p-value is at most this.")]
EXPLAIN = Annotated[
    int | None, typer.Option(min=0, help="Graphs that the report explains; by default all flagged ones, up to 100.")
]
SOURCE_PRIOR = Annotated[
    bool, typer.Option("--source-prior", help="Shrink the private summary toward its public source mean.")
]


def only_file(paths: list[Path]) -> Path:
    """The one input of a command that runs here and not on a cluster."""
    if len(paths) > 1:
        raise InputError("Several files need --cluster local; without it, name one file.")
    return paths[0]


def takes(name: str, group: type, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of ``group`` as options; it gets them together as its parameter ``name``.

    Parameters
    ----------
    name : str
        Of the command's parameter.
    group : dataclass
        Its fields are annotated as Typer wants parameters to be. The module that defines it must not postpone
        annotations: they are read where the command is.
    defaults : Any
        Of fields whose default is another one for this command.
    """
    options = inspect.signature(group).parameters

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)

        @wraps(command)
        def with_options(**values: Any) -> None:
            chosen = group(**{option: values.pop(option) for option in options})
            command(**values, **{name: chosen})

        kept = [parameter for parameter in own.parameters.values() if parameter.name != name]
        shown = [
            option.replace(kind=inspect.Parameter.KEYWORD_ONLY, default=defaults.get(option.name, option.default))
            for option in options.values()
        ]
        with_options.__signature__ = own.replace(parameters=[*kept, *shown])  # type: ignore[attr-defined]
        return with_options

    return decorate
