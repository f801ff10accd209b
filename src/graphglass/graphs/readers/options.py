"""What the caller may say about an input; every format reader takes the same object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict

import numpy as np

from graphglass.graphs.limits import DEFAULT_LIMITS, Limits
from graphglass.graphs.readers.rejects import RejectLog
from graphglass.graphs.reading import ReadingOptions


class ReadSettings(TypedDict, total=False):
    """Keywords of :func:`graphglass.graphs.read.read_graphs`, which describes them."""

    limits: Limits
    fill: float | None
    nodes: Any
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
    ignore: Sequence[str] | str | None
    use: Sequence[str] | str | None
    standardise: str
    stereo: bool
    reading: ReadingOptions | None
    directed: bool | None
    merge: Mapping[str, str] | None
    keep: Sequence[str] | str | None


@dataclass(frozen=True, kw_only=True)
class ReadOptions(ReadingOptions):
    """Settings of one reading, with their defaults.

    ``reading`` is how the references were read: then no column is judged by its looks, and the direction of the
    references is that of an input which states none.
    """

    limits: Limits = DEFAULT_LIMITS
    nodes: Any = None
    keep: Sequence[str] | str | None = None
    reading: ReadingOptions | None = None
    log: RejectLog = field(default_factory=RejectLog)

    @property
    def usual_direction(self) -> bool | None:
        """The direction of the references, for an input that states none."""
        return None if self.reading is None else self.reading.directed

    def label_key(self, owner: str, items: Sequence[Mapping[str, object]]) -> str:
        """The property of some nodes or edges with their label.

        References of another format may have had a name for it that these items lack.
        """
        name = self.node_label if owner == "node" else self.edge_label
        return "label" if self.reading is not None and not any(name in item for item in items) else name

    @cached_property
    def kept_names(self) -> frozenset[str]:
        """The columns asked for by name, in lower case; empty if none or all are kept."""
        if self.keep is None or self.keep == "all":
            return frozenset()
        return frozenset(name.lower() for name in ([self.keep] if isinstance(self.keep, str) else self.keep))

    def keeps(self, name: str) -> bool:
        """Whether the caller's column of this name is carried along."""
        return self.keep == "all" or name.lower() in self.kept_names

    def kept(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """The values of one graph that become columns; only single values can."""
        if self.keep is None:
            return {}
        single = {
            name: value for name, value in facts.items() if np.ndim(value) == 0 and not isinstance(value, Mapping)
        }
        self.log.columns.update(dict.fromkeys(map(str, single)))
        return {str(name): value for name, value in single.items() if self.keeps(str(name))}
