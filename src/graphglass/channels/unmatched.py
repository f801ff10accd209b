"""What of a graph its nearest references lack: weights of nodes and edges, by which a contribution is spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.graphs.graph_set import EdgeList, GraphSet

ROUNDING = 1e-4  # excess below this comes from the order of a sum


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest references of one query, by fused distance.

    Attributes
    ----------
    places : int64 (near,)
        Among the references of the channels.
    graphs : ProfiledGraphs
        The same graphs.
    """

    places: NDArray[np.int64]
    graphs: ProfiledGraphs


@dataclass(frozen=True, eq=False)
class Unmatched:
    """Weights, at least 0, of what the nearest references lack; all in one unit.

    Attributes
    ----------
    nodes : float64 (nodes,)
    edges : float64 (edges,)
        In the order of :meth:`GraphSet.edge_list`.
    missing : float
        Weight of what all nearest references have and the query lacks, which no node of the query shows.
    levels : int64 (nodes,) or None
        Of patterns: the first level at which the references lack each node's, or the number of levels.
    """

    nodes: NDArray[np.float64]
    edges: NDArray[np.float64]
    missing: float = 0.0
    levels: NDArray[np.int64] | None = None

    @classmethod
    def whole(cls, graph: GraphSet) -> Unmatched:
        """Nothing that a node or an edge shows."""
        return cls(np.zeros(graph.node_count), np.zeros(len(graph.edge_list().sources)))

    def spread(self, contribution: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The parts of the nodes and of the edges in a contribution; what lowers a score belongs to no node."""
        total = float(self.nodes.sum() + self.edges.sum() + self.missing)
        if contribution <= 0 or total <= 0:
            return np.zeros_like(self.nodes), np.zeros_like(self.edges)
        return self.nodes * (contribution / total), self.edges * (contribution / total)


def with_ends(
    nodes: NDArray[np.float64], listed: EdgeList, weights: NDArray[np.float64], missing: float = 0.0
) -> Unmatched:
    """Node weights, and edge weights of which half stays at the edge and a quarter goes to each of its ends."""
    ends = sum(np.bincount(side, weights / 4, len(nodes)) for side in (listed.sources, listed.targets))
    return Unmatched(nodes + ends, weights / 2, missing)


def beyond(values: NDArray[np.float64], normal: NDArray[np.float64], units: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the rows lie outside the range of the normal rows, summed over the columns, on a logarithmic scale.

    (rows, columns) and (normal rows, columns) to (rows,); no normal rows give no range to leave.
    """
    if not len(normal) or not values.size:
        return np.zeros(len(values))
    outside = np.maximum(values - normal.max(axis=0), normal.min(axis=0) - values)
    steps = outside / np.where(units > 0, units, 1.0)
    return np.asarray(np.log1p(np.where(steps > ROUNDING, steps, 0.0)).sum(axis=1))
