"""What a reader left out, and why; everything else keeps its id and its row."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
    entries: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ignored: dict[str, None] = field(default_factory=dict)  # columns that were left out of the attributes
    ignorable: dict[str, None] = field(default_factory=dict)  # columns that could be
    dates: set[str] = field(default_factory=set)  # properties that were given as dates
    kinds: dict[str, str] = field(default_factory=dict)  # what columns look like that were left out without being asked
    columns: dict[str, None] = field(default_factory=dict)  # what could be kept, for the message about what is missing

    def add(self, position: int, identifier: str, reason: str, columns: Mapping[str, Any] | None = None) -> None:
        if self.strict:
            where = f"Graph {identifier!r:.60} at {position}"
            raise GraphError(f"{where}: {reason}. (Reading is strict, so it stops at the first bad record.)")
        self.entries.append(Reject(position, identifier, reason, columns or {}))

    def note(self, text: str) -> None:
        """Remark on the input as a whole, once however often it applies."""
        if text not in self.notes:
            self.notes.append(text)

    def leave_out(self, owner: str, name: str, kind: str) -> None:
        """Remember that an attribute is not compared, and what it looks like."""
        self.ignored[name] = None
        self.kinds[f"{owner} column {name!r}"] = kind

    def result(self, graphs: GraphSet, unit: str = "line") -> ReadResult:
        rejects = sorted(self.entries, key=lambda reject: reject.position)
        if self.kinds:
            found = listing([f"{name} ({kind})" for name, kind in self.kinds.items()])
            self.note(f"not compared, since new graphs always differ there: {found}; {setting('use', 'NAME')} uses one")
        return ReadResult(graphs, tuple(rejects), unit, tuple(self.notes))
