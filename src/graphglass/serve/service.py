"""One model behind many requests: what the routes ask of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
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

    Attributes
    ----------
    arguments : tuple
        What another process needs to load the same.
    model : GLASS or SummaryDetector
    digest : str
        Identifies the model.
    """

    def __init__(self, path: str | Path, summary: Path | None = None, source_prior: bool = False) -> None:
        self.path = Path(path)
        self.arguments = self.path, summary, source_prior
        self.model: GLASS | SummaryDetector
        self.coloured_labels: tuple[str, ...] = ()  # node labels with a colour of their own in all drawings
        if self.path.is_file():
            self.model = SummaryDetector.of(PrivateSummary.load(path), source_prior=source_prior)
        elif artifact_kind(path) != KIND:
            if summary is not None:
                raise ServeError(f"{path} carries a summary already; --summary is for a model with references.")
            self.model = SummaryDetector.load(path)
        else:
            self.model = GLASS.load(path)
            if summary is not None:
                released = PrivateSummary.load(summary)
                self.model = SummaryDetector.of(released, self.model, source_prior=source_prior)
        self._describe()

    @property
    def detector(self) -> GLASS | None:
        """The detector with references; None where a private summary is served."""
        return self.model if isinstance(self.model, GLASS) else None

    # Scoring

    def accept(self, graphs: GraphSet) -> GraphSet:
        """The graphs in the form that the model reads; InputError where it cannot read them."""
        if isinstance(self.model, GLASS):
            return self.model.scorer_.accept(graphs)
        self.model.check(graphs)
        return replace(graphs.without_labels(), node_names=None)

    def score_sets(self, sets: Sequence[GraphSet]) -> NDArray[np.float64]:
        """Scores of several sets in one pass; one pass each where some have labels or attributes that others lack."""
        try:
            return self.score(concatenate([replace(graphs, node_names=None) for graphs in sets]))
        except SchemaError:
            return np.concatenate([self.score(graphs) for graphs in sets])

    def score(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Anomaly scores, (graphs,)."""
        return self.model.decision_function(graphs)

    def p_values(self, scores: NDArray[np.float64]) -> list[float] | list[None]:
        """None where a summary is served: p-values would need the private references."""
        if self.detector is None:
            return [None] * len(scores)
        return conformal_p_values(scores, self.detector.decision_scores_).tolist()

    def ready(self) -> None:
        """Score something: one reference, or a triangle of the right kind where there is none."""
        self.score(self.model.references_.graphs[0] if isinstance(self.model, GLASS) else self.model.example())

    def family_means(self, sets: Sequence[GraphSet]) -> dict[str, float]:
        """Mean contribution to the scores of some graphs, by family of channels or by block of a summary."""
        return _means_by_family(self.model.contributions(concatenate(sets)))

    def reference_family_means(self) -> dict[str, float]:
        """The same of the references, each against the others."""
        scorer = self._with_references("A comparison with the references").scorer_
        parts = scorer.fusion.contributions({channel.name: channel.left_out for channel in scorer.channels})
        return _means_by_family(parts)

    # What pages show

    @property
    def reference_count(self) -> int:
        """References that scores are measured against, listed or not."""
        return self.model.scorer_.reference_count if isinstance(self.model, GLASS) else self.model.summary.references

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
        stated = zip(("node labels", "edge labels", "attributes"), scorer.schema[:3], strict=True)
        return facts | {
            "kind": "references",
            "private": False,
            "preset": self.model.preset,
            "channels": [channel.name for channel in scorer.channels],
            "anomalies": len(self.known_ids()) if self.model.preset == "default" else None,
            "smallest_p_value": 1 / (len(self.model.references_) + 1),
            "carries": [name for name, there in stated if there],
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

    def anomaly(self, identifier: str) -> GraphSet:
        """One known anomaly."""
        known = self._with_references("A known anomaly").anomalies_
        assert known is not None
        return known.graphs[known.graphs.ids.index(identifier)]

    def known_ids(self) -> tuple[str, ...]:
        """Ids of the known anomalies."""
        return _side(self._with_references("The list of anomalies"), anomalous=True)

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
        changed = copy.copy(self._with_references("A change of the references"))
        if anomalous:
            changed.add_anomalies(graphs, strict=True)
        else:
            changed.add_references(graphs)
        ids = _side(changed, anomalous)[-len(graphs) :]
        self._replace(changed, "add", ids, anomalous)
        return ids

    def remove(self, ids: Sequence[str], *, anomalous: bool = False) -> None:
        """Remove trusted normals or known anomalies by id, durably."""
        changed = copy.copy(self._with_references("A change of the references"))
        (changed.remove_anomalies if anomalous else changed.remove_references)(ids)
        self._replace(changed, "remove", ids, anomalous)

    def _replace(self, changed: GLASS, action: str, ids: Sequence[str], anomalous: bool) -> None:
        action = f"{action}-anomalies" if anomalous else action
        before = len(_side(self._with_references("A change of the references"), anomalous))
        record_change(self.path, "begun", action, ids, before)
        try:
            changed.save(self.path)
        except BaseException:
            record_change(self.path, "failed", action, ids, before)
            raise
        record_change(self.path, "done", action, ids, len(_side(changed, anomalous)))
        self.model = changed
        self._describe()

    def _describe(self) -> None:
        if isinstance(self.model, SummaryDetector):
            self.digest = self.model.fingerprint
        else:
            self.digest = artifact_digest(self.path)
            self.coloured_labels = frequent_labels(self.model.references_.graphs)

    def _with_references(self, what: str) -> GLASS:
        if self.detector is None:
            raise InputError(f"{what} is not available: this service holds a private summary and no references.")
        return self.detector


def _side(detector: GLASS, anomalous: bool) -> tuple[str, ...]:
    """Ids of the known anomalies, or of the references."""
    side = detector.anomalies_ if anomalous else detector.references_
    return () if side is None else side.graphs.ids


def _means_by_family(parts: Mapping[str, NDArray[np.float64]]) -> dict[str, float]:
    means: dict[str, float] = {}
    for name, values in parts.items():
        family = name.partition(":")[0]
        means[family] = means.get(family, 0.0) + float(values.mean())
    return means
