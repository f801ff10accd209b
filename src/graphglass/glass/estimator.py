"""GLASS: the detector of the paper, a graph encoder trained against frozen text anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import AnyChannel
from graphglass.channels.fusion import Fusion
from graphglass.channels.profiled_graphs import GraphsLike, ProfiledGraphs
from graphglass.detector.model_files import load_detector
from graphglass.detector.reference_detector import LEARNED, ReferenceDetector
from graphglass.detector.reference_sets import graph_set
from graphglass.detector.scorer import ReferenceScorer
from graphglass.errors import InputError, MissingExtraError, NotFittedError
from graphglass.glass.pretrained import PretrainedEncoder, load_pretrained
from graphglass.glass.salted_hashes import SaltedHashes
from graphglass.glass.scoring_rules import paper_channels, paper_fusion, paper_variants
from graphglass.glass.settings import GlassSettings, refuse_training_settings
from graphglass.glass.training.references import prepare, references_from, train_embedder
from graphglass.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    from graphglass.files.load import Artifact
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.encoders.text_encoder import TextEncoder
    from graphglass.glass.trained_encoder import TrainedEncoder
    from graphglass.glass.training.trainer import Domain


class GLASS(ReferenceDetector):
    """Rank graphs by the GLASS paper: distance to the normal references between codes on the unit sphere.

    A graph encoder is trained to place every normal graph next to the text anchor of its description, which a frozen
    text encoder gives. A graph scores by its mean distance to the nearest references in prefix slices of both codes.
    The references can be swapped at any time, also for those of another domain; nothing is trained again. Needs
    ``graphglass[glass]``.

    Parameters
    ----------
    encoder : str, optional
        The text encoder, see :func:`graphglass.load_encoder`. By default the paper's own
        (``Qwen/Qwen3-Embedding-0.6B``) if its weights are here, else ``minilm`` if installed, else ``numeric``.
    slices : sequence of int, default=(64, 128, 256, 512)
        Prefix sizes of the codes.
    k : int, default=5
        Neighbours per code (eq:knn_distance).
    scorer : {"reliability", "fixed", "domain", "graph", "text", "fusion", "vmf", "sms"}, default="reliability"
        How codes are weighted, see :func:`graphglass.glass.scoring_rules.paper_fusion`.
    calibration : {"leave-one-out", "raw"}, default="leave-one-out"
        Whether codes are calibrated by the references before they are weighted.
    normalisation : {"graph", "reference", "both"}, default="graph"
        How node features are scaled (eq:canon is ``graph``).
    epochs : int, default=150
        Training epochs; the last one is used.
    learning_rate : float, default=5e-5
    prototypes : bool, default=True
        Train with the prototype loss (eq:proto_loss).
    prompt : {1, 2}, default=1
        Version of the prompt: the paper's fields, or also labels, attributes and more structure.
    details : sequence of str, default=("training-mode",)
        What to take from the authors' public code where the paper's text leaves it open, such as ``training-mode``:
        names of :data:`graphglass.glass.training.config.AUTHORS`.
    weights : str, optional
        The name of an encoder that comes with the package, see :meth:`pretrained`; then nothing is trained.
    features : {"kept", "structure"}, default="kept"
        Whether transfer keeps the labels and attributes of every domain, or compares structure alone.
    device : str, default="cpu"
        Where the encoder is trained and run, such as ``cuda``.
    domain : str, default="graph"
        Named in the prompts: ``mol``, ``protein``, ``social`` or a name of your own. To score graphs of another domain,
        set it to theirs after fitting; the domain of the training graphs is then the source.
    contamination : float in (0, 0.5], default=0.1
        Share of the references above ``threshold_``. Only ``threshold_`` and ``labels_`` depend on it.
    random_state : int, default=0
        Equal seeds give bit-identical models on one machine.
    verbose : bool, default=False
        Show progress on standard error.

    Attributes
    ----------
    embedder_ : Embedder
        The frozen encoders.

    References
    ----------
    Wang, Ding, Li, Fan: GLASS: Graph-Language Alignment with Spherical Scoring for Transferable Graph-Level Anomaly
    Detection.

    Examples
    --------
    >>> from graphglass import GLASS, load_dataset
    >>> molecules = load_dataset("MUTAG")
    >>> detector = GLASS("numeric", epochs=2).fit(molecules[:100])
    >>> detector.decision_function(molecules[100:103]).shape
    (3,)
    """

    embedder_: Embedder
    training_hashes_: SaltedHashes

    def __init__(
        self,
        encoder: str | None = None,
        *,
        slices: Sequence[int] = (64, 128, 256, 512),
        k: int = 5,
        scorer: str = "reliability",
        calibration: str = "leave-one-out",
        normalisation: str = "graph",
        epochs: int = 150,
        learning_rate: float = 5e-5,
        prototypes: bool = True,
        prompt: int = 1,
        details: Sequence[str] = ("training-mode",),
        weights: str | None = None,
        features: str = "kept",
        device: str = "cpu",
        domain: str = "graph",
        contamination: float = 0.1,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.encoder = encoder
        self.slices = slices
        self.k = k
        self.scorer = scorer
        self.calibration = calibration
        self.normalisation = normalisation
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.prototypes = prototypes
        self.prompt = prompt
        self.details = details
        self.weights = weights
        self.features = features
        self.device = device
        self.domain = domain
        self.contamination = contamination
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def pretrained(cls, name: str, **parameters: Any) -> Self:
        """A detector with an encoder that comes with the package: ``mol``, ``protein``, ``social`` or ``all``.

        :meth:`fit` then only sets references, in seconds. ``mol`` was trained without MUTAG. The card in
        ``graphglass/glass/pretrained/README.md`` lists what each was trained on; fitting such graphs warns.
        Parameters are those of the class; the encoder is the one that the weights are aligned with.
        """
        found = load_pretrained(name)
        chosen = {"encoder": found.card["text"]["name"], "domain": found.domain} | parameters
        detector = cls(**chosen, weights=name)
        detector.embedder_, detector.training_hashes_ = detector._open_embedder(found), found.trained_on
        return detector

    def fit(
        self,
        graphs: GraphsLike | Domain | Mapping[str, Domain],
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
            trains on all of them and makes their union the reference set.
        y : ignored
            Present for scikit-learn's signature.
        checkpoint : path, optional
            Directory in which an interrupted training leaves what ``resume=True`` continues from.
        resume : bool
            Continue an interrupted training to the same bits.
        trained : TrainedEncoder, optional
            The outcome of an earlier training on these graphs; then nothing is trained.
        """
        found = load_pretrained(self.weights) if self.weights is not None and trained is None else None
        if found is not None and (checkpoint is not None or resume):
            raise InputError("Pretrained encoders are not trained: leave out checkpoint and resume.")
        opened = None if found is None else self._open_embedder(found)  # refuses another text encoder before it reads
        settings = self.settings()
        domains = prepare(graphs, settings, self.domain, progress=self.verbose)
        if found is not None and opened is not None:
            self._take_pretrained(found, opened, domains)
        else:
            self.fit_encoder(domains, checkpoint=checkpoint, resume=resume, trained=trained)
        references, several = references_from(self.embedder_, domains, keep_features=settings.features == "kept")
        self._set_references(references, structure_only=several)
        return self

    def fit_encoder(
        self,
        graphs: GraphsLike | Domain | Mapping[str, Domain],
        *,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        trained: TrainedEncoder | None = None,
    ) -> Self:
        """Train as :meth:`fit` does and keep no references.

        Such a detector embeds graphs, releases private summaries and takes references (:meth:`with_references`).
        Parameters are those of :meth:`fit`.
        """
        settings = self.settings()
        if self.weights is not None and trained is None:
            raise InputError(
                f"The encoder {self.weights!r} is trained already. Use fit or with_references; to train an encoder, "
                "leave weights out."
            )
        domains = prepare(graphs, settings, self.domain, progress=self.verbose)
        self.embedder_ = train_embedder(
            domains, settings, self.domain, seed=self.random_state, progress=self.verbose,
            checkpoint=checkpoint, resume=resume, trained=trained,
        )  # fmt: skip
        parts = list(domains.values()) if isinstance(domains, dict) else [domains]
        self.training_hashes_ = SaltedHashes.of(item for part in parts for item in part.graphs.content_hashes())
        for name in LEARNED:
            if hasattr(self, name):
                delattr(self, name)
        return self

    def settings(self) -> GlassSettings:
        """Every choice of the method, checked; the encoder is named."""
        self._check_parameters()
        parameters = self.get_params()
        if self.weights is not None:
            refuse_training_settings(parameters)
            if self.encoder is None:
                parameters["encoder"] = load_pretrained(self.weights).card["text"]["name"]
        return GlassSettings.of(parameters)

    @classmethod
    def load(cls, path: str | Path, *, encoder: TextEncoder | str | None = None) -> Self:
        """Read a detector back; altered files, unknown versions and another text encoder are refused.

        Parameters
        ----------
        path : local directory or fsspec URL
        encoder : TextEncoder or str, optional
            An encoder already in memory, or the name of one; otherwise the one named in the model is loaded. A
            server, directory or hub model is used only if it is named here.
        """
        return load_detector(cls, path, encoder=encoder)

    # Codes

    def score_variants(self, graphs: GraphsLike) -> dict[str, NDArray[np.float64]]:
        """The paper's scoring rules side by side (tab:scoring)."""
        queries = self._queries(graphs, self._fitted())
        return paper_variants(queries, self.references_, self.embedder_.slices, self.k, self.domain)

    def channel_embeddings(self, graphs: GraphsLike) -> dict[str, NDArray[np.float32]]:
        """Unit rows of every code, by name such as ``graph:64``."""
        self._ready()
        return dict(self.embedder_.embed(graph_set(graphs)).codes)

    def encoder_fingerprint(self) -> str:
        """sha256 over the frozen encoders; codes are comparable only between detectors that share it."""
        self._ready()
        return self.embedder_.fingerprint

    def training_hashes(self) -> SaltedHashes:
        """Content hashes of the graphs that the encoders depend on, by training or by their labels."""
        self._ready()
        decide = hasattr(self, "references_") and not self.scorer_.structure_only  # else there is no label column
        return self.training_hashes_.union(self.references_.graphs.content_hashes() if decide else ())

    def method_facts(self) -> dict[str, Any]:
        losses = self.embedder_.graph.history.loss
        return {
            "scorer": self.scorer,
            "domain": self.embedder_.domain,
            "text encoder": self.embedder_.text.fingerprint.name,
            "slices": ", ".join(map(str, self.embedder_.slices)),
            "made from": f"{len(self.training_hashes())} graphs",
            "epochs": len(losses),
            "final loss": round(losses[-1], 6) if losses else None,
            "encoder fingerprint": self.encoder_fingerprint(),
        }

    # What the base asks for

    def _channels(self) -> Sequence[AnyChannel]:
        return paper_channels(self.embedder_.slices, self.k, self.scorer)

    def _fuse(self, channels: Sequence[AnyChannel], references: ProfiledGraphs) -> Fusion:
        left_out = {channel.name: channel.left_out for channel in channels}
        return paper_fusion(
            left_out, references.codes, self.embedder_.slices, self.k,
            scorer=self.scorer, calibration=self.calibration, domain=self.domain,
        )  # fmt: skip

    def _measure(self, graphs: GraphSet, *, structure_only: bool = False) -> ProfiledGraphs:
        embedder = self.embedder_.for_any_domain() if structure_only else self.embedder_
        return embedder.embed(graphs, progress=self.verbose)

    def _queries(self, graphs: GraphsLike, scorer: ReferenceScorer, *, trusted: bool = False) -> ProfiledGraphs:
        if not scorer.structure_only or isinstance(graphs, ProfiledGraphs):
            return super()._queries(graphs, scorer, trusted=trusted)
        # Transfer: the prompts name the regime, and the public columns hold the features of every domain.
        queries = self._some(graphs, scorer)
        queries = queries.without_labels() if self.features == "kept" else scorer.accept(queries)
        embedder = self.embedder_.for_any_domain().for_transfer(self.domain, trusted=trusted)
        return embedder.embed(queries, progress=self.verbose)

    def _transferred(self, graphs: GraphSet) -> GraphSet:
        return graphs if self.features == "kept" else graphs.structure_only()

    def _with_the_same_settings(self, references: GraphSet | None) -> Self:
        moved = super()._with_the_same_settings(references)
        moved.embedder_, moved.training_hashes_ = self.embedder_.for_any_domain(), self.training_hashes_
        if references is not None:
            moved.embedder_ = replace(self.embedder_.for_domain(references), domain=self.domain)
            if moved.embedder_.schema != self.embedder_.graph.schema:
                # Their labels decide the columns, also once they are taken out again or where only some are kept whole.
                moved.training_hashes_ = self.training_hashes_.union(references.content_hashes())
        return moved

    def _saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        from graphglass.glass.embedder import embedder_document

        documents = {
            "embedder": embedder_document(self.embedder_),
            "encoder_settings": self.embedder_.graph.to_json(),
            "training": self.training_hashes_.to_json(),
        }
        return {"encoder": self.embedder_.graph.state()}, documents

    def _restore(self, artifact: Artifact, where: str, *, encoder: TextEncoder | str | None = None) -> None:
        if find_spec("torch") is None:
            raise MissingExtraError(f"{where}, a GLASS model,", "glass")
        from graphglass.glass.embedder import load_embedder

        self.embedder_ = load_embedder(artifact, encoder, where)
        self.training_hashes_ = SaltedHashes.from_json(artifact.documents["training"])

    def _open_embedder(self, found: PretrainedEncoder) -> Embedder:
        """The pretrained encoder for graphs of any domain."""
        settings = self.settings()
        return found.embedder(settings.encoder, self.domain, settings.device)

    def _take_pretrained(self, found: PretrainedEncoder, opened: Embedder, domains: Domain | dict[str, Domain]) -> None:
        """Set the encoders of :attr:`weights` for these references."""
        parts = list(domains.values()) if isinstance(domains, dict) else [domains]
        for part in parts:
            found.say_what_it_has_seen(part.graphs)
        self.embedder_ = opened if isinstance(domains, dict) else opened.for_domain(domains.graphs)
        # The labels of the references decide the columns.
        self.training_hashes_ = found.trained_on.union(h for part in parts for h in part.graphs.content_hashes())

    def _ready(self) -> None:
        if not hasattr(self, "embedder_"):
            self._fitted()

    def _fitted(self) -> ReferenceScorer:
        if hasattr(self, "embedder_") and not hasattr(self, "scorer_"):
            raise NotFittedError("This GLASS has encoders and no references. Give it normal graphs: with_references.")
        return super()._fitted()
