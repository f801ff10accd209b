"""What only the paper preset of GLASS has: encoders, and the codes they give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.reference_sets import graph_set
from graphglass.detector.scorer import ReferenceScorer
from graphglass.errors import InputError
from graphglass.glass.salted_hashes import SaltedHashes
from graphglass.glass.settings import PaperSettings
from graphglass.glass.training.references import prepare, train_embedder

if TYPE_CHECKING:
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.trained_encoder import TrainedEncoder


class PaperCodes:
    """The part of GLASS that needs ``preset="paper"``."""

    domain: str
    random_state: int
    verbose: bool
    embedder_: Embedder | None
    training_hashes_: SaltedHashes
    references_: ProfiledGraphs
    scorer_: ReferenceScorer

    if TYPE_CHECKING:  # GLASS has these

        def settings(self) -> PaperSettings | None: ...
        def _fitted(self, name: str) -> Any: ...
        def _forget_references(self) -> None: ...
        def _queries(self, graphs: Any, *, trusted: bool = False) -> ProfiledGraphs: ...

    def fit_encoder(
        self,
        graphs: Any,
        *,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        trained: TrainedEncoder | None = None,
        on_epoch: Callable[[TrainedEncoder], None] | None = None,
    ) -> Self:
        """Train as :meth:`fit` does and keep no references.

        Such a detector embeds graphs, releases private summaries and takes references (:meth:`with_references`).
        ``on_epoch`` is called with the encoder after every epoch; the other parameters are those of :meth:`fit`.
        """
        settings = self.settings()
        if settings is None:
            raise InputError("Only preset='paper' has an encoder to train. The default needs `fit` alone.")
        domains = prepare(graphs, settings, self.domain, progress=self.verbose)
        self.embedder_ = train_embedder(
            domains, settings, self.domain, seed=self.random_state, progress=self.verbose,
            checkpoint=checkpoint, resume=resume, trained=trained, on_epoch=on_epoch,
        )  # fmt: skip
        parts = list(domains.values()) if isinstance(domains, dict) else [domains]
        self.training_hashes_ = SaltedHashes.of(item for part in parts for item in part.graphs.content_hashes())
        self._forget_references()
        return self

    def score_variants(self, graphs: Any) -> dict[str, NDArray[np.float64]]:
        """The paper's scoring rules side by side (tab:scoring)."""
        from graphglass.glass.scoring_rules import paper_variants

        embedder = self._embedder()
        queries = self._queries(graphs)
        return paper_variants(queries, self.references_, embedder.slices, self.scorer_.channels[0].k)

    def channel_embeddings(self, graphs: Any) -> dict[str, NDArray[np.float32]]:
        """Unit rows of every code, by name such as ``graph:64``."""
        return dict(self._embedder().embed(graph_set(graphs)).codes)

    def encoder_fingerprint(self) -> str:
        """sha256 over the frozen encoders; codes are comparable only between detectors that share it."""
        return self._embedder().fingerprint

    def training_hashes(self) -> SaltedHashes:
        """Content hashes of the graphs that the encoders depend on, by training or by their labels."""
        hashes: SaltedHashes = self._fitted("training_hashes_")
        decide = hasattr(self, "references_") and not self.scorer_.structure_only  # else there is no label column
        return hashes.union(self.references_.graphs.content_hashes() if decide else ())

    def _embedder(self) -> Embedder:
        embedder: Embedder | None = self._fitted("embedder_")
        if embedder is None:
            raise InputError("Only preset='paper' has codes on the sphere. Fit GLASS(preset='paper') for this.")
        return embedder
