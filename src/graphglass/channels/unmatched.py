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
    """The nearest references of one query, by fused distance."""

    places: NDArray[np.int64]  # (near,): among the references of the channels
    graphs: ProfiledGraphs  # the same graphs
    weights: NDArray[np.float64]  # (near,): how much each counts, the nearer the more, a twin alone; they sum to 1

    def __getitem__(self, key: NDArray[np.int64]) -> Nearest:
        return Nearest(self.places[key], self.graphs[key], self.weights[key])


@dataclass(frozen=True, eq=False)
class Unmatched:
    """Weights, at least 0, of what the nearest references lack; all in one unit."""

    nodes: NDArray[np.float64]  # (nodes,)
    edges: NDArray[np.float64]  # (edges,): in the order of :meth:`GraphSet.edge_list`
    missing: float = 0.0  # weight of what all nearest references have and the query lacks, so no node of it shows it

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
    """Node weights, and edge weights of which half stays at the edge; each end gets up to a quarter.

    An end gets the mean over its edges, with one usual edge counted in: of an edge between a node with many usual edges
    and one with few, the latter is the strange end, and two strange edges say more than one.
    """
    both = np.concatenate([listed.sources, listed.targets])
    total = np.bincount(both, np.tile(weights, 2), len(nodes))
    ends = total / (1 + np.bincount(both, minlength=len(nodes)))
    return Unmatched(nodes + ends / 4, weights / 2, missing)


def beyond(values: NDArray[np.float64], normal: NDArray[np.float64], units: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the rows lie outside the range of the normal rows, summed over the columns, on a logarithmic scale.

    (rows, columns) and (normal rows, columns) to (rows,); no normal rows give no range to leave.
    """
    if not len(normal) or not values.size:
        return np.zeros(len(values))
    outside = np.maximum(values - normal.max(axis=0), normal.min(axis=0) - values)
    steps = outside / np.where(units > 0, units, 1.0)
    return np.asarray(np.log1p(np.where(steps > ROUNDING, steps, 0.0)).sum(axis=1))
