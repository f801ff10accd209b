"""What a detector with frozen encoders does: score against its references, explain, and change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from graphglass.channels.calibration import benjamini_hochberg, conformal_p_values
from graphglass.channels.profiled_graphs import ProfiledGraphs, join_profiled
from graphglass.detector.explanation import (
    Explanation,
    field_deviations,
    nearest_references,
    node_attribution,
)
from graphglass.detector.large_references import SAMPLE, LargeReferences, chunks, index_references
from graphglass.detector.reference_scorer import ReferenceScorer
from graphglass.detector.reference_sets import graph_set, new_ids
from graphglass.detector.settings import Settings
from graphglass.embedding.embedder import Embedder
from graphglass.errors import GraphError, InputError, NotFittedError, ParameterError


class ReferenceDetector(BaseEstimator):
    """Encoders that stay as they are and normal graphs that can be exchanged: GLASS once it is trained."""

    contamination: float
    verbose: bool
    embedder_: Embedder
    settings_: Settings
    training_hashes_: frozenset[str]
    references_: ProfiledGraphs
    scorer_: ReferenceScorer
    decision_scores_: NDArray[np.float64]
    threshold_: float
    labels_: NDArray[np.int64]

    def decision_function(self, graphs: Any) -> NDArray[np.float64]:
        """Anomaly score of every graph; higher is more abnormal. (graphs,)"""
        return self._score(self._evidence(graphs))

    def p_values(self, graphs: Any) -> NDArray[np.float64]:
        """Conformal p-value of every graph: the chance that a normal graph scores this high or higher. (graphs,)"""
        return conformal_p_values(self.decision_function(graphs), self.decision_scores_)

    def predict(self, graphs: Any, alpha: float | None = None) -> NDArray[np.int64]:
        """1 for an anomaly, 0 for a normal graph. (graphs,)

        With ``alpha`` a graph is flagged if its p-value is at most alpha, so that about that share of normal graphs is
        flagged; without it, if its score exceeds ``threshold_``.
        """
        if alpha is None:
            return (self.decision_function(graphs) > self._fitted("threshold_")).astype(np.int64)
        if not 0 < alpha < 1:
            raise ParameterError("GLASS.predict", "alpha", "between 0 and 1", alpha)
        return (self.p_values(graphs) <= alpha).astype(np.int64)

    def select(self, graphs: Any, alpha: float = 0.1) -> NDArray[np.bool_]:
        """Flag graphs so that a share of at most ``alpha`` of the flagged is expected to be normal.

        The Benjamini-Hochberg rule on the p-values.
        """
        return benjamini_hochberg(self.p_values(graphs), alpha)

    def explain(self, graph: Any, *, neighbours: int = 5, nodes: bool = True) -> Explanation:
        """Say why one graph has its score.

        Parameters
        ----------
        graph : a set of one graph
        neighbours : int
            Nearest normal references to name.
        nodes : bool
            Attribute the score to nodes by deleting them, which costs one scoring per node.
        """
        if neighbours < 0:
            raise ParameterError("GLASS.explain", "neighbours", "at least 0", neighbours)
        query = self._evidence(graph)
        if len(query) != 1:
            raise InputError(f"GLASS.explain takes one graph, found {len(query)}. Select one, as in graphs[3].")
        contributions = {name: float(value[0]) for name, value in self.scorer_.contributions(query).items()}
        score = float(self._score(query)[0])
        attribution = np.zeros(query.graphs.node_count)
        if nodes:
            attribution = node_attribution(query.graphs, score, self.decision_function)
        names = query.graphs.node_names
        return Explanation(
            id=query.graphs.ids[0],
            score=score,
            p_value=float(conformal_p_values(np.array([score]), self.decision_scores_)[0]),
            neighbours=nearest_references(query, self.references_, neighbours),
            contributions=contributions,
            fields=field_deviations(query, self.references_),
            node_attribution=attribution,
            node_names=tuple(map(str, range(query.graphs.node_count) if names is None else names)),
        )

    def with_references(self, graphs: Any) -> Self:
        """A detector with the same encoders and another normal set; no gradient step is taken.

        The references may come from another domain, with other labels and attributes; queries must then be like them.
        More than :data:`~graphglass.detector.large_references.SAMPLE` are indexed on disk, and a sample of them stands
        for all in the channels that no index serves; ``glass info`` says what is approximate.
        """
        references = graph_set(graphs)
        if not len(references):
            raise InputError("A reference set needs at least one normal graph, found none.")
        views: Embedder = self._fitted("embedder_")
        moved = type(self)(**self.get_params())
        moved_views, hashes = views.for_domain(references), self.training_hashes_
        if moved_views.schema != views.graph.schema:
            # Their labels decide the columns, also once they are taken out again or where only a sample is kept.
            hashes = hashes.union(references.content_hashes())
        moved._keep(moved_views, self.settings_, hashes)
        if len(references) > SAMPLE:
            parts = (moved.embedder_.evidence(references[chunk]) for chunk in chunks(len(references)))
            moved._refer_to(index_references(parts, len(references), self.settings_.k))
        else:
            moved._refer_to(moved.embedder_.evidence(references, progress=self.verbose))
        return moved

    def for_any_domain(self) -> Self:
        """A detector with the same references that compares by structure alone, so that it scores graphs of any domain.

        This is zero-shot transfer: labels and attributes, which mean something else in another domain, are left out.
        """
        references: ProfiledGraphs = self._fitted("references_")
        self._refuse_if_large()
        moved = type(self)(**self.get_params())
        moved._keep(self.embedder_.for_any_domain(), self.settings_, self.training_hashes_)
        shapes = references.graphs.structure_only()
        moved._refer_to(moved.embedder_.evidence(shapes, progress=self.verbose), mixed=True)
        return moved

    def add_references(self, graphs: Any) -> Self:
        """Add trusted normal graphs to the references (few-shot calibration); encoders stay as they are."""
        evidence = self._evidence(graphs)
        self._refuse_if_large()
        ids = new_ids(evidence.graphs.ids, set(self.references_.graphs.ids))
        evidence = replace(evidence, graphs=replace(evidence.graphs, ids=ids))
        self._refer_to(join_profiled([self.references_, evidence]), mixed=self.scorer_.mixed)
        return self

    def remove_references(self, ids: Sequence[str]) -> Self:
        """Take references out by id."""
        present = self._fitted("references_").graphs.ids
        self._refuse_if_large()
        missing = sorted(set(ids) - set(present))
        if missing:
            raise GraphError(f"No reference has the id {missing[0]!r}; `glass references MODEL list` shows them.")
        keep = np.array([identifier not in set(ids) for identifier in present])
        if not keep.any():
            raise InputError("Removing these would leave no reference. Replace the references instead.")
        self._refer_to(self.references_[keep], mixed=self.scorer_.mixed)
        return self

    def score_variants(self, graphs: Any) -> dict[str, NDArray[np.float64]]:
        """The paper's scoring rules side by side: graph, text, fusion, vmf, sms, fixed, glass (tab:scoring)."""
        from graphglass.embedding.scoring_rules import paper_variants

        return paper_variants(self._evidence(graphs), self.references_, self.embedder_.slices, self.settings_.k)

    def channel_embeddings(self, graphs: Any) -> dict[str, NDArray[np.float32]]:
        """Unit rows of every spherical code, by name such as ``graph:64``."""
        return dict(self._fitted("embedder_").evidence(graph_set(graphs)).codes)

    def encoder_fingerprint(self) -> str:
        """sha256 over the frozen encoders: codes are comparable only between detectors that share it."""
        views: Embedder = self._fitted("embedder_")
        return views.fingerprint

    def training_hashes(self) -> frozenset[str]:
        """Content hashes of the graphs this model depends on: those it was trained on, and its references, whose labels
        decide which columns the encoder reads."""
        hashes: frozenset[str] = self._fitted("training_hashes_")
        decide = hasattr(self, "references_") and not self.scorer_.mixed  # by structure alone there is no label column
        return hashes.union(self.references_.graphs.content_hashes() if decide else ())

    # What follows is shared by fit, load and the reference operations.

    def _keep(self, views: Embedder, settings: Settings, hashes: frozenset[str]) -> None:
        self.embedder_, self.settings_, self.training_hashes_ = views, settings, hashes
        self.history_ = views.graph.history

    def _refer_to(
        self,
        references: ProfiledGraphs | LargeReferences,
        *,
        mixed: bool = False,
        scorer: ReferenceScorer | None = None,
    ) -> None:
        if isinstance(references, ProfiledGraphs) and scorer is None and len(references) > SAMPLE:
            whole = references
            references = index_references((whole[part] for part in chunks(len(whole))), len(whole), self.settings_.k)
        large = references if isinstance(references, LargeReferences) else None
        sample = references.sample if isinstance(references, LargeReferences) else references
        sample = replace(sample, graphs=sample.graphs.without_labels())
        self.references_ = sample.structure_only() if mixed else sample
        self.scorer_ = scorer or ReferenceScorer.fit(
            self.references_, self.settings_, self.embedder_.slices, mixed=mixed, large=large
        )
        self.decision_scores_ = self.scorer_.reference_scores
        self.threshold_ = float(np.quantile(self.decision_scores_, 1 - self.contamination))
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(np.int64)

    def _forget_references(self) -> None:
        """Codes of other encoders mean nothing to these."""
        for name in ("references_", "scorer_", "decision_scores_", "threshold_", "labels_"):
            if hasattr(self, name):
                delattr(self, name)

    def _refuse_if_large(self) -> None:
        if self.scorer_.large is not None:
            raise InputError(
                f"This detector indexes {self.scorer_.large.count} references and keeps {len(self.references_)} of "
                f"them whole; single references change only in sets of up to {SAMPLE}. Give it the whole new set "
                "instead (with_references, or `glass references MODEL replace`)."
            )

    def _evidence(self, graphs: Any) -> ProfiledGraphs:
        views: Embedder = self._fitted("embedder_")
        queries = graph_set(graphs).without_labels()
        if not len(queries):
            raise InputError("There is no graph to score. Pass at least one.")
        if self._fitted("scorer_").mixed:
            return views.for_any_domain().evidence(queries.structure_only(), progress=self.verbose)
        queries = self.scorer_.completed(queries)
        self.scorer_.check_schema(queries)
        return views.evidence(queries, progress=self.verbose)

    def _score(self, queries: ProfiledGraphs) -> NDArray[np.float64]:
        return self.scorer_.scores(queries)

    def _fitted(self, name: str) -> Any:
        if hasattr(self, "embedder_") and not hasattr(self, name):
            raise NotFittedError("This GLASS has encoders and no references. Give it normal graphs: with_references.")
        if not hasattr(self, name):
            raise NotFittedError("This GLASS is not fitted yet. Call fit with normal graphs, or load a saved model.")
        return getattr(self, name)
