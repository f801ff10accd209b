"""A detector that carries a private summary in place of references."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.detector.glass import GLASS
from graphglass.detector.saved_form import embedder_document, load_embedder
from graphglass.errors import InputError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_graphs
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.storage.load import load_artifact
from graphglass.storage.save import save_artifact

if TYPE_CHECKING:
    from graphglass.embedding.embedder import Embedder
    from graphglass.embedding.encoders.text_encoder import TextEncoder

KIND = "graphglass-summary-detector"


@dataclass(frozen=True, eq=False)
class SummaryDetector:
    """The frozen encoders of a detector beside a released summary; no reference graph is inside.

    Scores are minus the noisy kernel density (eq:dp_score). There are no p-values: a threshold fitted on the private
    references would be a second release.

    Attributes
    ----------
    views : Embedder
    summary : PrivateSummary
    source_prior : bool
        Shrink the summary toward its public source mean (eq:dp_mix).
    """

    views: Embedder
    summary: PrivateSummary
    source_prior: bool = False

    @classmethod
    def of(cls, model: GLASS, summary: PrivateSummary, *, source_prior: bool = False) -> SummaryDetector:
        """Take a model's encoders, leave its references behind, and score by the summary."""
        summary.check_encoder(model.encoder_fingerprint())
        if source_prior:
            _ = summary.mean_with_prior  # refuses a summary without a prior now, not at the first score
        return cls(model._embedder(), summary, source_prior)

    def decision_function(self, graphs: Any) -> NDArray[np.float64]:
        """Anomaly score of every graph; higher is more abnormal. (graphs,)"""
        return self.summary.scores(self._codes(graphs), source_prior=self.source_prior)

    def contributions(self, graphs: Any) -> dict[str, NDArray[np.float64]]:
        """What each channel adds to every score; they sum to it."""
        return self.summary.contributions(self._codes(graphs), source_prior=self.source_prior)

    def save(self, path: str | Path) -> None:
        """Write encoders and summary to a directory; it holds nothing about individual references."""
        save_artifact(
            path,
            KIND,
            tensors={
                "encoder": self.views.graph.state(),
                "summary": {"bytes": np.frombuffer(self.summary.to_bytes(), dtype=np.uint8)},
            },
            documents={
                "detector": {"source_prior": self.source_prior},
                "embedder": embedder_document(self.views),
                "encoder_settings": self.views.graph.to_json(),
            },
        )

    @classmethod
    def load(cls, path: str | Path, *, encoder: TextEncoder | None = None) -> SummaryDetector:
        """Read one back; see :meth:`graphglass.GLASS.load`."""
        artifact = load_artifact(path, KIND)
        summary = PrivateSummary.from_bytes(artifact.tensors["summary"]["bytes"].tobytes())
        views = load_embedder(artifact, encoder, str(path))
        return cls(views, summary, bool(artifact.documents["detector"]["source_prior"]))

    def terms(self) -> list[dict[str, Any]]:
        """What was promised by each site that released."""
        return [asdict(site) for site in self.summary.sites]

    def _codes(self, graphs: Any) -> dict[str, NDArray[np.float32]]:
        queries = graphs if isinstance(graphs, GraphSet) else read_graphs(graphs)
        if not len(queries):
            raise InputError("There is no graph to score. Pass at least one.")
        return dict(self.views.embed(queries.without_labels()).codes)
