"""Queries that are references themselves: a reference that is compared with itself scores too low."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphglass.detector.reference_sets import equal_places

if TYPE_CHECKING:
    from graphglass.detector.glass import GLASS
    from graphglass.graphs.graph_set import GraphSet


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Scores in which references enter by their leave-one-out scores.

    Attributes
    ----------
    scores : float64 (graphs,)
        The leave-one-out score of a graph that is a reference and has one; the score given of any other graph.
    own : bool (graphs,)
        Whether a graph is a reference.
    fair : bool (graphs,)
        False for references without a leave-one-out score, which most of a very large set are.
    """

    scores: NDArray[np.float64]
    own: NDArray[np.bool_]
    fair: NDArray[np.bool_]

    def notice(self, advice: str = "") -> str:
        """A sentence about the graphs that are references, with what to do about them; empty if there are none."""
        own = int(self.own.sum())
        told = f"Queries that equal a reference: {own} of {len(self.own)}. They score lower than new graphs"
        return f"{told}{'; ' if advice else ''}{advice}." if own else ""


def left_out_scores(detector: GLASS, graphs: GraphSet, scores: NDArray[np.float64]) -> LeftOut:
    """Find the references among scored graphs, and give them their leave-one-out scores.

    They are recognised by what the detector sees of them. Their ids say too little: a graph without a name is called
    after its line, which is another one in another file.
    """
    graphs, large = detector.scorer_.accept(graphs), detector.scorer_.large
    places = equal_places(graphs, detector.references_.graphs)
    left_out = places >= 0
    own = left_out if large is None else left_out | (equal_places(graphs, large.graphs) >= 0)
    return LeftOut(np.where(left_out, detector.decision_scores_[places], scores), own, left_out | ~own)
