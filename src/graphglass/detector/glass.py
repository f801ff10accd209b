"""GLASS: the estimator people import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from graphglass.channels.calibration import benjamini_hochberg, conformal_p_values
from graphglass.channels.profiled_graphs import ProfiledGraphs, measure_graphs
from graphglass.detector.estimator_methods import EstimatorMethods
from graphglass.detector.explanation import Explanation, explain_one
from graphglass.detector.model_files import load_detector, save_detector
from graphglass.detector.reference_changes import ReferenceChanges
from graphglass.detector.reference_map import ReferenceMap
from graphglass.detector.reference_sets import graph_set, refuse_too_few, union, warn_of_other_types
from graphglass.detector.scorer import ReferenceScorer
from graphglass.errors import InputError, NotFittedError, ParameterError
from graphglass.glass.paper_codes import PaperCodes
from graphglass.glass.salted_hashes import SaltedHashes
from graphglass.glass.settings import PaperSettings, resolve
from graphglass.glass.training.references import prepare, references_from
from graphglass.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    from graphglass.glass.encoders.text_encoder import TextEncoder
    from graphglass.glass.trained_encoder import TrainedEncoder

LEARNED = ("references_", "anomalies_", "scorer_")


class GLASS(EstimatorMethods, ReferenceChanges, PaperCodes, BaseEstimator):
    """Rank graphs by how far they lie from a set of normal graphs; higher scores are more abnormal.

    The default compares a graph with the normal references through training-free channels: counts of neighbourhood
    patterns (the largest weight), and tables of composition, attributes, edges, size, structure and, for molecules,
    chemistry. In each channel the mean distance to the nearest references is calibrated by the references' distances to
    each other. The score is a soft maximum of the calibrated distances: one extreme channel raises it, and so do
    several mild ones. Known anomalies, if there are any, raise graphs near them. The references can be swapped at any
    time.

    Parameters
    ----------
    preset : {"default", "paper"}, default="default"
        ``paper`` scores by the GLASS paper instead: a graph encoder is trained against frozen text anchors, and the
        distance between codes on the unit sphere decides. It needs ``graphglass[paper]``.
    encoder : str, optional
        Paper only: the text encoder, see :func:`graphglass.load_encoder`. By default the paper's own
        (``Qwen/Qwen3-Embedding-0.6B``) if its weights are here, else ``minilm`` if installed, else ``numeric``.
    slices : sequence of int, optional
        Paper only: prefix sizes of the codes.
    k : int, optional
        Paper only: neighbours per code.
    scorer : {"reliability", "fixed"}, optional
        Paper only: how codes are weighted.
    calibration : {"leave-one-out", "raw"}, optional
        Paper only: whether codes are calibrated by the references before they are weighted.
    normalisation : {"graph", "reference", "both"}, optional
        Paper only: how node features are scaled.
    epochs : int, optional
        Paper only: training epochs; the last one is used.
    learning_rate : float, optional
        Paper only.
    prototypes : bool, optional
        Paper only: train with the prototype loss.
    features : {"kept", "structure"}, optional
        Paper only: whether transfer keeps the labels and attributes of every domain, or compares structure alone.
    device : str, optional
        Paper only: where the encoder is trained and run, such as ``cuda``.
    domain : str, default="graph"
        Paper only: named in the prompts: ``mol``, ``protein``, ``social`` or a name of your own. To score graphs of
        another domain, set it to theirs after fitting; the domain of the training graphs is then the source.
    contamination : float in (0, 0.5], default=0.1
        Share of the references above ``threshold_``. Only ``threshold_`` and ``labels_`` depend on it.
    random_state : int, default=0
        Paper only: equal seeds give bit-identical models on one machine. The default preset draws nothing.
    verbose : bool, default=False
        Show progress on standard error.

    Attributes
    ----------
    decision_scores_ : float64 (references,)
        Leave-one-out scores of ``references_``.
    threshold_ : float
        Their ``1 - contamination`` quantile.
    labels_ : int64 (references,)
        1 where a reference itself lies above the threshold.
    references_ : ProfiledGraphs
        The normal graphs that scores are measured against; of a very large set, those with a leave-one-out score.
    anomalies_ : ProfiledGraphs or None
        The known anomalies.
    embedder_ : Embedder or None
        Paper only: the frozen encoders.

    References
    ----------
    Wang, Ding, Li, Fan: GLASS: Graph-Language Alignment with Spherical Scoring for Transferable Graph-Level Anomaly
    Detection.

    Examples
    --------
    >>> from graphglass import GLASS, load_dataset
    >>> molecules = load_dataset("MUTAG")
    >>> detector = GLASS().fit(molecules[:100])
    >>> detector.decision_function(molecules[100:103]).shape
    (3,)
    """

    def __init__(
        self,
        preset: str = "default",
        *,
        encoder: str | None = None,
        slices: Sequence[int] | None = None,
        k: int | None = None,
        scorer: str | None = None,
        calibration: str | None = None,
        normalisation: str | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        prototypes: bool | None = None,
        features: str | None = None,
        device: str | None = None,
        domain: str = "graph",
        contamination: float = 0.1,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.preset = preset
        self.encoder = encoder
        self.slices = slices
        self.k = k
        self.scorer = scorer
        self.calibration = calibration
        self.normalisation = normalisation
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.prototypes = prototypes
        self.features = features
        self.device = device
        self.domain = domain
        self.contamination = contamination
        self.random_state = random_state
        self.verbose = verbose

    _map: tuple[ReferenceScorer, ReferenceMap]

    # Fitting

    def fit(
        self,
        graphs: Any,
        y: object = None,
        *,
        anomalies: Any = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        trained: TrainedEncoder | None = None,
    ) -> Self:
        """Keep normal graphs as references; the paper preset trains its encoders on them first.

        Parameters
        ----------
        graphs : GraphSet, or anything :func:`graphglass.read_graphs` reads
            At least two normal graphs. Class labels on them are ignored. A mapping from domain names to such sets
            makes their union, compared by structure alone, the reference set. :class:`ProfiledGraphs` are taken as
            they are, their structure is not measured again.
        y : ignored
            Present for scikit-learn's signature.
        anomalies : GraphSet, or anything :func:`graphglass.read_graphs` reads, optional
            Default preset only: known anomalies, see :meth:`add_anomalies`.
        checkpoint : path, optional
            Paper only: directory in which an interrupted training leaves what ``resume=True`` continues from.
        resume : bool
            Paper only: continue an interrupted training to the same bits.
        trained : TrainedEncoder, optional
            Paper only: the outcome of an earlier training on these graphs; then nothing is trained.
        """
        settings = self.settings()
        if settings is not None:
            if anomalies is not None:
                raise InputError("Known anomalies need the default preset; leave out preset='paper'.")
            domains = prepare(graphs, settings, self.domain, progress=self.verbose)
            self.fit_encoder(domains, checkpoint=checkpoint, resume=resume, trained=trained)
            references, structure_only = references_from(
                self._embedder(), domains, keep_features=self._keeps_features()
            )
            self._set_references(references, structure_only=structure_only)
            return self
        self.embedder_, self.training_hashes_ = None, SaltedHashes()
        several = isinstance(graphs, Mapping)
        normals = graphs
        if not isinstance(graphs, ProfiledGraphs):
            normals = self._measure(union(graphs) if several else graph_set(graphs))
        refuse_too_few(len(normals))
        self._set_references(normals, structure_only=several)
        return self if anomalies is None else self.add_anomalies(anomalies)

    def settings(self) -> PaperSettings | None:
        """Every setting of the paper preset with the caller's own choices; None for the default preset."""
        if not 0 < self.contamination <= 0.5:
            raise ParameterError("GLASS", "contamination", "in (0, 0.5]", self.contamination)
        return resolve(self.preset, self.get_params())

    # Scoring. Each call reads the scorer once: its answer then belongs to one state of the references.

    def decision_function(self, graphs: Any) -> NDArray[np.float64]:
        """Anomaly score of every graph; higher is more abnormal. (graphs,)"""
        scorer: ReferenceScorer = self._fitted("scorer_")
        return scorer.scores(self._queries(graphs, scorer))

    def contributions(self, graphs: Any) -> dict[str, NDArray[np.float64]]:
        """What each channel adds to the score of every graph, {channel: (graphs,)}; they sum to the scores."""
        scorer: ReferenceScorer = self._fitted("scorer_")
        return scorer.contributions(self._queries(graphs, scorer))

    def p_values(self, graphs: Any) -> NDArray[np.float64]:
        """Conformal p-value of every graph: the chance that a normal graph scores this high or higher. (graphs,)"""
        scorer: ReferenceScorer = self._fitted("scorer_")
        return conformal_p_values(scorer.scores(self._queries(graphs, scorer)), scorer.reference_scores)

    def predict(self, graphs: Any, alpha: float | None = None) -> NDArray[np.int64]:
        """1 for an anomaly, 0 for a normal graph. (graphs,)

        With ``alpha`` a graph is flagged if its p-value is at most alpha, so that about that share of normal graphs is
        flagged; without it, if its score exceeds ``threshold_``.
        """
        if alpha is None:
            return (self.decision_function(graphs) > self.threshold_).astype(np.int64)
        if not 0 < alpha < 1:
            raise ParameterError("GLASS.predict", "alpha", "between 0 and 1", alpha)
        return (self.p_values(graphs) <= alpha).astype(np.int64)

    def select(self, graphs: Any, alpha: float = 0.1) -> NDArray[np.bool_]:
        """Flag graphs so that a share of at most ``alpha`` of the flagged is expected to be normal.

        The Benjamini-Hochberg rule on the p-values.
        """
        return benjamini_hochberg(self.p_values(graphs), alpha)

    def explain(self, graph: Any, *, neighbours: int = 5, nodes: bool = True) -> Explanation:
        """Why one graph has its score.

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
        query = self._queries(graph)
        if len(query) != 1:
            raise InputError(f"GLASS.explain takes one graph, found {len(query)}. Select one, as in graphs[3].")
        scoring = self.decision_function if nodes else None
        return explain_one(query, self.references_, self.scorer_, neighbours=neighbours, decision_function=scoring)

    def map_positions(self, graphs: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Positions on a plane whose distances follow the fused distances: (references, 2) and (graphs, 2)."""
        queries = self._queries(graphs)
        if not hasattr(self, "_map") or self._map[0] is not self.scorer_:  # kept: a service asks for every graph
            self._map = self.scorer_, ReferenceMap.fit(self.scorer_, self.references_)
        plane = self._map[1]
        return plane.references, plane.place(self.scorer_, queries)

    # Storage and scikit-learn

    def save(self, path: str | Path) -> None:
        """Write the detector to a directory, atomically and without pickle."""
        self._fitted("references_")
        save_detector(self, path)

    @classmethod
    def load(cls, path: str | Path, *, encoder: TextEncoder | str | None = None) -> GLASS:
        """Read a detector back; altered files, unknown versions and another text encoder are refused.

        Parameters
        ----------
        path : local directory or fsspec URL
        encoder : TextEncoder or str, optional
            Paper only: an encoder already in memory, or the name of one; otherwise the one named in the model is
            loaded. An endpoint in a model is contacted only if it is named here.
        """
        return load_detector(cls, path, encoder)

    def as_sklearn(self) -> Any:
        """An adapter with scikit-learn's sign: ``predict`` gives -1 for anomalies, higher scores mean more normal.

        It is fitted if this detector is.
        """
        from graphglass.detector.sklearn_adapter import GLASSOutlierDetector

        return GLASSOutlierDetector.around(self) if hasattr(self, "scorer_") else GLASSOutlierDetector(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "outlier_detector"  # scorers such as "roc_auc" then ask for decision_function
        tags.input_tags.two_d_array = False
        return tags

    def _forget_references(self) -> None:
        for name in LEARNED:
            if hasattr(self, name):
                delattr(self, name)

    def _measure(self, graphs: GraphSet, *, structure_only: bool = False) -> ProfiledGraphs:
        if self.embedder_ is None:
            return measure_graphs(graphs, progress=self.verbose)
        embedder = self.embedder_.for_any_domain() if structure_only else self.embedder_
        return embedder.embed(graphs, progress=self.verbose)

    def _keeps_features(self) -> bool:
        settings = self.settings()
        return settings is not None and settings.features == "kept"

    def _queries(self, graphs: Any, scorer: ReferenceScorer | None = None, *, trusted: bool = False) -> ProfiledGraphs:
        scorer = self._fitted("scorer_") if scorer is None else scorer
        queries = graph_set(graphs)
        if not len(queries):
            raise InputError("There is no graph to score. Pass at least one.")
        if self.embedder_ is not None and scorer.structure_only:
            # Transfer: the prompts name the regime, and the public columns hold the features of every domain.
            queries = queries.without_labels() if self._keeps_features() else scorer.accept(queries)
            embedder = self.embedder_.for_any_domain().for_transfer(self.domain, trusted=trusted)
            return embedder.embed(queries, progress=self.verbose)
        queries = scorer.accept(queries)
        warn_of_other_types(queries, scorer.references.graphs)
        return self._measure(queries, structure_only=scorer.structure_only)

    def _fitted(self, name: str) -> Any:
        if hasattr(self, "embedder_") and not hasattr(self, name):
            raise NotFittedError("This GLASS has encoders and no references. Give it normal graphs: with_references.")
        if not hasattr(self, name):
            raise NotFittedError("This GLASS is not fitted yet. Call fit with normal graphs, or load a saved model.")
        return getattr(self, name)
