"""Why a graph got its score: neighbours, shares of the score, reasons in words, and nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.calibration import conformal_p_values
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.edge_reasons import edge_deviations
from graphglass.detector.reasons import FieldDeviation, by_strength, field_deviations, reasons
from graphglass.detector.scored_graphs import html_table
from graphglass.detector.scorer import ReferenceScorer
from graphglass.drawing.layout import breadth_first
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.subgraphs import without_nodes

# Deleting every node of a large graph one by one costs a profile per node; past this, nodes are deleted in groups.
MOST_DELETIONS = 128
MOST_ENDS = 2_000_000  # nodes and edge ends of all smaller copies together: some seconds of scoring


@dataclass(frozen=True)
class Neighbour:
    """A normal reference near the graph.

    Attributes
    ----------
    id : str
    distance : float
        Fused distance: the channels, units and weights of the score. 0 for a twin.
    similarity : float
        Mean of ``families``.
    families : mapping family -> float
        Similarity between 0 and 1 in every family of channels.
    """

    id: str
    distance: float
    similarity: float
    families: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Explanation:
    """Everything known about one score.

    Attributes
    ----------
    id : str
    score, p_value : float
    neighbours : tuple of Neighbour
        Nearest first.
    resembles : tuple of Neighbour
        The nearest known anomalies, if there are any, nearest first.
    contributions : mapping channel -> float
        They sum to the score.
    shares : mapping family -> float
        Percent of what raises the score, by family, largest first; they sum to 100 unless nothing raises it.
    fields : tuple of FieldDeviation
        Structural fields, and labels, attributes and single edges outside their usual range.
    reasons : tuple of str
        One sentence per cause that lies outside the usual range, the strongest first.
    node_attribution : float64 (nodes,)
    node_names : tuple of str
    """

    id: str
    score: float
    p_value: float
    neighbours: tuple[Neighbour, ...]
    resembles: tuple[Neighbour, ...]
    contributions: Mapping[str, float]
    shares: Mapping[str, float]
    fields: tuple[FieldDeviation, ...]
    reasons: tuple[str, ...]
    node_attribution: NDArray[np.float64]
    node_names: tuple[str, ...]

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Source and target of the edges that the reasons name, the strongest first."""
        return tuple(field.edge for field in self.fields if field.edge is not None)

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{escape(text)}</li>" for text in self.reasons)
        shares = [(escape(name), f"{share:.0f}%") for name, share in self.shares.items() if share >= 0.5]
        near = [(escape(item.id), f"{item.similarity:.2f}") for item in self.neighbours]
        return (
            f"<p><b>{escape(self.id)}</b>: score {self.score:.4f}, p-value {self.p_value:.4f}</p><ul>{reasons}</ul>"
            f"{html_table(('family', 'share of the score'), shares)}{html_table(('neighbour', 'similarity'), near)}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "score": self.score,
            "p_value": self.p_value,
            "neighbours": [asdict(item) for item in self.neighbours],
            "resembles": [asdict(item) for item in self.resembles],
            "contributions": dict(self.contributions),
            "shares": dict(self.shares),
            "reasons": list(self.reasons),
            "fields": [asdict(item) for item in self.fields],
            "nodes": [
                {"node": name, "attribution": float(value)}
                for name, value in zip(self.node_names, self.node_attribution, strict=True)
            ],
        }


def explain_one(
    query: ProfiledGraphs,
    references: ProfiledGraphs,
    scorer: ReferenceScorer,
    *,
    neighbours: int,
    decision_function: Callable[[GraphSet], NDArray[np.float64]] | None,
) -> Explanation:
    """Explain the score of one graph; without ``decision_function`` nodes get no attribution."""
    score = float(scorer.scores(query)[0])
    contributions = {name: float(value[0]) for name, value in scorer.contributions(query).items()}
    attribution = np.zeros(query.graphs.node_count)
    if decision_function is not None:
        attribution = node_attribution(query.graphs, score, decision_function)
    edges = edge_deviations(query.graphs, references.graphs)
    deviations = by_strength([*field_deviations(query, references), *edges])
    near = nearest_references(query, references, scorer, neighbours)
    resembles: tuple[Neighbour, ...] = ()
    sentences = reasons(deviations)
    if scorer.known is not None:
        resembles = nearest(query, scorer.known.graphs, scorer, scorer.distances_to_known(query), neighbours)
        sentences = (*_resemblance(resembles, near), *sentences)
    names = query.graphs.node_names
    return Explanation(
        id=query.graphs.ids[0],
        score=score,
        p_value=float(conformal_p_values(np.array([score]), scorer.reference_scores)[0]),
        neighbours=near,
        resembles=resembles,
        contributions=contributions,
        shares=family_shares(contributions),
        fields=deviations,
        reasons=sentences,
        node_attribution=attribution,
        node_names=tuple(map(str, range(query.graphs.node_count) if names is None else names)),
    )


def nearest_references(
    query: ProfiledGraphs, references: ProfiledGraphs, scorer: ReferenceScorer, count: int
) -> tuple[Neighbour, ...]:
    """The references with the smallest fused distance to one graph."""
    places = scorer.candidates(query)
    distances = scorer.fused_distances(query, places)[0]
    chosen = np.argsort(distances, kind="stable")[:count]
    return nearest(query, scorer.profiled(places[chosen]), scorer, distances[chosen], count)


def nearest(
    query: ProfiledGraphs,
    others: ProfiledGraphs,
    scorer: ReferenceScorer,
    distances: NDArray[np.float64],
    count: int,
) -> tuple[Neighbour, ...]:
    """Those of some graphs with the smallest fused distance to one graph, given these distances."""
    order = np.argsort(distances, kind="stable")[:count]
    if not len(order):
        return ()
    similar = scorer.similarities(query, others[order])
    found = []
    for rank, place in enumerate(order):
        families = {family: float(values[rank]) for family, values in similar.items()}
        mean = sum(families.values()) / len(families)
        found.append(Neighbour(others.graphs.ids[place], float(distances[place]), mean, families))
    return tuple(found)


def _resemblance(known: tuple[Neighbour, ...], normal: tuple[Neighbour, ...]) -> Iterator[str]:
    """A sentence if a known anomaly is nearer than every normal reference."""
    if known and normal and known[0].distance <= normal[0].distance:
        family, value = max(known[0].families.items(), key=lambda item: item[1])
        yield f"Resembles known anomaly {known[0].id} ({family} {value:.2f})."


def family_sums(contributions: Mapping[str, float]) -> dict[str, float]:
    """Contributions of channels added up by family."""
    families: dict[str, float] = {}
    for name, value in contributions.items():
        family = name.partition(":")[0]
        families[family] = families.get(family, 0.0) + value
    return families


def family_shares(contributions: Mapping[str, float]) -> dict[str, float]:
    """Percent of the positive contributions by family, largest first."""
    families = family_sums(contributions)
    raised = sum(value for value in families.values() if value > 0)
    shares = {name: 100 * max(value, 0.0) / raised if raised else 0.0 for name, value in families.items()}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


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
    """Split the nodes into about ``count`` runs of a breadth-first order, so that a group is connected."""
    return [np.asarray(part) for part in np.array_split(breadth_first(graph, 0), count)]
