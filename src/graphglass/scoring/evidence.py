"""Evidence: what every scoring channel may read about a set of graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import StructureProfile


@dataclass(frozen=True, eq=False)
class Evidence:
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

    def __getitem__(self, key: Any) -> Evidence:
        """Select graphs by slice, index array or mask."""
        codes = {name: rows[key] for name, rows in self.codes.items()}
        return Evidence(self.graphs[key], self.profile[key], codes)
