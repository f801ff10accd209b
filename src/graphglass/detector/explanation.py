"""Why a graph got its score: neighbours, channels, structure in words, and nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.layout import breadth_first
from graphglass.graphs.subgraphs import without_nodes
from graphglass.language.fields import FIELD_NAMES
from graphglass.language.graphdp import graphdp
from graphglass.scoring.evidence import Evidence

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
    """One structural field beside its distribution over the references.

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


def nearest_references(query: Evidence, references: Evidence, count: int) -> tuple[Neighbour, ...]:
    """The references with the highest mean cosine over all spherical codes."""
    similarity = np.mean([references.codes[name] @ rows[0] for name, rows in query.codes.items()], axis=0)
    order = np.argsort(-similarity, kind="stable")[:count]
    return tuple(Neighbour(references.graphs.ids[i], float(np.clip(similarity[i], -1, 1))) for i in order)


def field_deviations(query: Evidence, references: Evidence) -> tuple[FieldDeviation, ...]:
    """GraphDP fields of one graph against the references: those outside the usual range first, then by deviation."""
    values, normal = graphdp(query.profile).fields[0], graphdp(references.profile).fields
    low, median, high = np.percentile(normal, (5, 50, 95), axis=0)
    spread = 1.4826 * np.median(np.abs(normal - median), axis=0)
    # A field that hardly varies among the references still needs a unit to measure a deviation in.
    unit = np.maximum(spread, np.maximum(0.1 * normal.std(axis=0), 1e-3 * np.maximum(1, np.abs(median))))
    deviations = (values - median) / unit
    percentile = ((normal < values).mean(axis=0) + (normal <= values).mean(axis=0)) / 2
    rows = [
        FieldDeviation(
            name,
            float(values[i]),
            float(median[i]),
            float(low[i]),
            float(high[i]),
            float(percentile[i]),
            float(deviations[i]),
            _words(name, float(values[i]), float(low[i]), float(median[i]), float(high[i])),
        )
        for i, name in enumerate(FIELD_NAMES)
    ]
    return tuple(
        sorted(rows, key=lambda row: (row.reference_low <= row.value <= row.reference_high, -abs(row.deviation)))
    )


def _words(name: str, value: float, low: float, median: float, high: float) -> str:
    title = name.replace("_", " ")
    usual = f"normal graphs have {_number(median)}, most between {_number(low)} and {_number(high)}"
    if value > high:
        return f"{title} is {_number(value)}, higher than usual: {usual}"
    if value < low:
        return f"{title} is {_number(value)}, lower than usual: {usual}"
    return f"{title} is {_number(value)}, as usual: {usual}"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"


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
