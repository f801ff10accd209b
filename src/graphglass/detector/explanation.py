"""Why a graph got its score: neighbours, shares of the score, causes in words, and the parts of nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.calibration import conformal_p_values, left_out_p_values
from graphglass.channels.nearest_references import Rows
from graphglass.channels.patterns.count_channel import CountChannel
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.unmatched import Nearest
from graphglass.detector.attribution import NEAREST, attribute, lacking
from graphglass.detector.known_anomalies import NAME as CLASSIFIER
from graphglass.detector.normal_facts import NormalFacts, normal_facts
from graphglass.detector.reasons import LEAST, SENTENCES, Cause, Evidence, causes, resemblance
from graphglass.detector.reference_sets import equal_places
from graphglass.detector.scorer import ReferenceScorer
from graphglass.drawing.graph_svg import Picture, draw_graph
from graphglass.drawing.molecule_svg import elements
from graphglass.graphs.graph_set import GraphSet

TWIN = 1e-6  # fused distance below which a graph equals a reference in all that is measured


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
    """Everything known about one score. In a notebook it shows drawings, sentences and bars.

    Attributes
    ----------
    id : str
    score : float
    p_value : float or None
        None in zero-shot transfer.
    neighbours : tuple of Neighbour
        Nearest first.
    resembles : tuple of Neighbour
        The nearest known anomalies, if there are any, nearest first.
    contributions : mapping channel -> float
        They sum to the score.
    shares : mapping family -> float
        Percent of what raises the score, by family, largest first; they sum to 100 unless nothing raises it.
    causes : tuple of Cause
        Sentences with their nodes, edges and share of the score, the largest share first.
    node_attribution : float64 (nodes,)
        The part of every node in the score, at least 0.
    edge_attribution : float64 (edges,)
        The same for edges, in the order of :meth:`GraphSet.edge_list`.
    whole : float
        What belongs to the graph as a whole: nodes, edges and this sum to the score.
    node_names : tuple of str
    graph : GraphSet
        The graph.
    nearest : GraphSet
        The nearest normal graph, or none.
    lacking : float64 (nodes of the nearest,)
        What each node of the nearest normal graph shows that the graph lacks, from 0 to 1.
    labels, foreign : tuple of str
        The references' most frequent labels, and the graph's that no reference has: those with colours of their own.
    reference : bool
        Whether the graph is a reference; then all of this compares it with the others.
    """

    id: str
    score: float
    p_value: float | None
    neighbours: tuple[Neighbour, ...]
    resembles: tuple[Neighbour, ...]
    contributions: Mapping[str, float]
    shares: Mapping[str, float]
    causes: tuple[Cause, ...]
    node_attribution: NDArray[np.float64]
    edge_attribution: NDArray[np.float64]
    whole: float
    node_names: tuple[str, ...]
    graph: GraphSet
    nearest: GraphSet
    lacking: NDArray[np.float64]
    labels: tuple[str, ...]
    foreign: tuple[str, ...]
    reference: bool = False

    def draw(self) -> Picture:
        """The graph with the parts of its nodes and edges."""
        return draw_graph(
            self.graph, self.node_attribution, self.labels or None, self.edge_attribution, foreign=self.foreign
        )

    def draw_nearest(self) -> Picture | None:
        """The nearest normal graph, with a ring where the graph lacks what it has."""
        if not len(self.nearest):
            return None
        return draw_graph(self.nearest, coloured=self.labels or None, lacking=self.lacking)

    @property
    def headline(self) -> str:
        """Score and p-value in words."""
        chance = "" if self.p_value is None else f", p-value {self.p_value:.4f}"
        return f"score {self.score:.4f}{chance}{', a reference among the others' if self.reference else ''}"

    @property
    def reasons(self) -> tuple[str, ...]:
        """The sentences."""
        return tuple(cause.words for cause in self.causes)

    def __str__(self) -> str:
        lines = [f"{self.id}: {self.headline}"]
        lines += [f"{cause.share:4.0f}%  {cause.words}" for cause in self.causes]
        order = np.argsort(-self.node_attribution, kind="stable")[:5]
        hot = [f"{self._title(i)} ({self.node_attribution[i]:.3f})" for i in order if self.node_attribution[i] > 0]
        lines.append(f"hottest nodes: {', '.join(hot) or 'none'}; the graph as a whole: {self.whole:+.3f}")
        shares = [f"{name} {share:.0f}%" for name, share in self.shares.items() if share >= 0.5]
        lines.append(f"shares of the score: {', '.join(shares) or 'none'}")
        near = [f"{item.id} ({item.distance:.3f})" for item in self.neighbours[:3]]
        lines.append(f"nearest normal graphs: {', '.join(near) or 'none'}")
        if self.resembles:
            lines.append(f"nearest known anomaly: {self.resembles[0].id} ({self.resembles[0].distance:.3f})")
        return "\n".join(lines)

    def _title(self, node: int) -> str:
        """The name of a node; of an atom with its element, as in the sentences."""
        symbols = elements(self.graph)
        return self.node_names[node] if symbols is None else f"{symbols[node]}{node}"

    def _repr_html_(self) -> str:
        from graphglass.drawing.explanation_page import explanation_html

        return explanation_html(self)

    def save(self, path: str | Path) -> None:
        """Write the drawing (``.svg``, ``.png`` with CairoSVG), or drawing, sentences and bars (``.html``)."""
        from graphglass.drawing.explanation_page import save_explanation

        save_explanation(self, Path(path))

    def to_json(self) -> dict[str, Any]:
        listed = self.graph.edge_list()
        ends = zip(listed.sources.tolist(), listed.targets.tolist(), self.edge_attribution.tolist(), strict=True)
        return {
            "id": self.id,
            "score": self.score,
            "p_value": self.p_value,
            "reference": self.reference,
            "neighbours": [asdict(item) for item in self.neighbours],
            "resembles": [asdict(item) for item in self.resembles],
            "contributions": dict(self.contributions),
            "shares": dict(self.shares),
            "reasons": list(self.reasons),
            "causes": [asdict(cause) for cause in self.causes],
            "nodes": [
                {"node": name, "attribution": float(value)}
                for name, value in zip(self.node_names, self.node_attribution, strict=True)
            ],
            "edges": [{"source": one, "target": two, "attribution": value} for one, two, value in ends if value > 0],
            "whole": self.whole,
        }


def explain_one(
    query: ProfiledGraphs, scorer: ReferenceScorer, *, neighbours: int, reference: bool = True
) -> Explanation:
    """Explain the score of one graph, from one comparison with the references.

    A graph that equals a reference is compared with the others alone, unless it is known to be no ``reference``.
    """
    rows = {channel.name: channel.encode(query) for channel in scorer.channels}
    comparable = reference and scorer.reference_count > 1  # with itself alone, a reference has no others
    own = int(equal_places(query.graphs, scorer.graphs)[0]) if comparable else -1
    reference = own >= 0
    scores, parted, distant = scorer.left_out_parts(query, own) if reference else scorer.parted_scores(query, rows)
    score, contributions = float(scores[0]), {name: float(value[0]) for name, value in parted.items()}
    places = scorer.candidates(query)
    places = places[places != own]
    distances = scorer.fused_distances(query, places, rows)[0]
    order = np.argsort(distances, kind="stable")[: max(neighbours, NEAREST)]
    normal = scorer.profiled(places[order])
    closeness = 1 / np.maximum(distances[order[:NEAREST]], TWIN**2)
    near = Nearest(places[order[:NEAREST]], normal[: len(closeness)], closeness / closeness.sum())
    others = {channel.name: channel.references for channel in scorer.channels}
    found = _neighbours(scorer, rows, others, places[order], normal.graphs.ids, distances[order])
    known: int | None = None
    resembles: tuple[Neighbour, ...] = ()
    if scorer.known is not None:
        to_known = scorer.distances_to_known(rows)
        ranks = np.argsort(to_known, kind="stable")[: max(neighbours, 1)]
        known = int(ranks[0])
        ids = [scorer.known.graphs.graphs.ids[rank] for rank in ranks]
        resembles = _neighbours(scorer, rows, scorer.known.rows, ranks, ids, to_known[ranks])
    parts = attribute(query, near, scorer, contributions, known)
    counting = [channel for channel in scorer.channels if isinstance(channel, CountChannel)]
    facts = every = normal_facts(scorer)
    others_only = scorer.reference_places != own
    if reference:
        facts = NormalFacts(scorer.references[others_only])
    usual = {channel.name: channel.left_out[others_only] for channel in scorer.channels}
    evidence = Evidence(query, near, facts, counting, parts, distant, usual)
    told = causes(evidence)
    if found and found[0].distance <= TWIN:
        told = (
            Cause(
                evidence.whole(f"equal to normal {evidence.nouns['graph']} {found[0].id} in all that is measured."),
                100.0,
            ),
        )
    elif resembles and found:
        told = _with_resemblance(evidence, told, resembles[0], found[0])
    names = query.graphs.node_names
    p_values = left_out_p_values if reference else conformal_p_values
    return Explanation(
        id=query.graphs.ids[0],
        score=score,
        p_value=None if scorer.zero_shot else float(p_values(scores, scorer.reference_scores)[0]),
        neighbours=found[:neighbours],
        resembles=resembles[:neighbours],
        contributions=contributions,
        shares=family_shares(contributions),
        causes=told,
        node_attribution=parts.nodes,
        edge_attribution=parts.edges,
        whole=parts.whole,
        node_names=tuple(map(str, range(query.graphs.node_count) if names is None else names)),
        graph=query.graphs,
        nearest=normal.graphs[:1],
        lacking=lacking(query, normal[:1], counting),
        labels=every.frequent_labels,  # one colour for a label in all drawings
        foreign=facts.foreign_labels(query.graphs),
        reference=reference,
    )


def _neighbours(
    scorer: ReferenceScorer,
    rows: Mapping[str, Rows],
    others: Mapping[str, Rows],
    places: NDArray[np.int64],
    ids: Sequence[str],
    distances: NDArray[np.float64],
) -> tuple[Neighbour, ...]:
    """Graphs in order of their distance, with their similarity in every family."""
    families: dict[str, list[NDArray[np.float64]]] = {}
    for channel in scorer.channels:
        plain = channel.compare_each(rows[channel.name], others[channel.name], places[None])[0]
        families.setdefault(channel.family, []).append(channel.similarity(plain))
    similar = {family: np.mean(values, axis=0) for family, values in families.items()}
    found = []
    for rank, (name, distance) in enumerate(zip(ids, distances.tolist(), strict=True)):
        own = {family: float(values[rank]) for family, values in similar.items()}
        found.append(Neighbour(name, distance, sum(own.values()) / len(own), own))
    return tuple(found)


def _with_resemblance(
    evidence: Evidence, told: tuple[Cause, ...], known: Neighbour, normal: Neighbour
) -> tuple[Cause, ...]:
    """A sentence about the nearest known anomaly, where it is near or weighs in the score.

    In its place by the share that no other sentence counts.
    """
    parts, others = evidence.parts, told[: SENTENCES - 1]
    shared = parts.by_channel[CLASSIFIER][0] if CLASSIFIER in parts.by_channel else np.zeros_like(parts.nodes)
    counted = sorted({node for cause in others for node in cause.nodes})
    untold = float(np.delete(shared, counted).sum()) + max(parts.rest.get(CLASSIFIER, 0.0), 0.0)
    share = 100 * untold / max(parts.raised, 1e-12)
    if known.distance <= normal.distance:
        family = max(known.families, key=lambda name: known.families[name] - normal.families[name])
        hot = [int(node) for node in np.argsort(-shared, kind="stable")[:6] if shared[node] > 0.25 * shared.max()]
        if hot and max(parts.nodes[hot]) < parts.hottest:
            hot = []  # another node is the cause; the likeness is the graph's as a whole
        cause = resemblance(evidence, known.id, family, (known.families[family], normal.families[family]), hot, share)
    else:
        words = f"nearer to known anomalies than normal {evidence.nouns['graph']}s are; the nearest, {known.id}, is "
        words += f"{known.distance:.2f} away, the nearest normal {evidence.nouns['graph']} {normal.distance:.2f}."
        cause = Cause(evidence.whole(words), share)
        if cause.share < LEAST:
            return told
    return tuple(sorted([*others, cause], key=lambda one: -one.share))


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
