"""Options that several commands share: fields of a dataclass, which reach a command together as one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any


def takes(name: str, group: type, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of ``group`` as options; it gets them together as its parameter ``name``.

    Parameters
    ----------
    name
        Of the command's parameter.
    group : dataclass
        Its fields are annotated as Typer wants parameters to be. The module that defines it must not postpone
        annotations: they are read where the command is.
    defaults
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
