"""How a set was read, as its model remembers it, and the records that could not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ArtifactError, ParameterError, SchemaError
from graphglass.messages import setting

STANDARDS = ("none", "largest-fragment", "neutral")
RULES = ("sum", "mean", "min", "max")
# A name that a file of queries may spell otherwise; a contradiction of any other setting changes what is compared.
_PLACES = ("smiles_column", "id_column", "label_column", "graph_column", "source_column", "target_column")
_RULES = ("attributes", "edge_attributes", "merge")  # None is a choice: all attributes, and merged by their names
_MOST_NAMES = 4096


@dataclass(frozen=True)
class Reject:
    """One record that was left out: its line (from 1), or for objects in memory the place in the list (from 0).

    ``columns`` are the caller's own values, where the record had some; ``before`` counts the graphs that precede it.
    """

    position: int
    id: str
    reason: str
    columns: Mapping[str, Any] = field(default_factory=dict)
    before: int = 0


def input_order(graphs: int, rejected: Sequence[Reject]) -> NDArray[np.int64]:
    """Rows of some graphs, then of the rejects, arranged as the input had them."""
    places = [*range(graphs), *(reject.before - 0.5 for reject in rejected)]
    return np.argsort(places, kind="stable")


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """What the caller said about an input, as :func:`graphglass.read_graphs` describes it.

    ``GraphSet.reading`` has one with what was found: the direction of the edges, under ``ignore`` the columns that were
    left out, and whether nodes are ``typed``: then a graph need not have the attributes of every type. Handed to
    :func:`graphglass.read_graphs` as ``reading``, it reads queries as the references were.

    Examples
    --------
    >>> from graphglass import read_graphs
    >>> graphs = read_graphs([{"id": "a", "directed": True, "nodes": 2, "edges": [[0, 1]]}])
    >>> graphs.reading.directed
    True
    """

    smiles_column: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    graph_column: str = "graph_id"
    source_column: str = "source"
    target_column: str = "target"
    node_label: str = "label"
    edge_label: str = "label"
    attributes: tuple[str, ...] | None = None
    edge_attributes: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    use: tuple[str, ...] | str = ()
    directed: bool | None = None
    merge: Mapping[str, str] | None = None
    fill: float | None = None
    standardise: str = "none"
    stereo: bool = False
    typed: bool = False

    def __post_init__(self) -> None:
        for name in ("attributes", "edge_attributes", "ignore", "use"):
            value = getattr(self, name)
            if isinstance(value, str) and not (name == "use" and value == "all"):
                value = (value,)
            if value is not None and not isinstance(value, str):
                object.__setattr__(self, name, tuple(value))
        for name in ("ignore", "use"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, ())
        if self.standardise not in STANDARDS:
            raise ParameterError("read_graphs", "standardise", f"one of {', '.join(STANDARDS)}", self.standardise)

    def uses(self, name: str) -> bool:
        """Whether the caller names this column to be compared, whatever it looks like."""
        chosen = (*(self.attributes or ()), *(self.edge_attributes or ()), *(self.merge or {}))
        return self.use == "all" or name.lower() in {one.lower() for one in (*self.use, *chosen)}

    def to_json(self) -> dict[str, Any]:
        """Everything that differs from the defaults."""
        found = {item.name: getattr(self, item.name) for item in fields(ReadingOptions)}
        plain = {name: value for name, value in found.items() if value != getattr(_DEFAULTS, name)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    def described(self) -> str:
        """Everything that differs from the defaults, in words."""
        told = []
        for name, value in self.to_json().items():
            parts = [f"{key}={rule}" for key, rule in value.items()] if isinstance(value, dict) else value
            told.append(f"{name}: {', '.join(parts) if isinstance(parts, list) else parts}")
        return "; ".join(told) or "by the defaults"

    @classmethod
    def from_json(cls, document: object) -> ReadingOptions:
        """The options that :meth:`to_json` wrote; anything else in a model file is refused."""
        known = {item.name for item in fields(ReadingOptions)}
        if not isinstance(document, dict) or not set(document) <= known:
            raise ArtifactError("The reading options of the model are not what was saved. Fit and save it again.")
        for name, value in document.items():
            if not _valid(name, value):
                raise ArtifactError(f"The reading option {name!r} of the model cannot be {value!r:.60}.")
        return cls(**document)

    def completed(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The caller's settings for reading queries, completed by these; a contradiction is refused.

        What has its default counts as not given. Where columns are may differ from file to file; what is compared may
        not. The direction of the references is not among the result: it decides only where the queries state none.
        """
        asked = ReadingOptions(**{name: value for name, value in settings.items() if name in _NAMES})
        chosen = dict(settings)
        for name in _NAMES:
            mine, theirs = getattr(self, name), getattr(asked, name)
            if theirs == getattr(_DEFAULTS, name):
                chosen[name] = mine
            elif name not in (*_PLACES, "ignore", "use") and theirs != mine and (name in _RULES or mine is not None):
                raise _contradiction(name, mine, theirs)
        left_out = {name.lower() for name in self.ignore}
        for name in asked.ignore:
            if name.lower() not in left_out:
                raise _contradiction("ignore", list(self.ignore), name)
        for name in [] if asked.use == "all" else asked.use:
            if name.lower() in left_out:
                raise SchemaError(
                    f"The references were read without the column {name!r}, but {setting('use', name)} asks for it. "
                    "Leave the option out, or fit a model with it."
                )
        return chosen | {"ignore": self.ignore, "use": "all", "directed": asked.directed}


_DEFAULTS = ReadingOptions()
_NAMES = tuple(item.name for item in fields(ReadingOptions))


def _contradiction(name: str, mine: object, theirs: object) -> SchemaError:
    return SchemaError(
        f"The references were read with {setting(name, mine)}, but the queries are to be read with "
        f"{setting(name, theirs)}. Leave the option out, or fit a model with it."
    )


def _valid(name: str, value: object) -> bool:
    """Whether a model file may hold this value."""
    if name in ("stereo", "directed", "typed"):
        return isinstance(value, bool)
    if name == "fill":
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if name == "standardise":
        return value in STANDARDS
    if name == "merge":
        return isinstance(value, dict) and len(value) <= _MOST_NAMES and all(rule in RULES for rule in value.values())
    if name in ("attributes", "edge_attributes", "ignore", "use") and isinstance(value, list):
        return len(value) <= _MOST_NAMES and all(isinstance(one, str) for one in value)
    return isinstance(value, str) and name in (*_PLACES, "node_label", "edge_label")
