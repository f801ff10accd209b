"""What every detector does with its normal references: score, calibrate, explain, change, save."""

from __future__ import annotations

import inspect
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.calibration import benjamini_hochberg, conformal_p_values
from graphglass.channels.channel import AnyChannel
from graphglass.channels.fusion import Fusion
from graphglass.channels.profiled_graphs import GraphsLike, ProfiledGraphs, join_profiled, measure_graphs
from graphglass.detector import indexed_scorer
from graphglass.detector.explanation import Explanation, explain_one
from graphglass.detector.model_files import load_detector, save_detector
from graphglass.detector.reference_map import ReferenceMap
from graphglass.detector.reference_sets import (
    LEAST_REFERENCES,
    distinct_places,
    equal_graphs,
    graph_set,
    refuse_too_few,
    union,
    warn_of_other_types,
    with_new_ids,
)
from graphglass.detector.scored_graphs import ScoredGraphs, html_table, scored_graphs, scored_references
from graphglass.detector.scorer import ReferenceScorer
from graphglass.errors import GraphError, InputError, NotFittedError, ParameterError
from graphglass.graphs.graph_set import GraphSet
from graphglass.messages import counted, either, no_such_id

if TYPE_CHECKING:
    from graphglass.files.load import Artifact

LEARNED = ("references_", "anomalies_", "scorer_")
ONE_REFERENCE = (
    "A single reference does not show how much normal graphs differ: every p-value is 0.5 or 1, and nothing is flagged "
    "at 0.05. Use at least 2 normal graphs, better 20."
)


class ReferenceDetector:
    """Ranks graphs by how far they lie from a set of normal graphs; higher scores are more abnormal.

    A subclass says how graphs are measured (:meth:`_measure`), by which channels they are compared
    (:meth:`_channels`) and how the channels make one score (:meth:`_fuse`). Everything a user calls is here.
    """

    contamination: float
    verbose: bool
    scorer_: ReferenceScorer
    """The references made ready; every answer comes from one state of it."""
    references_: ProfiledGraphs
    """The normal graphs that scores are measured against; of an indexed set, those with a leave-one-out score."""
    anomalies_: ProfiledGraphs | None
    """The known anomalies."""
    _map: tuple[ReferenceScorer, ReferenceMap]

    # What a subclass defines

    @abstractmethod
    def _channels(self) -> Sequence[AnyChannel]:
        """New channels, not fitted."""

    @abstractmethod
    def _fuse(self, channels: Sequence[AnyChannel], references: ProfiledGraphs) -> Fusion:
        """How fitted channels make one score."""

    def _measure(self, graphs: GraphSet, *, structure_only: bool = False) -> ProfiledGraphs:
        """Everything that the channels read about some graphs."""
        return measure_graphs(graphs, progress=self.verbose)

    def _counts_once(self, references: GraphSet) -> bool:
        """Whether equal references count as one graph."""
        return False

    def _check_parameters(self) -> None:
        """Refuse settings that no fit could use."""
        if not 0 < self.contamination <= 0.5:
            raise ParameterError(self._name, "contamination", "in (0, 0.5]", self.contamination)

    def _with_the_same_settings(self, references: GraphSet | None) -> Self:
        """An unfitted detector ready for other references; None stands for queries of any domain."""
        return type(self)(**self.get_params())

    def _saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Tensors and documents that :meth:`_restore` needs, besides references and parameters."""
        return {}, {}

    def _restore(self, artifact: Artifact, where: str) -> None:
        """The inverse of :meth:`_saved`, before the references are set."""

    def method_facts(self) -> dict[str, Any]:
        """What `glass info` prints about this method, besides what it prints about every one."""
        return {}

    # Fitting

    def fit(self, graphs: GraphsLike, y: object = None) -> Self:
        """Keep normal graphs as references.

        Parameters
        ----------
        graphs : GraphSet, or anything :func:`graphglass.read_graphs` reads
            At least two normal graphs. Class labels on them are ignored. A mapping from domain names to such sets
            makes their union, compared by structure alone, the reference set. :class:`ProfiledGraphs` are taken as
            they are, their structure is not measured again.
        y : ignored
            Present for scikit-learn's signature.
        """
        self._check_parameters()
        if isinstance(graphs, ProfiledGraphs):
            normals = graphs
        else:
            normals = self._measure(union(graphs) if isinstance(graphs, Mapping) else graph_set(graphs))
        refuse_too_few(len(normals))
        self._set_references(normals, structure_only=isinstance(graphs, Mapping))
        return self

    def fit_predict(self, graphs: GraphsLike, y: object = None) -> NDArray[np.int64]:
        """Fit, then flag every graph by its own leave-one-out score: 1 for an anomaly, 0 else. (graphs,)"""
        self.fit(graphs, y)
        if not self.scorer_.keeps_all:
            raise InputError(
                f"fit_predict needs a leave-one-out score of every graph, and of {self.scorer_.reference_count} only "
                f"{len(self.references_)} get one. Use fit, then labels_ for references_."
            )
        return self.labels_

    # Derived: they follow the references and the settings.

    @property
    def decision_scores_(self) -> NDArray[np.float64]:
        """Leave-one-out scores of ``references_``. (references,)"""
        return self.scorer_.reference_scores

    @property
    def threshold_(self) -> float:
        """The ``1 - contamination`` quantile of ``decision_scores_``."""
        self._check_parameters()
        return float(np.quantile(self.decision_scores_, 1 - self.contamination))

    @property
    def labels_(self) -> NDArray[np.int64]:
        """1 where a reference itself lies above the threshold. (references,)"""
        return (self.decision_scores_ > self.threshold_).astype(np.int64)

    # Scoring. Each call reads the scorer once: its answer then belongs to one state of the references.

    def score_table(
        self, graphs: GraphsLike | None = None, *, alpha: float = 0.05, anomalous: NDArray[np.bool_] | None = None
    ) -> ScoredGraphs:
        """Scores, p-values, flags and marks of some graphs; a notebook shows them as a ranking.

        Graphs that equal a reference get its leave-one-out score. :meth:`decision_function` scores every graph as a new
        one instead. A record that cannot be read has a row without a score.

        Parameters
        ----------
        graphs : GraphSet, or anything :func:`graphglass.read_graphs` reads; optional
            Without it, the references themselves by their leave-one-out scores.
        alpha : float
            Graphs with a p-value of at most this are flagged.
        anomalous : bool (graphs,), optional
            Graphs that are labelled anomalous; such a graph is never taken for a reference that it equals.
        """
        scorer = self._fitted()
        if not 0 <= alpha <= 1:
            raise ParameterError(f"{self._name}.score_table", "alpha", "between 0 and 1", alpha)
        if graphs is None:
            return scored_references(scorer, alpha)
        read = graphs if isinstance(graphs, ProfiledGraphs) else self._some(graphs, scorer, strict=False)
        table = scored_graphs(scorer, self._queries(read, scorer), alpha, anomalous=anomalous)
        index: Any = getattr(graphs, "index", None)
        whole = type(graphs).__module__.startswith("pandas") and len(index) == len(table) + len(table.rejected)
        return replace(table, index=index) if whole else table

    def decision_function(self, graphs: GraphsLike) -> NDArray[np.float64]:
        """Anomaly score of every graph, taken as a new one; higher is more abnormal. (graphs,)"""
        scorer = self._fitted()
        return scorer.scores(self._queries(graphs, scorer))

    def contributions(self, graphs: GraphsLike) -> dict[str, NDArray[np.float64]]:
        """What each channel adds to the score of every graph, {channel: (graphs,)}; they sum to the scores."""
        scorer = self._fitted()
        return scorer.contributions(self._queries(graphs, scorer))

    def p_values(self, graphs: GraphsLike) -> NDArray[np.float64]:
        """Conformal p-value of every graph: the chance that a normal graph scores this high or higher. (graphs,)"""
        scorer = self._fitted()
        self._refuse_in_zero_shot("p-values")
        return conformal_p_values(scorer.scores(self._queries(graphs, scorer)), scorer.reference_scores)

    def predict(self, graphs: GraphsLike, alpha: float | None = None) -> NDArray[np.int64]:
        """1 for an anomaly, 0 for a normal graph. (graphs,)

        With ``alpha`` a graph is flagged if its p-value is at most alpha: about that share of normal graphs is flagged.
        Without it, a graph is flagged if its score exceeds ``threshold_``.
        """
        if alpha is None:
            self._fitted()
            self._refuse_in_zero_shot("flags")
            return (self.decision_function(graphs) > self.threshold_).astype(np.int64)
        if not 0 < alpha < 1:
            raise ParameterError(f"{self._name}.predict", "alpha", "between 0 and 1", alpha)
        return (self.p_values(graphs) <= alpha).astype(np.int64)

    def select(self, graphs: GraphsLike, alpha: float = 0.1) -> NDArray[np.bool_]:
        """Flag graphs such that at most a share ``alpha`` of the flagged is expected to be normal.

        The Benjamini-Hochberg rule on the p-values.
        """
        return benjamini_hochberg(self.p_values(graphs), alpha)

    def score_samples(self, graphs: GraphsLike) -> NDArray[np.float64]:
        """Minus the anomaly score, as scikit-learn has it: higher is more NORMAL. (graphs,)"""
        return -self.decision_function(graphs)

    def predict_proba(self, graphs: GraphsLike) -> NDArray[np.float64]:
        """Columns for normal and anomalous that sum to 1, (graphs, 2).

        The first is the conformal p-value, the second the share of normal references that score lower. They rank as the
        scores do; they are no odds of a graph being an anomaly, which would need to know how many anomalies there are.
        """
        normal = self.p_values(graphs)
        return np.stack([normal, 1 - normal], axis=1)

    def explain(self, graphs: GraphsLike, *, id: str | None = None, neighbours: int = 5) -> Explanation:  # noqa: A002
        """Why one graph has its score.

        Parameters
        ----------
        graphs : a set of one graph, or with ``id`` of any number
        id : str, optional
            Which of the graphs.
        neighbours : int
            Nearest normal references to name.
        """
        if neighbours < 0:
            raise ParameterError(f"{self._name}.explain", "neighbours", "at least 0", neighbours)
        scorer = self._fitted()
        if id is not None:
            graphs = self._some(graphs, scorer, strict=False)[id]
        query = self._queries(graphs, scorer)
        if len(query) != 1:
            named = either("Name it with --id.", "Select one, as in graphs[3].")
            raise InputError(f"{self._name}.explain takes one graph, found {len(query)}. {named}")
        return explain_one(query, scorer, neighbours=neighbours)

    def explain_all(self, graphs: GraphsLike, *, neighbours: int = 5) -> list[Explanation]:
        """One :meth:`explain` per graph, in their order."""
        return [self.explain(one, neighbours=neighbours) for one in self._some(graphs, self._fitted())]

    def map_positions(self, graphs: GraphsLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Positions on a plane whose distances follow the fused distances: (references, 2) and (graphs, 2).

        :class:`ScoredGraphs` are placed by the scores they have.
        """
        if isinstance(graphs, ScoredGraphs):
            queries, scores = graphs.measured, graphs.scores
            assert queries is not None
        else:
            queries = self._queries(graphs, self._fitted())
            scores = self.scorer_.scores(queries)
        if not hasattr(self, "_map") or self._map[0] is not self.scorer_:  # kept: a service asks for every graph
            self._map = self.scorer_, ReferenceMap.fit(self.scorer_, self.references_)
        plane = self._map[1]
        return plane.references, plane.place(self.scorer_, queries, scores)

    def report(
        self,
        path: str | Path,
        graphs: GraphsLike | None = None,
        *,
        alpha: float = 0.05,
        explained: int | None = None,
        about: Mapping[str, str] | None = None,
    ) -> ScoredGraphs:
        """Write an HTML report about some graphs, or about the references, and return their scores.

        Parameters
        ----------
        path : path of the page, ending in .html
        graphs, alpha
            As for :meth:`score_table`.
        explained : int, optional
            Graphs to explain, the most abnormal first. By default all that are flagged, at least 5 and at most 100.
        about : mapping, optional
            Facts for the head of the page, such as ``{"Graphs": "candidates.csv"}``.
        """
        from graphglass.report.page import write_report

        table = self.score_table(graphs, alpha=alpha)
        write_report(self, table, Path(path), explained=explained, about=about)
        return table

    # Changes of the references

    def reference(self, identifier: str) -> GraphSet:
        """One normal reference by id."""
        graphs = self._fitted().graphs
        if identifier not in graphs.ids:
            raise GraphError(no_such_id("reference", identifier, graphs.ids))
        return graphs[identifier]

    def with_references(self, graphs: GraphsLike) -> Self:
        """A detector with another normal set; nothing is trained again.

        The references may come from another domain, with other labels and attributes; queries must then be like them.
        A single one is taken with a warning: graphs can be ranked by it, but p-values need at least two.
        """
        self._ready()
        references = graph_set(graphs)
        if not len(references):
            raise InputError("A reference set needs at least one normal graph, found none.")
        if len(references) < LEAST_REFERENCES:
            warnings.warn(ONE_REFERENCE, stacklevel=2)
        moved = self._with_the_same_settings(references)
        moved._set_references(moved._measure(references))
        return moved

    def for_any_domain(self) -> Self:
        """A detector with the same references that ranks graphs of any domain: zero-shot transfer.

        Labels and attributes mean something else in another domain: GraphGlass compares structure alone, GLASS does
        with ``features="structure"``. Known anomalies are left out. There are no p-values and no flags, also once
        normal graphs of this domain were added: references of another one do not show how much they differ.
        """
        self._fitted()
        self._refuse_if_indexed("Zero-shot transfer")
        moved = self._with_the_same_settings(None)
        references = moved._measure(self._transferred(self.references_.graphs))
        moved._set_references(references, structure_only=True, zero_shot=True)
        return moved

    def add_references(self, graphs: GraphsLike) -> Self:
        """Add trusted normal graphs to the references (few-shot calibration).

        A detector made by :meth:`for_any_domain` stays without p-values; :meth:`with_references` gives one with them.
        """
        added = self._queries(graphs, self._fitted(), trusted=True)
        added = added.structure_only() if self.scorer_.structure_only else added
        self._refuse_if_indexed("Adding references")
        if self.anomalies_ is not None:
            clash = next(iter(equal_graphs(added.graphs, self.anomalies_.graphs)), None)
            if clash:
                raise InputError(f"Graph {clash[0]!r} is the known anomaly {clash[1]!r}. Remove the anomaly first.")
        added = with_new_ids(added, self.references_, "reference")
        self._change_references(join_profiled([self.references_, added]))
        return self

    def remove_references(self, ids: str | Sequence[str]) -> Self:
        """Take references out by id, one or several; at least two must stay, as many as a fit needs."""
        present = self._fitted().references.graphs.ids
        self._refuse_if_indexed("Removing references")
        keep = staying(ids, present, "reference")
        if keep.sum() < LEAST_REFERENCES:
            raise InputError(
                f"Removing these would leave {counted(int(keep.sum()), 'reference')}, and at least {LEAST_REFERENCES} "
                "are needed. Add normal graphs first, or replace the references instead."
            )
        self._change_references(self.references_[keep])
        return self

    def add_anomalies(self, graphs: GraphsLike, *, strict: bool = False) -> Self:
        """Refused, unless a detector can learn from known anomalies."""
        raise InputError(f"{self._name} takes no known anomalies. Use GraphGlass for them.")

    def remove_anomalies(self, ids: str | Sequence[str]) -> Self:
        """Refused, unless a detector can learn from known anomalies."""
        return self.add_anomalies(())

    # Storage and scikit-learn

    def save(self, path: str | Path) -> None:
        """Write the detector to a directory, atomically and without pickle."""
        self._fitted()
        save_detector(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a detector back; altered files and unknown versions are refused.

        ``ReferenceDetector.load`` reads a model of any method; that of a subclass only its own.

        Parameters
        ----------
        path : local directory or fsspec URL
        """
        return load_detector(cls, path)

    # What scikit-learn asks of an estimator. Its BaseEstimator would add a second to every import of this package.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor by name; `deep` is scikit-learn's and changes nothing here."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name; they take effect with the next fit."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ParameterError(self._name, name, f"one of {', '.join(known)}", value)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = {name: item.default for name, item in inspect.signature(type(self)).parameters.items()}
        changed = (f"{name}={value!r}" for name, value in self.get_params().items() if value != usual[name])
        return f"{self._name}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        # Scorers such as "roc_auc" ask an outlier detector for decision_function.
        return Tags("outlier_detector", TargetTags(required=False), input_tags=InputTags(two_d_array=False))

    def _repr_html_(self) -> str:
        if not hasattr(self, "scorer_"):
            return f"<p>{self._name}, not fitted.</p>"
        facts = [
            ("references", f"{self.scorer_.reference_count:,}"),
            ("known anomalies", "0" if self.anomalies_ is None else f"{len(self.anomalies_)}"),
            ("channels", ", ".join(channel.name for channel in self.scorer_.channels)),
            ("threshold", "none, zero-shot" if self.scorer_.zero_shot else f"{self.threshold_:.4f}"),
        ]
        return f"<p>{self._name}</p>{html_table(('', ''), facts)}"

    # Inside

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _queries(self, graphs: GraphsLike, scorer: ReferenceScorer, *, trusted: bool = False) -> ProfiledGraphs:
        """Graphs in the form of the references, measured; graphs that are measured already stay as they are."""
        if isinstance(graphs, ProfiledGraphs):
            return replace(graphs, graphs=scorer.accept(graphs.graphs))
        queries = scorer.accept(self._some(graphs, scorer))
        warn_of_other_types(queries, scorer.references.graphs)
        return self._measure(queries, structure_only=scorer.structure_only)

    def _some(self, graphs: GraphsLike, scorer: ReferenceScorer, *, strict: bool = True) -> GraphSet:
        queries = graph_set(graphs, None if scorer.zero_shot else scorer.reading, strict=strict)
        if not len(queries):
            raise InputError("There is no graph to score. Pass at least one.")
        return queries

    def _transferred(self, graphs: GraphSet) -> GraphSet:
        """References as graphs of any domain are compared with them."""
        return graphs.structure_only()

    def _set_references(
        self,
        references: ProfiledGraphs,
        *,
        structure_only: bool = False,
        zero_shot: bool = False,
        anomalies: ProfiledGraphs | None = None,
    ) -> None:
        """Measure scores against these references from now on."""
        references = replace(references, graphs=references.graphs.without_labels())
        references = references.structure_only() if structure_only else references
        repeated = 0
        if self._counts_once(references.graphs):
            kept = distinct_places(references.graphs)
            if LEAST_REFERENCES <= len(kept) < len(references):
                repeated = len(references) - len(kept)
                references = references[kept]
        exact = len(references) <= indexed_scorer.EXACT_UP_TO
        kind = ReferenceScorer if exact else indexed_scorer.IndexedScorer
        scorer = kind.fit(references, self._channels(), self._fuse, structure_only=structure_only)
        scorer = replace(scorer, repeated=repeated, zero_shot=zero_shot)
        self._use(scorer if anomalies is None else scorer.with_anomalies(anomalies))

    def _change_references(self, references: ProfiledGraphs) -> None:
        """Other references of the same kind with the same known anomalies."""
        kind = {"structure_only": self.scorer_.structure_only, "zero_shot": self.scorer_.zero_shot}
        self._set_references(references, **kind, anomalies=self.anomalies_)

    def _use(self, scorer: ReferenceScorer) -> None:
        self.scorer_, self.references_ = scorer, scorer.references
        self.anomalies_ = None if scorer.known is None else scorer.known.graphs

    def _refuse_in_zero_shot(self, what: str) -> None:
        if self.scorer_.zero_shot:
            raise InputError(
                f"There are no {what} in zero-shot transfer: references of another domain do not show how much normal "
                "graphs of this one differ. Rank by decision_function, or give normal graphs of this domain with "
                "with_references."
            )

    def _refuse_if_indexed(self, what: str) -> None:
        if not self.scorer_.keeps_all:
            raise InputError(
                f"{what} needs every reference whole; this detector indexes {self.scorer_.reference_count} and keeps "
                f"{len(self.references_)} of them whole. Give it the whole new set instead (with_references, or `glass "
                "references MODEL replace`)."
            )

    def _ready(self) -> None:
        """Refuse a detector that cannot take references yet."""
        self._fitted()

    def _fitted(self) -> ReferenceScorer:
        """The scorer; a detector without references is refused."""
        if not hasattr(self, "scorer_"):
            raise NotFittedError(
                f"This {self._name} is not fitted yet. Call fit with normal graphs, or load a saved model."
            )
        return self.scorer_


def staying(ids: str | Sequence[str], present: Sequence[str], kind: str) -> NDArray[np.bool_]:
    """A mask of those that stay when some are taken out by id."""
    removed = {ids} if isinstance(ids, str) else set(ids)
    missing = sorted(removed - set(present))
    if missing:
        raise GraphError(no_such_id(kind, missing[0], present))
    return np.array([identifier not in removed for identifier in present], dtype=bool)
