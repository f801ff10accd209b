"""Words that messages share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches

_COMMAND: ContextVar[bool] = ContextVar("command", default=False)  # whether a command speaks, or Python
_OPTIONS = {  # where an option has another name than the parameter
    "graph_column": "graph-id", "source_column": "source", "target_column": "target", "weights": "pretrained",
    "address": "encoder", "name": "encoder",
}  # fmt: skip


@contextmanager
def command_line() -> Iterator[None]:
    """Messages of this block name the options of a command; others name the arguments in Python."""
    before = _COMMAND.set(True)
    try:
        yield
    finally:
        _COMMAND.reset(before)


def setting(name: str, value: object) -> str:
    """A setting of the reader as whoever reads the message gives it: ``--fill 0.0`` or ``fill=0.0``."""
    if not _COMMAND.get():
        return f"{name}={value!r}"
    option = option_name(name)
    if isinstance(value, dict):
        value = [f"{key}={rule}" for key, rule in value.items()]
    if value is None:
        return f"no --{option}"
    if isinstance(value, bool):
        return f"--{option}" if value else f"--un{option}" if name == "directed" else f"no --{option}"
    if isinstance(value, list | tuple):
        return " ".join(f"--{option} {one}" for one in value) or f"no --{option}"
    return f"--{option} {value}"


def option_name(parameter: str) -> str:
    """The option of a command that sets a parameter, without its dashes."""
    return _OPTIONS.get(parameter, parameter.replace("_", "-"))


def either(option: str, argument: str) -> str:
    """What a command offers, or what Python does, for something that is no setting of the reader."""
    return option if _COMMAND.get() else argument


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``1 graph``, ``2 graphs``; an irregular plural is named."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def no_such_id(kind: str, identifier: object, ids: Sequence[str]) -> str:
    """That nothing has an id, with the nearest ids, or else the first."""
    near = get_close_matches(str(identifier), ids, n=3)
    if near:
        hint = f"Did you mean {' or '.join(map(repr, near))}?"
    else:
        hint = f"The ids begin with {listing(ids, 3)}." if ids else "There are none."
    return f"There is no {kind} {identifier!r:.60}. {hint}"


def listing(names: Sequence[str], most: int = 12) -> str:
    """The first names, and how many there are in all if some are not shown."""
    if not names:
        return "none"
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
