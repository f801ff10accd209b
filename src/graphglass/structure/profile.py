"""StructureProfile: what the structure of every graph measures, as flat frozen arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.aggregates import AGGREGATE_NAMES
from graphglass.structure.descriptors import LTD_NAMES, describe_graphs
from graphglass.structure.spectrum import SKETCH_NAMES, spectral_sketch

__all__ = ["AGGREGATE_NAMES", "LTD_NAMES", "SKETCH_NAMES", "StructureProfile", "profile"]


@dataclass(frozen=True, eq=False)
class StructureProfile:
    """Structural numbers of many graphs, row by row aligned with the GraphSet they came from.

    Attributes
    ----------
    node_offsets : int64 (graphs + 1,)
        Nodes of graph ``i`` are rows ``node_offsets[i]:node_offsets[i + 1]`` of ``descriptors``.
    descriptors : float64 (nodes, 9)
        Local topology descriptors, :data:`LTD_NAMES`.
    aggregates : float64 (graphs, 17)
        Graph-level numbers, :data:`AGGREGATE_NAMES`.
    sketch : float64 (graphs, 11)
        Spectral sketch, :data:`SKETCH_NAMES`.
    estimated : bool (graphs,)
        True where the size of the graph made one of its numbers an estimate.
    """

    node_offsets: NDArray[np.int64]
    descriptors: NDArray[np.float64]
    aggregates: NDArray[np.float64]
    sketch: NDArray[np.float64]
    estimated: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for item in fields(self):
            # A view, so that freezing this profile does not freeze an array the caller still owns.
            view = getattr(self, item.name).view()
            view.flags.writeable = False
            object.__setattr__(self, item.name, view)

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def __repr__(self) -> str:
        return f"StructureProfile({len(self)} graphs, {len(self.descriptors)} nodes)"

    def __getitem__(self, key: Any) -> StructureProfile:
        """Select graphs by integer (a profile of one), slice, index array or boolean mask."""
        if isinstance(key, int | np.integer):
            if not -len(self) <= key < len(self):
                raise IndexError(f"graph {key} of a profile of {len(self)}")
            key = [key]
        if not isinstance(key, slice):
            key = np.asarray(key, dtype=None if np.size(key) else np.int64)
        chosen = np.arange(len(self))[key]
        sizes = np.diff(self.node_offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.node_offsets[chosen] - offsets[:-1], sizes)
        return StructureProfile(
            offsets, self.descriptors[rows], self.aggregates[chosen], self.sketch[chosen], self.estimated[chosen]
        )


def profile(graphs: GraphSet, *, progress: bool = False) -> StructureProfile:
    """Measure the structure of every graph: node descriptors, aggregates and spectral sketch.

    The result of a graph depends on that graph alone, not on the others in the set nor on the order of its nodes.

    Parameters
    ----------
    progress
        Show a progress bar on standard error while graphs are measured, if it is a terminal.
    """
    descriptors = np.zeros((graphs.node_count, len(LTD_NAMES)))
    aggregates = np.zeros((len(graphs), len(AGGREGATE_NAMES)))
    estimated = np.zeros(len(graphs), np.bool_)
    describe_graphs(
        np.arange(len(graphs)),
        graphs.node_offsets,
        graphs.neighbour_offsets,
        graphs.neighbours,
        descriptors,
        aggregates,
    )
    return StructureProfile(graphs.node_offsets, descriptors, aggregates, spectral_sketch(graphs), estimated)
