"""Why a graph got its score: neighbours, channels, structure in words, and nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.graph_fields import Column, contents
from graphglass.embedding.prompt.fields import FIELD_NAMES
from graphglass.embedding.prompt.graphdp import graphdp
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.layout import breadth_first
from graphglass.graphs.subgraphs import without_nodes

# Deleting every node of a large graph one by one costs a profile per node; past this, nodes are deleted in groups.
MOST_DELETIONS = 128
MOST_ENDS = 2_000_000  # nodes and edge ends of all smaller copies together: some seconds of scoring


@dataclass(frozen=True)
class Neighbour:
    """A normal reference near the graph; similarity is the mean cosine over the spherical codes."""

    id: str
    similarity: float


@dataclass(frozen=True)
class FieldDeviation:
    """One field, structural or of labels and attributes, beside its distribution over the references.

    ``percentile`` is the share of references below the value, ties counted half; ``deviation`` the distance from their
    median in robust standard deviations.
    """

    name: str
    value: float
    reference_median: float
    reference_low: float
    reference_high: float
    percentile: float
    deviation: float
    words: str

    @property
    def usual(self) -> bool:
        """Whether the value lies where nine in ten references do."""
        return self.reference_low <= self.value <= self.reference_high


@dataclass(frozen=True, eq=False)
class Explanation:
    """Everything known about one score. Contributions sum to it."""

    id: str
    score: float
    p_value: float
    neighbours: tuple[Neighbour, ...]
    contributions: Mapping[str, float]
    fields: tuple[FieldDeviation, ...]
    node_attribution: NDArray[np.float64]
    node_names: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "score": self.score,
            "p_value": self.p_value,
            "neighbours": [asdict(item) for item in self.neighbours],
            "contributions": dict(self.contributions),
            "fields": [asdict(item) for item in self.fields],
            "nodes": [
                {"node": name, "attribution": float(value)}
                for name, value in zip(self.node_names, self.node_attribution, strict=True)
            ],
        }


def nearest_references(query: ProfiledGraphs, references: ProfiledGraphs, count: int) -> tuple[Neighbour, ...]:
    """The references with the highest mean cosine over all spherical codes."""
    similarity = np.mean([references.codes[name] @ rows[0] for name, rows in query.codes.items()], axis=0)
    order = np.argsort(-similarity, kind="stable")[:count]
    return tuple(Neighbour(references.graphs.ids[i], float(np.clip(similarity[i], -1, 1))) for i in order)


def field_deviations(query: ProfiledGraphs, references: ProfiledGraphs) -> tuple[FieldDeviation, ...]:
    """Fields of one graph against the references: those outside the usual range first, then by deviation.

    The structural fields are all there; labels and attributes where they are out of the usual range.
    """
    values, normal = graphdp(query.profile).fields[0], graphdp(references.profile).fields
    structure = [Column(name, float(values[i]), normal[:, i]) for i, name in enumerate(FIELD_NAMES)]
    carried = [_deviation(column) for column in contents(query.graphs, references.graphs)]
    rows = [*map(_deviation, structure), *(row for row in carried if not row.usual)]
    return tuple(sorted(rows, key=lambda row: (row.usual, -abs(row.deviation))))


def _deviation(column: Column) -> FieldDeviation:
    value, normal = column.value, column.normal
    low, median, high = (float(cut) for cut in np.percentile(normal, (5, 50, 95)))
    spread = 1.4826 * float(np.median(np.abs(normal - median)))
    # What hardly varies among the references still needs a unit to measure a deviation in.
    unit = max(spread, 0.5 * float(normal.std()), column.least or max(1e-3, 0.05 * abs(median)))
    percentile = float((normal < value).mean() + (normal <= value).mean()) / 2
    deviation = (value - median) / unit
    return FieldDeviation(column.name, value, median, low, high, percentile, deviation, column.words(low, median, high))


def node_attribution(
    graph: GraphSet, score: float, decision_function: Callable[[GraphSet], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """How much the score falls when a node is deleted; positive nodes make the graph abnormal.

    Graphs of more than :data:`MOST_DELETIONS` nodes are deleted in groups of neighbouring nodes that share one value,
    very large ones in fewer groups.
    """
    nodes = graph.node_count
    if nodes == 1:
        return np.zeros(1)
    affordable = max(MOST_ENDS // (nodes + len(graph.neighbours)), 8)
    groups = _neighbouring_groups(graph, min(nodes, MOST_DELETIONS, affordable))
    drops = score - decision_function(without_nodes(graph, groups))
    attribution = np.zeros(nodes)
    for group, drop in zip(groups, drops, strict=True):
        attribution[group] = drop
    return attribution


def _neighbouring_groups(graph: GraphSet, count: int) -> list[NDArray[np.int64]]:
    """Split the nodes into about ``count`` runs of a breadth-first order, so that a group hangs together."""
    return [np.asarray(part) for part in np.array_split(breadth_first(graph, 0), count)]
