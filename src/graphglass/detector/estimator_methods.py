"""What scikit-learn users and notebooks expect of an estimator, on top of what GLASS computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.calibration import conformal_p_values
from graphglass.detector.explanation import Explanation
from graphglass.detector.known_queries import left_out_scores
from graphglass.detector.reference_sets import graph_set
from graphglass.detector.score_table import ScoreTable, html_table
from graphglass.errors import InputError, ParameterError

if TYPE_CHECKING:
    from graphglass.channels.profiled_graphs import ProfiledGraphs
    from graphglass.detector.scorer import ReferenceScorer
    from graphglass.glass.settings import PaperSettings


class EstimatorMethods:
    """The part of GLASS that scikit-learn and notebooks use."""

    preset: str
    contamination: float
    references_: ProfiledGraphs
    anomalies_: ProfiledGraphs | None
    scorer_: ReferenceScorer

    if TYPE_CHECKING:  # GLASS has these

        def fit(self, graphs: Any, y: object = None) -> Self: ...
        def decision_function(self, graphs: Any) -> NDArray[np.float64]: ...
        def p_values(self, graphs: Any) -> NDArray[np.float64]: ...
        def explain(self, graph: Any, *, neighbours: int = 5, nodes: bool = True) -> Explanation: ...
        def settings(self) -> PaperSettings | None: ...
        def _fitted(self, name: str) -> Any: ...
        def _queries(self, graphs: Any, scorer: ReferenceScorer | None = None) -> ProfiledGraphs: ...

    # Derived, so that they always follow the references and the settings.

    @property
    def decision_scores_(self) -> NDArray[np.float64]:
        """Leave-one-out scores of ``references_``."""
        return self.scorer_.reference_scores

    @property
    def threshold_(self) -> float:
        """The ``1 - contamination`` quantile of ``decision_scores_``."""
        self.settings()  # refuses an impossible contamination
        return float(np.quantile(self.decision_scores_, 1 - self.contamination))

    @property
    def labels_(self) -> NDArray[np.int64]:
        """1 where a reference itself lies above the threshold, (references,)."""
        return (self.decision_scores_ > self.threshold_).astype(np.int64)

    def fit_predict(self, graphs: Any, y: object = None) -> NDArray[np.int64]:
        """Fit, then flag every graph by its own leave-one-out score: 1 for an anomaly, 0 else. (graphs,)"""
        self.fit(graphs, y)
        if self.scorer_.large is not None:
            raise InputError(
                f"fit_predict needs a leave-one-out score of every graph, and of {self.scorer_.reference_count} only "
                f"{len(self.references_)} get one. Use fit, then labels_ for references_."
            )
        return self.labels_

    def score_samples(self, graphs: Any) -> NDArray[np.float64]:
        """Minus the anomaly score, as scikit-learn has it: higher is more NORMAL. (graphs,)"""
        return -self.decision_function(graphs)

    def predict_proba(self, graphs: Any) -> NDArray[np.float64]:
        """Columns for normal and anomalous that sum to 1, (graphs, 2).

        The first is the conformal p-value, the second the share of normal references that score lower. They rank as the
        scores do; they are no odds of a graph being an anomaly, which would need to know how many anomalies there are.
        """
        normal = self.p_values(graphs)
        return np.stack([normal, 1 - normal], axis=1)

    def score_table(self, graphs: Any, *, alpha: float = 0.05) -> ScoreTable:
        """Scores, p-values and flags of some graphs; a notebook shows them as a ranking.

        Parameters
        ----------
        graphs : GraphSet, or anything :func:`graphglass.read_graphs` reads
        alpha : float
            Graphs with a p-value of at most this are flagged.
        """
        scorer = self._fitted("scorer_")
        if not 0 <= alpha <= 1:
            raise ParameterError("GLASS.score_table", "alpha", "between 0 and 1", alpha)
        queries = graph_set(graphs)
        scores = scorer.scores(self._queries(queries, scorer))
        p_values = conformal_p_values(scores, scorer.reference_scores)
        left_out = left_out_scores(scorer, queries, scores)
        notice = left_out.notice("use decision_scores_ or `glass references MODEL list` for leave-one-out scores")
        return ScoreTable(queries.ids, scores, p_values, p_values <= alpha, notice)

    def explain_all(self, graphs: Any, *, neighbours: int = 5, nodes: bool = True) -> list[Explanation]:
        """One :meth:`explain` per graph, in their order."""
        return [self.explain(graph, neighbours=neighbours, nodes=nodes) for graph in graph_set(graphs)]

    def _repr_html_(self) -> str:
        if not hasattr(self, "scorer_"):
            return f"<p>GLASS, preset {self.preset}, not fitted.</p>"
        facts = [
            ("references", f"{self.scorer_.reference_count:,}"),
            ("known anomalies", "0" if self.anomalies_ is None else f"{len(self.anomalies_)}"),
            ("channels", ", ".join(channel.name for channel in self.scorer_.channels)),
            ("threshold", f"{self.threshold_:.4f}"),
        ]
        return f"<p>GLASS, preset {self.preset}</p>{html_table(('', ''), facts)}"
