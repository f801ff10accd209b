"""The part of every node and edge in a score, from what the nearest references do not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.patterns.count_channel import CountChannel, PatternRows
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.unmatched import Nearest, Unmatched
from graphglass.detector.known_anomalies import NAME as CLASSIFIER
from graphglass.detector.scorer import ReferenceScorer

NEAREST = 5  # references that a graph is compared with node by node

Parts = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attribution:
    """A score in parts, none of which is negative at a node or an edge; all of them sum to the score."""

    nodes: Parts  # (nodes,)
    edges: Parts  # (edges,): in the order of :meth:`GraphSet.edge_list`
    whole: float  # what belongs to no node and no edge: size, structure, what is missing, and all that lowers the score
    by_channel: Mapping[str, tuple[Parts, Parts]]  # of nodes and of edges
    rest: Mapping[str, float]  # by channel: what of each contribution belongs to the graph as a whole

    @property
    def raised(self) -> float:
        """The sum of all parts that raise the score."""
        return float(self.nodes.sum() + self.edges.sum()) + sum(max(value, 0.0) for value in self.rest.values())

    @property
    def hottest(self) -> float:
        """The largest part of a node or an edge."""
        return float(max(self.nodes.max(initial=0.0), self.edges.max(initial=0.0)))


def attribute(
    query: ProfiledGraphs,
    near: Nearest,
    scorer: ReferenceScorer,
    contributions: Mapping[str, float],
    known: int | None = None,
) -> Attribution:
    """Spread the contributions of one graph over its nodes and edges.

    Parameters
    ----------
    query : a set of one graph
    near : Nearest
        Its nearest references.
    contributions : mapping channel -> float
    known : int, optional
        The place of the nearest known anomaly: what it shares with the graph and the references lack carries the
        contribution of the known anomalies.
    """
    parts = {}
    for channel in scorer.channels:
        if contributions[channel.name] > 0:
            parts[channel.name] = channel.unmatched(query, near).spread(contributions[channel.name])
    if known is not None and scorer.known is not None and contributions.get(CLASSIFIER, 0.0) > 0:
        shared = Unmatched.whole(query.graphs)
        for channel in scorer.channels:
            if isinstance(channel, CountChannel):
                rows = scorer.known.rows[channel.name][known : known + 1]
                assert isinstance(rows, PatternRows)
                common = channel.unshared(query, near, rows).nodes
                shared = replace(shared, nodes=shared.nodes + scorer.fusion.weights[channel.name] * common)
        parts[CLASSIFIER] = shared.spread(contributions[CLASSIFIER])
    nodes, edges = np.zeros(query.graphs.node_count), np.zeros(len(query.graphs.edge_list().sources))
    for of_nodes, of_edges in parts.values():
        nodes, edges = nodes + of_nodes, edges + of_edges
    spread = {name: float(part[0].sum() + part[1].sum()) for name, part in parts.items()}
    rest = {name: value - spread.get(name, 0.0) for name, value in contributions.items()}
    whole = sum(contributions.values()) - float(nodes.sum() + edges.sum())
    return Attribution(nodes, edges, whole, parts, rest)


def lacking(query: ProfiledGraphs, reference: ProfiledGraphs, channels: Sequence[CountChannel]) -> Parts:
    """How much of every node of a reference, by itself and with its neighbours, one graph lacks: from 0 to 1.

    The first channel that counts patterns says so, by labels where there are some; none without such a channel.
    """
    total = np.zeros(reference.graphs.node_count)
    for channel in channels[:1]:
        for (owner, keys, level), (_, others, _) in zip(
            channel.occurrences(reference), channel.occurrences(query), strict=True
        ):
            if level < 2:  # farther out, nearly everything differs
                kinds, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
                ordered = np.sort(others)
                own = np.searchsorted(ordered, kinds, "right") - np.searchsorted(ordered, kinds)
                total += np.bincount(owner, (np.maximum(counts - own, 0) / counts)[inverse], len(total)) / 2
    return total
