"""GLASS: the estimator people import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from graphglass.detector.reference_detector import ReferenceDetector
from graphglass.detector.reference_sets import graph_set, named
from graphglass.detector.saved_form import load_detector, save_detector
from graphglass.detector.settings import Settings, resolve
from graphglass.embedding.embedder import Embedder, text_anchors
from graphglass.embedding.encoders.text_encoder import TextEncoder, load_encoder
from graphglass.embedding.trained_encoder import TrainedEncoder
from graphglass.embedding.training.config import TrainingConfig
from graphglass.embedding.training.trainer import Domain, train, train_domains
from graphglass.errors import InputError, ParameterError
from graphglass.graphs.graph_set import concatenate
from graphglass.sphere.slices import available_slices
from graphglass.structure.profile import join_profiles, profile


class GLASS(ReferenceDetector):
    """Rank graphs by how far they lie from a set of normal graphs.

    Training aligns a graph encoder with frozen text anchors on the unit sphere; a graph's score is then its calibrated
    distance to the nearest normal references. Higher means more abnormal. The references can be swapped without
    retraining.

    Parameters
    ----------
    preset : {"default", "paper"}, default="default"
        ``paper`` follows the GLASS paper in every setting but the text encoder: ask for its own, once downloaded, by
        ``encoder="Qwen/Qwen3-Embedding-0.6B"``. ``default`` adds structural channels against the same references.
    encoder, slices, k, scorer, normalisation, epochs, learning_rate, prototypes : optional
        Overrides of the preset (see :class:`graphglass.detector.settings.Settings`).
    domain : str, default="graph"
        Named in the prompts: ``mol``, ``protein``, ``social`` or a name of your own.
    contamination : float in (0, 0.5], default=0.1
        Share of the references above ``threshold_``. Only ``threshold_`` and ``labels_`` depend on it.
    random_state : int, default=0
        Equal seeds give bit-identical models on one machine.
    verbose : bool, default=False
        Show progress on standard error.

    Attributes
    ----------
    decision_scores_ : float64 (references,)
        Leave-one-out scores of the references.
    threshold_ : float
        Their ``1 - contamination`` quantile.
    labels_ : int64 (references,)
        1 where a reference itself lies above the threshold.
    references_ : ProfiledGraphs
        The normal graphs scores are measured against; of a very large set the sample that is kept whole.
    history_ : object
        Loss curves of the training.

    References
    ----------
    Wang, Ding, Li, Fan: GLASS: Graph-Language Alignment with Spherical Scoring for Transferable Graph-Level Anomaly
    Detection.

    Examples
    --------
    >>> from graphglass import GLASS, load_dataset
    >>> molecules = load_dataset("MUTAG")
    >>> detector = GLASS(epochs=2).fit(molecules[:100])
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
        normalisation: str | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        prototypes: bool | None = None,
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
        self.normalisation = normalisation
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.prototypes = prototypes
        self.domain = domain
        self.contamination = contamination
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        graphs: Any,
        y: object = None,
        *,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        trained: TrainedEncoder | None = None,
    ) -> Self:
        """Train the graph encoder on normal graphs and keep them as references.

        Parameters
        ----------
        graphs : GraphSet, or anything :func:`graphglass.read_graphs` reads
            At least two normal graphs. Class labels on them are ignored. A mapping from domain names to such sets
            trains one encoder on several domains; their union, compared by structure, is then the reference set.
        y : ignored
            Present for scikit-learn's signature.
        checkpoint : path, optional
            Directory in which an interrupted training leaves what ``resume=True`` continues from, bit for bit.
        trained : TrainedEncoder, optional
            What an earlier fit on these graphs left in ``embedder_.graph``; then nothing is trained.
        """
        domains = self.domains(graphs)
        self.fit_encoder(domains, checkpoint=checkpoint, resume=resume, trained=trained)
        if isinstance(domains, Domain):
            self._refer_to(self.embedder_.evidence_from(domains.graphs, domains.profile, domains.anchors))
        else:
            pooled = concatenate([named(name, part.graphs) for name, part in domains.items()])
            structure = join_profiles([part.profile for part in domains.values()])
            anchors = np.concatenate([part.anchors for part in domains.values()])
            self._refer_to(self.embedder_.for_any_domain().evidence_from(pooled, structure, anchors), mixed=True)
        return self

    def fit_encoder(
        self,
        graphs: Any,
        *,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        trained: TrainedEncoder | None = None,
    ) -> Self:
        """Train as :meth:`fit` does and keep no references.

        Such a detector embeds graphs, releases private summaries and takes references (:meth:`with_references`); on its
        own it has nothing to score against.
        """
        text = load_encoder(self.resolved().encoder)
        if trained is None:
            graphs = self.domains(graphs)
            trained = self._train(graphs, text, checkpoint, resume)
        parts = graphs.values() if isinstance(graphs, Mapping) else [graphs]
        normals = [part.graphs if isinstance(part, Domain) else graph_set(part) for part in parts]
        hashes = frozenset(item for part in normals for item in part.content_hashes())
        self._keep(Embedder(text, trained, trained.schema, trained.slices, self.domain), self.resolved(), hashes)
        self._forget_references()
        return self

    def save(self, path: str | Path) -> None:
        """Write the detector to a directory, atomically and without pickle."""
        self._fitted("references_")
        save_detector(self, path)

    @classmethod
    def load(cls, path: str | Path, *, encoder: TextEncoder | None = None) -> GLASS:
        """Read a detector back; altered files, unknown versions and another text encoder are refused.

        Parameters
        ----------
        path : local directory or fsspec URL
        encoder : TextEncoder, optional
            An encoder already in memory; otherwise the one named in the model is loaded.
        """
        return load_detector(cls, path, encoder)

    def as_sklearn(self) -> Any:
        """An adapter with scikit-learn's sign: ``predict`` gives -1 for anomalies, higher scores mean more normal."""
        from graphglass.detector.sklearn_adapter import GLASSOutlierDetector

        return GLASSOutlierDetector.around(self)

    def domains(self, graphs: Any) -> Domain | dict[str, Domain]:
        """Structure and anchors of normal graphs, which :meth:`fit` takes in place of the graphs."""
        if isinstance(graphs, Mapping):
            return {name: self._domain(part) for name, part in graphs.items()}
        return self._domain(graphs)

    def _domain(self, graphs: Any) -> Domain:
        if isinstance(graphs, Domain):
            return graphs
        normals, text = graph_set(graphs), load_encoder(self.resolved().encoder)
        structure = profile(normals, progress=self.verbose)
        return Domain(normals, structure, text_anchors(text, structure, self.domain, progress=self.verbose))

    def _train(
        self, domains: Domain | dict[str, Domain], text: TextEncoder, checkpoint: str | Path | None, resume: bool
    ) -> TrainedEncoder:
        settings = self.resolved()
        parts = [domains] if isinstance(domains, Domain) else list(domains.values())
        count = sum(len(part.graphs) for part in parts)
        if count < 2:
            raise InputError(f"GLASS.fit needs at least 2 normal graphs, found {count}. Add normal graphs.")
        config = TrainingConfig(
            slices=available_slices(settings.slices, text.dimension),
            epochs=settings.epochs_for(count),
            learning_rate=settings.learning_rate,
            prototype_weight=TrainingConfig.prototype_weight if settings.prototypes else 0.0,
            normalisation=settings.normalisation,
            seed=self.random_state,
        )
        options: dict[str, Any] = {"checkpoint_dir": checkpoint, "resume": resume, "progress": self.verbose}
        if isinstance(domains, Domain):
            return train(domains.graphs, domains.profile, domains.anchors, config, **options)
        return train_domains(parts, config, **options)

    def resolved(self) -> Settings:
        """Every setting this detector would fit with: the preset and the caller's own choices."""
        if not 0 < self.contamination <= 0.5:
            raise ParameterError("GLASS", "contamination", "in (0, 0.5]", self.contamination)
        return resolve(**self.get_params())
