"""Graphs with everything a channel may read about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import StructureProfile, join_profiles, profile

PART = 20_000  # graphs read at a time
GraphsLike: TypeAlias = "ProfiledGraphs | GraphSet | str | PathLike[str] | Iterable[Any]"
"""What a detector takes: a set, a path, a SMILES string, a table, or graphs of NetworkX, igraph, PyG or RDKit."""


@dataclass(frozen=True, eq=False)
class ProfiledGraphs:
    """Graphs with their structural profile and, under GLASS, their codes on the sphere; row for row.

    Attributes
    ----------
    graphs : GraphSet
    profile : StructureProfile
    codes : mapping name -> float32 (graphs, dimension)
        Unit rows such as ``graph:64`` and ``text:128``.
    """

    graphs: GraphSet
    profile: StructureProfile
    codes: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> ProfiledGraphs:
        """Select graphs by slice, index array or mask."""
        codes = {name: rows[key] for name, rows in self.codes.items()}
        return ProfiledGraphs(self.graphs[key], self.profile[key], codes)

    def parts(self) -> Iterator[ProfiledGraphs]:
        """Some graphs at a time, so what is made of them fits into memory; all at once where they are few."""
        if len(self) <= PART:
            yield self  # a slice would be a copy
        else:
            yield from (self[first : first + PART] for first in range(0, len(self), PART))

    def structure_only(self) -> ProfiledGraphs:
        """The same graphs without node labels, attributes and edge labels; codes stay."""
        return replace(self, graphs=self.graphs.structure_only())


def measure_graphs(graphs: GraphSet, *, progress: bool = False) -> ProfiledGraphs:
    """Graphs with their structure measured."""
    return ProfiledGraphs(graphs, profile(graphs, progress=progress))


def join_profiled(parts: Sequence[ProfiledGraphs]) -> ProfiledGraphs:
    """Several sets, one after another; graph ids must be unique."""
    codes = {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes}
    structure = join_profiles([part.profile for part in parts])
    return ProfiledGraphs(concatenate([part.graphs for part in parts]), structure, codes)
