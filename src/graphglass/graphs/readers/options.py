"""What the caller may say about an input; every format reader takes the same object."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from graphglass.graphs.limits import DEFAULT_LIMITS, Limits
from graphglass.graphs.readers.properties import PropertyNames
from graphglass.graphs.readers.record import RecordSet
from graphglass.graphs.readers.rejects import RejectLog


@dataclass(frozen=True)
class ReadOptions:
    """Settings of one reading; :func:`graphglass.graphs.read.read_graphs` describes them."""

    limits: Limits = DEFAULT_LIMITS
    fill: float | None = None
    nodes: Path | None = None
    smiles_column: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    properties: PropertyNames = field(default_factory=PropertyNames)
    cache: bool = True
    log: RejectLog = field(default_factory=RejectLog)

    def records(self) -> RecordSet:
        return RecordSet(self.log, self.limits, self.fill)
