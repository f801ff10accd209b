"""One state of a model behind many requests: what the routes ask of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.detector.explanation import family_sums
from graphglass.detector.graphglass import GraphGlass
from graphglass.detector.model_files import KIND
from graphglass.detector.reference_detector import ReferenceDetector
from graphglass.detector.scored_graphs import ScoredGraphs
from graphglass.drawing.graph_svg import frequent_labels
from graphglass.errors import InputError, SchemaError, ServeError
from graphglass.files.load import artifact_digest, artifact_kind
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.reading import ReadingOptions
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.privacy.summary_detector import SummaryDetector
from graphglass.serve import schemas

EXAMPLE_NODES = 40
REPLACED = (
    "The model on disk is no longer the one that is served. Restart the service to serve the new one, or put the old "
    "one back."
)


class Service:
    """A detector and the directory it came from, or a private summary; what it answers with never changes.

    Parameters
    ----------
    path : path
        A saved detector, a saved detector of a private summary, or the file of a summary that needs no model.
    summary : path, optional
        Serve this private summary in place of the model's references.
    source_prior : bool
        With a summary: use its public prior.

    Attributes
    ----------
    arguments : tuple
        What another process needs to load the same.
    model : ReferenceDetector or SummaryDetector
    digest : str
        Identifies the model.
    coloured_labels : tuple of str
        Node labels with their own colour in all drawings.
    """

    def __init__(self, path: str | Path, summary: Path | None = None, source_prior: bool = False) -> None:
        self.path = Path(path)
        self.arguments = self.path, summary, source_prior
        self.model, self.digest = _load(self.path, summary, source_prior)
        self._describe()

    @property
    def detector(self) -> ReferenceDetector | None:
        """The detector with references; None where a private summary is served."""
        return self.model if isinstance(self.model, ReferenceDetector) else None

    # Scoring

    @property
    def reading(self) -> ReadingOptions | None:
        """How the references were read, and requests are; a private summary does not say."""
        return None if self.detector is None else self.detector.scorer_.reading

    def accept(self, graphs: GraphSet) -> GraphSet:
        """The graphs in the form that the model reads; InputError where it cannot read them."""
        if isinstance(self.model, ReferenceDetector):
            return self.model.scorer_.accept(graphs)
        self.model.check(graphs)
        return replace(graphs.without_labels(), node_names=None)

    def score_sets(self, sets: Sequence[GraphSet]) -> list[ScoredGraphs]:
        """Several sets scored in one pass; one pass each where some have labels or attributes that others lack."""
        try:
            return [self.score(concatenate([replace(graphs, node_names=None) for graphs in sets]))]
        except SchemaError:
            return [self.score(graphs) for graphs in sets]

    def score(self, graphs: GraphSet) -> ScoredGraphs:
        """Scores of some graphs; without p-values where a summary is served, since they need the private references."""
        if self.detector is None:
            return ScoredGraphs.uncalibrated(graphs, self.model.decision_function(graphs))
        return self.detector.score_table(graphs)

    @property
    def smallest_p_value(self) -> float | None:
        """The p-value of a graph that scores above all references; None where there are no p-values."""
        if self.detector is None or self.detector.scorer_.zero_shot:
            return None
        return 1 / (len(self.detector.references_) + 1)

    def first_reason(self, graph: GraphSet) -> str | None:
        """The strongest cause of one score in words; None where nothing measured is unusual."""
        reasons = self.with_references("An explanation").explain(graph, neighbours=0).reasons
        return reasons[0] if reasons else None

    def ready(self) -> None:
        """Score something: one reference, or a triangle of the right kind where there is none."""
        self.score(
            self.model.references_.graphs[0] if isinstance(self.model, ReferenceDetector) else self.model.example()
        )

    def family_means(self, sets: Sequence[GraphSet]) -> dict[str, float]:
        """Mean contribution to the scores of some graphs, by family of channels or by block of a summary."""
        return _means_by_family(self.model.contributions(concatenate(sets)))

    def reference_family_means(self) -> dict[str, float]:
        """The same of the references, each against the others."""
        scorer = self.with_references("A comparison with the references").scorer_
        parts = scorer.fusion.contributions({channel.name: channel.left_out for channel in scorer.channels})
        return _means_by_family(parts)

    # What pages show

    @property
    def reference_count(self) -> int:
        """References that scores are measured against, listed or not."""
        return (
            self.model.scorer_.reference_count
            if isinstance(self.model, ReferenceDetector)
            else self.model.summary.references
        )

    def count(self, anomalous: bool) -> int:
        """Known anomalies, or references."""
        return len(self.known_ids()) if anomalous else self.reference_count

    def facts(self) -> dict[str, Any]:
        """What `GET /v1/model` answers."""
        facts: dict[str, Any] = {"references": self.reference_count, "fingerprint": self.digest}
        if isinstance(self.model, SummaryDetector):
            return facts | {
                "kind": "private summary",
                "private": True,
                "channels": self.model.summary.features.part_names(),
                "statement": self.model.summary.statement,
                "carries": self.model.carries(),
            }
        scorer = self.model.scorer_
        schema = scorer.schema
        stated = (
            ("node labels", schema.node_labels),
            ("edge labels", schema.edge_labels),
            ("attributes", schema.attributes),
            ("edge attributes", schema.edge_attributes),
        )
        return facts | {
            "kind": "references",
            "private": False,
            "method": type(self.model).__name__,
            "channels": [channel.name for channel in scorer.channels],
            "anomalies": len(self.known_ids()) if isinstance(self.model, GraphGlass) else None,
            "smallest_p_value": self.smallest_p_value,
            "carries": [name for name, there in stated if there],
        }

    def reference_map(self) -> schemas.MapAnswer:
        """Positions of the references and of the known anomalies."""
        detector = self.with_references("The map")
        known = detector.anomalies_
        graphs = detector.references_.graphs
        places, known_places = detector.map_positions(graphs[0] if known is None else known.graphs)
        return schemas.MapAnswer(
            ids=list(graphs.ids),
            places=places.tolist(),
            anomaly_ids=list(self.known_ids()),
            anomaly_places=[] if known is None else known_places.tolist(),
        )

    def anomaly(self, identifier: str) -> GraphSet:
        """One known anomaly."""
        known = self.with_references("A known anomaly").anomalies_
        assert known is not None
        return known.graphs[known.graphs.ids.index(identifier)]

    def known_ids(self) -> tuple[str, ...]:
        """Ids of the known anomalies."""
        return ids_on_side(self.with_references("The list of anomalies"), anomalous=True)

    def example_references(self) -> GraphSet:
        """Four references from the most usual to the most unusual one, of a size that people can look at."""
        detector = self.with_references("An example")
        graphs = detector.references_.graphs
        small = np.flatnonzero(graphs.sizes <= max(EXAMPLE_NODES, graphs.sizes.min()))
        order = small[np.argsort(detector.decision_scores_[small], kind="stable")]
        return graphs[order[np.unique(np.linspace(0, len(order) - 1, 4).astype(np.int64))]]

    def references(self) -> list[dict[str, str | float]]:
        """Ids and scores of the references that are kept whole: all, or the sample of an indexed set."""
        detector = self.with_references("The list of references")
        pairs = zip(detector.references_.graphs.ids, detector.decision_scores_, strict=True)
        return [{"id": name, "score": float(value)} for name, value in pairs]

    # Other states

    def with_detector(self, detector: ReferenceDetector) -> Service:
        """A service of the same directory with another detector; whoever saves that one sets the digest."""
        other = copy.copy(self)
        other.model = detector
        other._describe()
        return other

    def with_references(self, what: str) -> ReferenceDetector:
        """The detector with references; InputError where there is none."""
        if self.detector is None:
            raise InputError(f"{what} is not available: this service holds a private summary and no references.")
        return self.detector

    def _describe(self) -> None:
        found = () if self.detector is None else frequent_labels(self.detector.references_.graphs)
        self.coloured_labels: tuple[str, ...] = found


def _load(path: Path, summary: Path | None, source_prior: bool) -> tuple[ReferenceDetector | SummaryDetector, str]:
    """The model and its digest; an option that would have no effect is refused."""
    has_summary = path.is_file() or artifact_kind(path) != KIND
    if has_summary and summary is not None:
        raise ServeError(f"{path} holds a summary already; --summary is for a model with references.")
    if source_prior and not has_summary and summary is None:
        raise ServeError(f"--source-prior is for a private summary, and {path} holds references. Leave it out.")
    if source_prior and has_summary and not path.is_file():
        raise ServeError(f"{path} was saved with or without the prior, for good. Leave out --source-prior.")
    if path.is_file():
        served = SummaryDetector.of(PrivateSummary.load(path), source_prior=source_prior)
    elif has_summary:
        served = SummaryDetector.load(path)
    elif summary is not None:
        served = SummaryDetector.of(
            PrivateSummary.load(summary), ReferenceDetector.load(path), source_prior=source_prior
        )
    else:
        while True:  # until both are of one state: somebody may save another one in between
            digest = artifact_digest(path)
            detector = ReferenceDetector.load(path)
            if artifact_digest(path) == digest:
                return detector, digest
    return served, served.fingerprint


def ids_on_side(detector: ReferenceDetector, anomalous: bool) -> tuple[str, ...]:
    """Ids of the known anomalies, or of the references."""
    side = detector.anomalies_ if anomalous else detector.references_
    return () if side is None else side.graphs.ids


def _means_by_family(parts: Mapping[str, NDArray[np.float64]]) -> dict[str, float]:
    return family_sums({name: float(values.mean()) for name, values in parts.items()})
