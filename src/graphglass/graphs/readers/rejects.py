"""What a reader left out, and why; everything else keeps its id and its row."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.messages import counted

logger = logging.getLogger("graphglass")


@dataclass(frozen=True)
class Reject:
    """One record that was left out: its line (from 1), or for objects in memory the place in the list (from 0)."""

    position: int
    id: str
    reason: str


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
            lines.append(f"  and {len(self.rejects) - most} more; --all-rejects (read_report() in Python) lists them")
        return "\n".join(lines)


@dataclass
class RejectLog:
    """Collects rejects while reading; a strict one raises at the first."""

    strict: bool = False
    entries: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ignores: bool = False  # whether the reader left out the columns to ignore; only that of edge tables can
    columns: dict[str, None] = field(default_factory=dict)  # what could be kept, for the message about what is missing

    def add(self, position: int, identifier: str, reason: str) -> None:
        if self.strict:
            where = f"Graph {identifier!r:.60} at {position}"
            raise GraphError(f"{where}: {reason}. (Reading is strict, so it stops at the first bad record.)")
        self.entries.append(Reject(position, identifier, reason))

    def note(self, text: str) -> None:
        """Remark on the input as a whole, once however often it applies."""
        if text not in self.notes:
            self.notes.append(text)

    def result(self, graphs: GraphSet, unit: str = "line") -> ReadResult:
        rejects = sorted(self.entries, key=lambda reject: reject.position)
        return ReadResult(graphs, tuple(rejects), unit, tuple(self.notes))
