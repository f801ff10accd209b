"""What the caller may say about an input; every format reader takes the same object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TypedDict

from graphglass.graphs.limits import DEFAULT_LIMITS, Limits
from graphglass.graphs.readers.rejects import RejectLog


class ReadSettings(TypedDict, total=False):
    """Keywords of :func:`graphglass.graphs.read.read_graphs`, which describes them."""

    limits: Limits
    fill: float | None
    nodes: str | PathLike[str] | None
    smiles_column: str | None
    id_column: str | None
    label_column: str | None
    graph_column: str
    source_column: str
    target_column: str
    node_label: str
    edge_label: str
    attributes: Sequence[str] | None
    edge_attributes: Sequence[str] | None
    directed: bool | None
    merge: Mapping[str, str] | None
    cache: bool


@dataclass(frozen=True)
class ReadOptions:
    """Settings of one reading, with their defaults."""

    limits: Limits = DEFAULT_LIMITS
    fill: float | None = None
    nodes: str | PathLike[str] | None = None
    smiles_column: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    graph_column: str = "graph_id"
    source_column: str = "source"
    target_column: str = "target"
    node_label: str = "label"
    edge_label: str = "label"
    attributes: Sequence[str] | None = None
    edge_attributes: Sequence[str] | None = None
    directed: bool | None = None
    merge: Mapping[str, str] | None = None
    cache: bool = True
    log: RejectLog = field(default_factory=RejectLog)

    @property
    def node_table(self) -> Path | None:
        return None if self.nodes is None else Path(self.nodes)
