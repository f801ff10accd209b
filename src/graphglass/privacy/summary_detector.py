"""A detector that carries a private summary in place of references."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import GraphsLike
from graphglass.errors import ArtifactError, GlassError, InputError
from graphglass.files.load import load_artifact
from graphglass.files.save import save_artifact
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_graphs
from graphglass.privacy.private_summary import PrivateSummary

if TYPE_CHECKING:
    from graphglass.detector.reference_detector import ReferenceDetector
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.encoders.text_encoder import TextEncoder

KIND = "graphglass-summary-detector"


@dataclass(frozen=True, eq=False)
class SummaryDetector:
    """A released summary in place of references, and the frozen encoders where the summary needs them.

    There are no p-values: a threshold fitted on the private references would be a second release.

    Attributes
    ----------
    summary : PrivateSummary
    embedder : Embedder or None
        The encoders of the paper's release; None for a summary of sketches.
    source_prior : bool
        Shrink the summary toward its public source mean (eq:dp_mix).
    """

    summary: PrivateSummary
    embedder: Embedder | None = None
    source_prior: bool = False

    @classmethod
    def of(
        cls, summary: PrivateSummary, model: ReferenceDetector | None = None, *, source_prior: bool = False
    ) -> SummaryDetector:
        """Score by the summary, with a model's encoders where it needs them; the model's references stay behind.

        A summary of codes of an encoder that comes with the package needs no model.
        """
        embedder: Embedder | None = None
        if summary.encoder is not None:
            # Only a GLASS has encoders.
            embedder = getattr(model, "embedder_", None) if model is not None else _packaged(summary.encoder)
        summary.check_encoder(None if embedder is None else embedder.fingerprint)
        if source_prior:
            _ = summary.mean_with_prior  # refuses a summary without a prior now, not at the first score
        return cls(summary, embedder, source_prior)

    def decision_function(self, graphs: GraphsLike) -> NDArray[np.float64]:
        """Anomaly score of every graph; higher is more abnormal. (graphs,)"""
        return self.summary.scores(self._inputs(graphs), source_prior=self.source_prior)

    def contributions(self, graphs: GraphsLike) -> dict[str, NDArray[np.float64]]:
        """What each channel adds to every score; they sum to it."""
        return self.summary.contributions(self._inputs(graphs), source_prior=self.source_prior)

    def save(self, path: str | Path) -> None:
        """Write summary and encoders to a directory; it holds nothing about individual references."""
        tensors: dict[str, Any] = {"summary": {"bytes": np.frombuffer(self.summary.to_bytes(), dtype=np.uint8)}}
        documents: dict[str, Any] = {"detector": {"source_prior": self.source_prior}}
        if self.embedder is not None:
            tensors["encoder"] = self.embedder.graph.state()
            from graphglass.glass.embedder import embedder_document

            documents["embedder"] = embedder_document(self.embedder)
            documents["encoder_settings"] = self.embedder.graph.to_json()
        save_artifact(path, KIND, tensors=tensors, documents=documents)

    @classmethod
    def load(cls, path: str | Path, *, encoder: TextEncoder | str | None = None) -> SummaryDetector:
        """Read one back; see :meth:`graphglass.GLASS.load`."""
        artifact = load_artifact(path, KIND)
        try:
            summary = PrivateSummary.from_bytes(artifact.tensors["summary"]["bytes"].tobytes(), str(path))
            embedder = None
            if summary.encoder is not None:
                from graphglass.glass.embedder import load_embedder

                embedder = load_embedder(artifact, encoder, str(path))
            prior = bool(artifact.documents["detector"]["source_prior"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, GlassError):
                raise
            raise ArtifactError(f"{path} is not a complete summary detector ({error!r}).") from error
        if embedder is not None:
            summary.check_encoder(embedder.fingerprint)
        return cls(summary, embedder, prior)

    @property
    def fingerprint(self) -> str:
        """Identifies what decides a score besides the query: the summary, the prior and the encoders."""
        encoders = "" if self.embedder is None else self.embedder.fingerprint
        return hashlib.sha256(self.summary.to_bytes() + f"|{self.source_prior}|{encoders}".encode()).hexdigest()

    def check(self, graphs: GraphSet) -> None:
        """Refuse graphs that the encoders cannot read; the sketch reads any."""
        if self.embedder is not None:
            self.embedder.schema.layout(graphs)

    def carries(self) -> list[str]:
        """What queries must carry; a sketch reads labels where there are any."""
        if self.embedder is None:
            return []
        schema = self.embedder.schema
        stated = (("node labels", schema.labelled), ("attributes", bool(schema.attribute_names)))
        return [name for name, there in stated if there]

    def example(self) -> GraphSet:
        """A triangle that can be scored."""
        schema = None if self.embedder is None else self.embedder.schema
        names = () if schema is None else schema.attribute_names
        return canonical_graph_set(
            [3], [0, 1, 2], [1, 2, 0],
            node_labels=np.zeros(3, np.int64) if schema is not None and schema.labelled else None,
            attributes=np.zeros((3, len(names))) if names else None, attribute_names=names,
        )  # fmt: skip

    def _inputs(self, graphs: GraphsLike) -> object:
        queries = read_graphs(graphs)
        if not len(queries):
            raise InputError("There is no graph to score. Pass at least one.")
        queries = queries.without_labels()
        return queries if self.embedder is None else dict(self.embedder.embed(queries).codes)


def _packaged(fingerprint: str) -> Embedder | None:
    if find_spec("torch") is None:
        return None
    from graphglass.glass.pretrained import pretrained_embedder

    return pretrained_embedder(fingerprint)
