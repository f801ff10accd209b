"""ProfiledGraphs: what every scoring channel may read about a set of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet, concatenate
from graphglass.structure.profile import StructureProfile, join_profiles


@dataclass(frozen=True, eq=False)
class ProfiledGraphs:
    """Graphs beside their structure and their unit-row codes, row for row.

    Attributes
    ----------
    graphs : GraphSet
    profile : StructureProfile
    codes : mapping name -> float32 (graphs, dimension)
        Embeddings on the sphere, such as ``graph:64`` and ``text:128``.
    """

    graphs: GraphSet
    profile: StructureProfile
    codes: Mapping[str, NDArray[np.float32]]

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, key: Any) -> ProfiledGraphs:
        """Select graphs by slice, index array or mask."""
        codes = {name: rows[key] for name, rows in self.codes.items()}
        return ProfiledGraphs(self.graphs[key], self.profile[key], codes)

    def structure_only(self) -> ProfiledGraphs:
        """The same evidence with node labels, attributes and edge labels left out; codes stay."""
        return replace(self, graphs=self.graphs.structure_only())


def join_profiled(parts: Sequence[ProfiledGraphs]) -> ProfiledGraphs:
    """ProfiledGraphs of several sets, one after another; graph ids must be unique."""
    codes = {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes}
    structure = join_profiles([part.profile for part in parts])
    return ProfiledGraphs(concatenate([part.graphs for part in parts]), structure, codes)
