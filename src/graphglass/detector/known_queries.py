"""Queries that the detector knows already: references, which would score too low, and known anomalies, too high."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphglass.detector.reference_sets import equal_places

if TYPE_CHECKING:
    from graphglass.detector.scorer import ReferenceScorer
    from graphglass.graphs.graph_set import GraphSet


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Scores in which references enter by their leave-one-out scores.

    Each reference and each known anomaly stands for one query at most: small graphs are often equal without being
    the same observation.

    Attributes
    ----------
    scores : float64 (graphs,)
        The leave-one-out score of a graph that is a reference and has one; the score given of any other graph.
    equal : bool (graphs,)
        Whether a graph equals a reference.
    own : bool (graphs,)
        Whether a graph is taken for a reference.
    known : bool (graphs,)
        Whether a graph is taken for a known anomaly.
    fair : bool (graphs,)
        False for graphs whose score says nothing about new graphs: known anomalies, and references without a
        leave-one-out score, which most of a very large set are.
    """

    scores: NDArray[np.float64]
    equal: NDArray[np.bool_]
    own: NDArray[np.bool_]
    known: NDArray[np.bool_]
    fair: NDArray[np.bool_]

    @property
    def unscored(self) -> NDArray[np.bool_]:
        """References without a leave-one-out score."""
        return ~self.fair & ~self.known

    def notice(self, advice: str = "") -> str:
        """What to know about the scores of such graphs, with advice about references; empty if there are none."""
        parts = []
        if self.equal.any():
            told = f"Queries that equal a reference: {self.equal.sum()} of {len(self.equal)}. They score lower than new"
            parts.append(f"{told} graphs{'; ' if advice else ''}{advice}.")
        if self.known.any():
            told = f"Queries that are known anomalies: {self.known.sum()} of {len(self.known)}."
            parts.append(f"{told} They score higher than new graphs.")
        return " ".join(parts)


def left_out_scores(scorer: ReferenceScorer, graphs: GraphSet, scores: NDArray[np.float64]) -> LeftOut:
    """Find references and known anomalies among scored graphs, and give references their leave-one-out scores.

    They are recognised by what scores depend on. Their ids say too little: a graph without a name is called
    after its line, which is another one in another file.
    """
    graphs, references, large = scorer.accept(graphs), scorer.references.graphs, scorer.large
    everything = references if large is None else large.graphs
    equal = equal_places(graphs, everything) >= 0
    own, known = np.zeros((2, len(graphs)), dtype=bool)
    own[equal] = equal_places(graphs[equal], everything, once=True) >= 0
    places = np.full(len(graphs), -1)
    places[own] = equal_places(graphs[own], references, once=True)
    if scorer.known is not None:
        known = equal_places(graphs, scorer.known.graphs.graphs, once=True) >= 0
    left_out = places >= 0
    scores = np.where(left_out, scorer.reference_scores[places], scores)
    return LeftOut(scores, equal, own, known, (left_out | ~own) & ~known)


def none_left_out(scores: NDArray[np.float64]) -> LeftOut:
    """Scores of a method whose references are not available, so that none can be found among the queries."""
    none = np.zeros(len(scores), dtype=bool)
    return LeftOut(scores, none, none, none, ~none)
