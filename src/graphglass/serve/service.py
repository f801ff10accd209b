"""One model behind many requests: what the routes ask of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.calibration import conformal_p_values
from graphglass.detector.glass import GLASS
from graphglass.detector.saved_form import KIND
from graphglass.errors import InputError, SchemaError, ServeError
from graphglass.graphs.drawing import frequent_labels
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.joining import concatenate
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.privacy.summary_detector import SummaryDetector
from graphglass.serve import schemas
from graphglass.serve.change_log import record_change
from graphglass.storage.load import artifact_digest, artifact_kind

EXAMPLE_NODES = 40


@dataclass(frozen=True)
class Source:
    """What a service was loaded from, so that another process can load the same."""

    path: Path
    summary: Path | None = None
    source_prior: bool = False


class Service:
    """A detector and the directory it came from, or a private summary.

    Reference changes build a new detector, save it, and only then replace the one in use; requests see the old or the
    new.

    Parameters
    ----------
    path : path
        A saved detector, a saved detector of a private summary, or the file of a summary that needs no model.
    summary : path, optional
        Serve this private summary in place of the model's references.
    source_prior : bool
        With ``summary``: use its public prior.
    """

    def __init__(self, path: str | Path, *, summary: Path | None = None, source_prior: bool = False) -> None:
        self.source = Source(Path(path), summary, source_prior)
        self.detector: GLASS | None = None
        self.private: SummaryDetector | None = None
        if self.source.path.is_file():
            self.private = SummaryDetector.of(PrivateSummary.load(path), source_prior=source_prior)
        elif artifact_kind(path) == KIND:
            self.detector = GLASS.load(path)
            if summary is not None:
                released = PrivateSummary.load(summary)
                self.private = SummaryDetector.of(released, self.detector, source_prior=source_prior)
                self.detector = None
        else:
            if summary is not None:
                raise ServeError(f"{path} carries a summary already; --summary is for a model with references.")
            self.private = SummaryDetector.load(path)
        self.digest = artifact_digest(path) if self.private is None else self.private.fingerprint
        self.coloured_labels = self._labels()

    # Scoring

    def accept(self, graphs: GraphSet) -> GraphSet:
        """The graphs in the form that the model reads; InputError where it cannot read them."""
        if self.detector is not None:
            return replace(self.detector.scorer_.accept(graphs), node_names=None)
        self._summary.check(graphs)
        return replace(graphs.without_labels(), node_names=None)

    def joined(self, sets: Sequence[GraphSet]) -> GraphSet:
        """One set of several, which must be alike."""
        try:
            return concatenate(sets)
        except SchemaError as error:
            raise SchemaError(
                "The graphs of this request differ in their labels or attributes, and the model reads one kind of "
                "graphs. Send the kind its references are of."
            ) from error

    def score_sets(self, sets: Sequence[GraphSet]) -> NDArray[np.float64]:
        """Scores of several sets in one pass; one pass each where some have labels or attributes that others lack."""
        try:
            return self.score(concatenate(sets))
        except SchemaError:
            return np.concatenate([self.score(graphs) for graphs in sets])

    def score(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Anomaly scores, (graphs,)."""
        return (self.detector or self._summary).decision_function(graphs)

    def p_values(self, scores: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """None where a summary is served: p-values would need the private references."""
        return None if self.detector is None else conformal_p_values(scores, self.detector.decision_scores_)

    def ready(self) -> None:
        """Score something: one reference, or a triangle of the right kind where there is none."""
        self.score(self._summary.example() if self.detector is None else self.detector.references_.graphs[0])

    def contributions(self, graph: GraphSet) -> dict[str, float]:
        """Contributions of channels where only a summary is served."""
        return {name: float(part[0]) for name, part in self._summary.contributions(graph).items()}

    def family_means(self, sets: Sequence[GraphSet]) -> dict[str, float]:
        """Mean contribution to the scores of some graphs, by family of channels or by block of a summary."""
        return _means_by_family((self.detector or self._summary).contributions(concatenate(sets)))

    def reference_family_means(self) -> dict[str, float]:
        """The same of the references, each against the others."""
        scorer = self._with_references("A comparison with the references").scorer_
        parts = scorer.fusion.contributions({channel.name: channel.left_out for channel in scorer.channels})
        return _means_by_family(parts)

    # What pages show

    @property
    def reference_count(self) -> int:
        """References that scores are measured against, listed or not."""
        if self.detector is None:
            return self._summary.summary.references
        return self.detector.scorer_.reference_count

    def count(self, anomalous: bool) -> int:
        """Known anomalies, or references."""
        return len(self.known_ids()) if anomalous else self.reference_count

    def facts(self) -> dict[str, Any]:
        """What `GET /v1/model` answers."""
        detector = self.detector
        if detector is None:
            carries, channels = self._summary.carries(), self._summary.summary.features.part_names()
        else:
            stated = zip(("node labels", "edge labels", "attributes"), detector.scorer_.schema[:3], strict=True)
            carries = [name for name, there in stated if there]
            channels = [channel.name for channel in detector.scorer_.channels]
        return {
            "kind": "references" if detector is not None else "private summary",
            "preset": None if detector is None else detector.preset,
            "channels": channels,
            "references": self.reference_count,
            "anomalies": None if detector is None or detector.preset != "default" else len(self.known_ids()),
            "private": detector is None,
            "statement": None if detector is not None else self._summary.summary.statement,
            "smallest_p_value": None if detector is None else 1 / (len(detector.references_) + 1),
            "carries": carries,
            "fingerprint": self.digest,
        }

    def reference_map(self) -> schemas.MapAnswer:
        """Positions of the references and of the known anomalies."""
        detector = self._with_references("The map")
        known = detector.anomalies_
        graphs = detector.references_.graphs
        places, known_places = detector.map_positions(graphs[0] if known is None else known.graphs)
        return schemas.MapAnswer(
            ids=list(graphs.ids),
            places=places.tolist(),
            anomaly_ids=list(self.known_ids()),
            anomaly_places=[] if known is None else known_places.tolist(),
        )

    def place(self, graph: GraphSet) -> tuple[float, float]:
        """Where one graph is on the map of the references."""
        (x, y), *_ = self._with_references("The map").map_positions(graph)[1]
        return float(x), float(y)

    def reference(self, identifier: str) -> GraphSet:
        """One reference."""
        return self._with_references("A reference").reference(identifier)

    def anomaly(self, identifier: str) -> GraphSet:
        """One known anomaly."""
        known = self._with_references("A known anomaly").anomalies_
        assert known is not None
        return known.graphs[known.graphs.ids.index(identifier)]

    def known_ids(self) -> tuple[str, ...]:
        """Ids of the known anomalies."""
        known = self._with_references("The list of anomalies").anomalies_
        return () if known is None else known.graphs.ids

    def example_references(self, count: int = 4) -> GraphSet:
        """References from the most usual to the most unusual one, of a size that people can look at."""
        detector = self._with_references("An example")
        graphs = detector.references_.graphs
        small = np.flatnonzero(graphs.sizes <= max(EXAMPLE_NODES, graphs.sizes.min()))
        order = small[np.argsort(detector.decision_scores_[small], kind="stable")]
        return graphs[order[np.unique(np.linspace(0, len(order) - 1, count).astype(np.int64))]]

    def references(self) -> list[dict[str, str | float]]:
        """Ids and scores of the references that are kept whole: all, or the sample of an indexed set."""
        detector = self._with_references("The list of references")
        pairs = zip(detector.references_.graphs.ids, detector.decision_scores_, strict=True)
        return [{"id": name, "score": float(value)} for name, value in pairs]

    # Changes

    def add(self, graphs: GraphSet, *, anomalous: bool = False) -> tuple[str, ...]:
        """Add trusted normals or known anomalies, durably; returns their ids, which may differ where names clash."""
        current = self._with_references("A change of the references")
        if anomalous:
            changed = copy.copy(current).add_anomalies(graphs, strict=True)
            assert changed.anomalies_ is not None
            side = changed.anomalies_
        else:
            changed = copy.copy(current).add_references(graphs)
            side = changed.references_
        ids = side.graphs.ids[-len(graphs) :]
        self._replace(current, changed, "add", ids, anomalous)
        return ids

    def remove(self, ids: Sequence[str], *, anomalous: bool = False) -> None:
        """Remove trusted normals or known anomalies by id, durably."""
        current = self._with_references("A change of the references")
        changed = copy.copy(current)
        changed = changed.remove_anomalies(ids) if anomalous else changed.remove_references(ids)
        self._replace(current, changed, "remove", ids, anomalous)

    def _replace(self, current: GLASS, changed: GLASS, action: str, ids: Sequence[str], anomalous: bool) -> None:
        path = self.source.path
        if anomalous:
            action = f"{action}-anomalies"
        before, after = (
            (0 if side is None else len(side))
            for side in (
                (detector.anomalies_ if anomalous else detector.references_) for detector in (current, changed)
            )
        )
        record_change(path, "begun", action, ids, before)
        try:
            changed.save(path)
        except BaseException:
            record_change(path, "failed", action, ids, before)
            raise
        record_change(path, "done", action, ids, after)
        self.detector, self.digest = changed, artifact_digest(path)
        self.coloured_labels = self._labels()

    def _labels(self) -> tuple[str, ...]:
        """Node labels with a colour of their own in all drawings."""
        return () if self.detector is None else frequent_labels(self.detector.references_.graphs)

    def _with_references(self, what: str) -> GLASS:
        if self.detector is None:
            raise InputError(f"{what} is not available: this service holds a private summary and no references.")
        return self.detector

    @property
    def _summary(self) -> SummaryDetector:
        assert self.private is not None
        return self.private


def _means_by_family(parts: Mapping[str, NDArray[np.float64]]) -> dict[str, float]:
    means: dict[str, float] = {}
    for name, values in parts.items():
        family = name.partition(":")[0]
        means[family] = means.get(family, 0.0) + float(values.mean())
    return means
