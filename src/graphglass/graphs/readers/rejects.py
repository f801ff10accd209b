"""What a reader left out, and why; everything else keeps its id and its row."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.reading import Reject
from graphglass.messages import counted, either, listing, setting

logger = logging.getLogger("graphglass")


@dataclass(frozen=True)
class ReadResult:
    """The graphs that could be read, and the records that could not; `unit` is what their positions count.

    `notes` are remarks about the input as a whole, each a sentence for people.
    """

    graphs: GraphSet
    rejects: tuple[Reject, ...] = ()
    unit: str = "line"
    notes: tuple[str, ...] = ()

    def summary(self, most: int | None = 5) -> str:
        """One paragraph for people: how many were kept and left out, and the first reasons; None gives all."""
        lines = [f"read {counted(len(self.graphs), 'graph')}, left out {len(self.rejects)}"]
        lines += [f"  {self.unit} {one.position}, {one.id!r:.60}: {one.reason}" for one in self.rejects[:most]]
        if most is not None and len(self.rejects) > most:
            every = either("--all-rejects", "read_report()")
            lines.append(f"  and {len(self.rejects) - most} more; {every} lists them")
        return "\n".join(lines)


@dataclass
class RejectLog:
    """Collects rejects while reading; a strict one raises at the first."""

    strict: bool = False
    single: bool = False  # whether the source is the text of one molecule, which is then its id
    settled: bool = False  # whether a model decides what is compared, and advice would only repeat
    entries: list[Reject] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # where the graphs of the entries begin
    positions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # of the graphs that were read
    notes: list[str] = field(default_factory=list)
    ignored: dict[str, None] = field(default_factory=dict)  # columns that were left out of the attributes
    ignorable: dict[str, None] = field(default_factory=dict)  # columns that could be
    typed: bool = False  # whether attributes belong to types of nodes
    free: set[str] = field(default_factory=set)  # whether attributes of nodes and edges are whatever number they hold
    dates: set[str] = field(default_factory=set)  # properties that were given as dates
    kinds: dict[str, str] = field(default_factory=dict)  # what columns look like that were left out without being asked
    columns: dict[str, None] = field(default_factory=dict)  # what could be kept, for the message about what is missing
    texts: dict[str, dict[str, None]] = field(default_factory=dict)  # of nodes and edges, properties that are text

    def add(
        self,
        position: int,
        identifier: str,
        reason: str,
        columns: Mapping[str, Any] | None = None,
        *,
        start: int | None = None,
    ) -> None:
        """Leave a record out: what is wrong is at `position`, and the record begins at `start`, there by default."""
        if self.strict:
            where = f"Graph {identifier!r:.60} at position {position}"
            other = either("the command without --strict", "read_graphs without strict=True")
            raise GraphError(f"{where}: {reason}. Reading is strict; {other} leaves bad records out.")
        self.entries.append(Reject(position, identifier, reason, columns or {}))
        self.starts.append(position if start is None else start)

    def note(self, text: str) -> None:
        """Remark on the input as a whole, once however often it applies."""
        if text not in self.notes:
            self.notes.append(text)

    def advise(self, text: str) -> None:
        """As :meth:`note`, about a choice that the model makes where there is one."""
        if not self.settled:
            self.note(text)

    def leave_out(self, owner: str, name: str, kind: str) -> None:
        """Remember that an attribute is not compared, and what it looks like."""
        self.ignored[name] = None
        self.kinds[f"{owner} column {name!r}"] = kind

    def result(self, graphs: GraphSet, unit: str = "line") -> ReadResult:
        reached = np.maximum.accumulate(self.positions)  # an edge table may return to an earlier graph
        places = np.searchsorted(reached, self.starts).tolist()
        placed = [replace(one, before=place) for one, place in zip(self.entries, places, strict=True)]
        rejects = sorted(placed, key=lambda one: (one.before, one.position))
        for owner, names in self.texts.items():
            one = len(names) == 1
            what, are, were, it = ("property", "is", "was", "it") if one else ("properties", "are", "were", "one")
            label = setting(f"{owner}_label", next(iter(names)) if one else "NAME")
            told = f"{owner} {what} {listing([*map(repr, names)])} {are} text and {were} not used"
            self.advise(f"{told}; pass {label} to use {it} as a label")
        if self.kinds:
            found = listing([f"{name} ({kind})" for name, kind in self.kinds.items()])
            self.note(f"not compared, since new graphs always differ there: {found}; {setting('use', 'NAME')} uses one")
        return ReadResult(graphs, tuple(rejects), unit, tuple(self.notes))
