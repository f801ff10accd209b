"""One model behind many requests: what the routes ask of it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.calibration import conformal_p_values
from graphglass.detector.explanation import Explanation
from graphglass.detector.glass import GLASS
from graphglass.detector.reference_map import ReferenceMap
from graphglass.detector.saved_form import KIND
from graphglass.errors import InputError, ServeError
from graphglass.graphs.graph_set import GraphSet
from graphglass.privacy.private_summary import PrivateSummary
from graphglass.privacy.summary_detector import SummaryDetector
from graphglass.serve.change_log import record_change
from graphglass.storage.load import artifact_digest, artifact_kind


class Service:
    """A detector and the directory it came from, or a private summary.

    Reference changes build a new detector, save it, and only then replace the one in use; requests see the old or the
    new.
    """

    def __init__(self, path: str | Path, *, summary: Path | None = None, source_prior: bool = False) -> None:
        self.path = Path(path)
        self.detector: GLASS | None = None
        self.private: SummaryDetector | None = None
        if self.path.is_file():
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
        self._map: ReferenceMap | None = None
        self._fingerprint = artifact_digest(path) if self.detector is not None else self._summary.fingerprint

    def score(self, graphs: GraphSet) -> NDArray[np.float64]:
        if self.detector is not None:
            return self.detector.decision_function(graphs)
        return self._summary.decision_function(graphs)

    def p_values(self, scores: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """None where a summary is served: p-values would need the private references."""
        return None if self.detector is None else conformal_p_values(scores, self.detector.decision_scores_)

    def check(self, graphs: GraphSet) -> None:
        """Refuse graphs the model cannot read, before they join a batch with others."""
        if self.detector is not None:
            self.detector.scorer_.accept(graphs)
        else:
            self._summary.check(graphs)

    def completed(self, graphs: GraphSet) -> GraphSet:
        """See :meth:`~graphglass.detector.reference_scorer.ReferenceScorer.accept`."""
        if self.detector is None or self.detector.scorer_.structure_only:
            return graphs
        return self.detector.scorer_.accept(graphs)

    def readable(self, graphs: GraphSet) -> GraphSet:
        """The graphs as the model reads them."""
        return self.comparable(self.completed(graphs))

    def comparable(self, graphs: GraphSet) -> GraphSet:
        """The graphs in the one form that batches of several requests can share."""
        graphs = replace(graphs.without_labels(), node_names=None)
        if self.detector is not None and self.detector.scorer_.structure_only:
            return graphs.structure_only()
        return graphs

    def ready(self) -> None:
        """Score something: one reference, or a triangle of the right kind where there is none."""
        self.score(self._summary.example() if self.detector is None else self.detector.references_.graphs[0])

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def reference_count(self) -> int:
        """References that scores are measured against, listed or not."""
        if self.detector is None:
            return self._summary.summary.references
        return self.detector.scorer_.reference_count

    def facts(self) -> dict[str, Any]:
        """What `GET /v1/model` tells."""
        detector = self.detector
        embedder = self._summary.embedder if detector is None else detector.embedder_
        if detector is not None:
            stated = zip(("node labels", "edge labels", "attributes"), detector.scorer_.schema, strict=True)
            carries = [name for name, there in stated if there]
        else:
            carries = self._summary.carries()
        return {
            "kind": "references" if detector is not None else "private summary",
            "preset": None if detector is None else detector.preset,
            "domain": None if embedder is None else embedder.domain,
            "text_encoder": None if embedder is None else embedder.text.fingerprint.name,
            "channels": self._channels(),
            "references": self.reference_count,
            "private": detector is None,
            "statement": None if detector is not None else self._summary.summary.statement,
            "smallest_p_value": None if detector is None else 1 / (len(detector.references_) + 1),
            "carries": carries,
            "fingerprint": self.fingerprint,
        }

    def _channels(self) -> list[str]:
        if self.detector is not None:
            return [channel.name for channel in self.detector.scorer_.channels]
        return self._summary.summary.features.part_names()

    def explain(self, graph: GraphSet, neighbours: int, nodes: bool) -> tuple[Explanation, tuple[float, float]]:
        detector = self._with_references("An explanation by neighbours")
        told = detector.explain(graph, neighbours=neighbours, nodes=nodes)
        query = detector._queries(graph)
        x, y = self._plane().place(detector.scorer_.fused_distances(query))[0]
        return told, (float(x), float(y))

    def contributions(self, graph: GraphSet) -> dict[str, float]:
        """Channel contributions where only a summary is served."""
        return {name: float(part[0]) for name, part in self._summary.contributions(graph).items()}

    def reference_map(self) -> tuple[tuple[str, ...], NDArray[np.float64]]:
        references = self._with_references("The map of the references").references_
        return references.graphs.ids, self._plane().references

    def reference(self, identifier: str) -> GraphSet:
        graphs = self._with_references("A reference").references_.graphs
        return graphs[graphs.ids.index(identifier)]

    def references(self) -> list[dict[str, str | float]]:
        """The references that are kept whole: all, or the sample of an indexed set."""
        detector = self._with_references("The list of references")
        pairs = zip(detector.references_.graphs.ids, detector.decision_scores_, strict=True)
        return [{"id": name, "score": float(value)} for name, value in pairs]

    def add(self, graphs: GraphSet) -> tuple[str, ...]:
        """Add trusted normals, durably; returns the ids they have now, which the detector chooses where names clash."""
        current = self._with_references("Changing references")
        changed = copy.copy(current).add_references(graphs)
        ids = changed.references_.graphs.ids[-len(graphs) :]
        self._replace(current, changed, "add", ids)
        return ids

    def remove(self, ids: Sequence[str]) -> int:
        """Remove references by id, durably; returns how many are left."""
        current = self._with_references("Changing references")
        self._replace(current, copy.copy(current).remove_references(ids), "remove", ids)
        return self.reference_count

    def _replace(self, current: GLASS, changed: GLASS, action: str, ids: Sequence[str]) -> None:
        record_change(self.path, "begun", action, ids, len(current.references_))
        try:
            changed.save(self.path)
        except BaseException:
            record_change(self.path, "failed", action, ids, len(current.references_))
            raise
        record_change(self.path, "done", action, ids, len(changed.references_))
        self.detector, self._map = changed, None

    def _plane(self) -> ReferenceMap:
        if self._map is None:
            detector = self._with_references("The map")
            self._map = ReferenceMap.fit(detector.scorer_, detector.references_)
        return self._map

    def _with_references(self, what: str) -> GLASS:
        if self.detector is None:
            raise InputError(f"{what} is unavailable: this service holds a private summary and no reference.")
        return self.detector

    @property
    def _summary(self) -> SummaryDetector:
        assert self.private is not None
        return self.private
