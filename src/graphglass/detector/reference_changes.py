"""Changes to the references of a fitted GLASS: replaced, extended, reduced, with known anomalies beside them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs, join_profiled
from graphglass.detector.reference_sets import LEAST_REFERENCES, equal_graphs, graph_set, with_new_ids
from graphglass.detector.scorer import ReferenceScorer
from graphglass.errors import GraphError, InputError
from graphglass.messages import counted

if TYPE_CHECKING:
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.salted_hashes import SaltedHashes
    from graphglass.glass.settings import PaperSettings
    from graphglass.graphs.graph_set import GraphSet

ONE_REFERENCE = (
    "A single reference does not show how much normal graphs differ: every p-value is 0.5 or 1, so nothing is flagged "
    "at 0.05. Use at least 2 normal graphs, better 20."
)


class ReferenceChanges:
    """The part of GLASS that changes what scores are measured against."""

    contamination: float
    domain: str
    embedder_: Embedder | None
    training_hashes_: SaltedHashes
    references_: ProfiledGraphs
    anomalies_: ProfiledGraphs | None
    scorer_: ReferenceScorer

    if TYPE_CHECKING:  # GLASS has these

        def __init__(self, preset: str = ..., **settings: Any) -> None: ...
        def get_params(self) -> dict[str, Any]: ...
        def settings(self) -> PaperSettings | None: ...
        def _fitted(self, name: str) -> Any: ...
        def _keeps_features(self) -> bool: ...
        def _measure(self, graphs: GraphSet) -> ProfiledGraphs: ...
        def _queries(self, graphs: Any, scorer: ReferenceScorer | None = None, *, trusted: bool = False) -> Any: ...

    def reference(self, identifier: str) -> GraphSet:
        """One normal reference by id; of a very large set any of them."""
        references = self._fitted("references_").graphs
        graphs = references if self.scorer_.large is None else self.scorer_.large.graphs
        if identifier not in graphs.ids:
            raise GraphError(f"No reference has the id {identifier!r}; `glass references MODEL list` shows them.")
        return graphs[graphs.ids.index(identifier)]

    def with_references(self, graphs: Any) -> Self:
        """A detector with another normal set; encoders of the paper preset stay as they are.

        The references may come from another domain, with other labels and attributes; queries must then be like them.
        A single one is taken with a warning: graphs can be ranked by it, but p-values need at least two.
        """
        self._fitted("embedder_")
        references = graph_set(graphs)
        if not len(references):
            raise InputError("A reference set needs at least one normal graph, found none.")
        if len(references) < LEAST_REFERENCES:
            warnings.warn(ONE_REFERENCE, stacklevel=2)
        moved = type(self)(**self.get_params())
        moved.embedder_, moved.training_hashes_ = self.embedder_, self.training_hashes_
        if self.embedder_ is not None:
            moved.embedder_ = replace(self.embedder_.for_domain(references), domain=self.domain)
            if moved.embedder_.schema != self.embedder_.graph.schema:
                # Their labels decide the columns, also once they are taken out again or where only some are kept whole.
                moved.training_hashes_ = self.training_hashes_.union(references.content_hashes())
        moved._set_references(moved._measure(references))
        return moved

    def for_any_domain(self) -> Self:
        """A detector with the same references that scores graphs of any domain: zero-shot transfer.

        Labels and attributes, which mean something else in another domain, are ignored; the paper preset keeps them in
        its public columns unless ``features="structure"``.
        """
        references: ProfiledGraphs = self._fitted("references_")
        self._refuse_if_large("Zero-shot transfer")
        moved = type(self)(**self.get_params())
        moved.embedder_ = None if self.embedder_ is None else self.embedder_.for_any_domain()
        moved.training_hashes_ = self.training_hashes_
        graphs = references.graphs if moved._keeps_features() else references.graphs.structure_only()
        moved._set_references(moved._measure(graphs), structure_only=True)
        return moved

    def add_references(self, graphs: Any) -> Self:
        """Add trusted normal graphs to the references (few-shot calibration)."""
        added = self._queries(graphs, trusted=True)
        added = added.structure_only() if self.scorer_.structure_only else added
        self._refuse_if_large("Adding references")
        if self.anomalies_ is not None:
            clash = next(iter(equal_graphs(added.graphs, self.anomalies_.graphs)), None)
            if clash:
                raise InputError(f"Graph {clash[0]!r} is the known anomaly {clash[1]!r}. Remove the anomaly first.")
        added = with_new_ids(added, self.references_, "reference")
        self._change_references(join_profiled([self.references_, added]))
        return self

    def remove_references(self, ids: str | Sequence[str]) -> Self:
        """Take references out by id, one or several; at least two must stay, as many as a fit needs."""
        present = self._fitted("references_").graphs.ids
        self._refuse_if_large("Removing references")
        keep = _without(ids, present, "reference")
        if keep.sum() < LEAST_REFERENCES:
            raise InputError(
                f"Removing these would leave {counted(int(keep.sum()), 'reference')}, and at least {LEAST_REFERENCES} "
                "are needed. Add normal graphs first, or replace the references instead."
            )
        self._change_references(self.references_[keep])
        return self

    def add_anomalies(self, graphs: Any, *, strict: bool = False) -> Self:
        """Add known anomalies: from now on graphs near them rank higher.

        Nothing is trained. How much they count follows from how many there are and how far they lie from the normals.
        Normal references are scored against the same known anomalies, so that p-values stay valid.

        Parameters
        ----------
        graphs : GraphSet, or anything :func:`graphglass.read_graphs` reads
            They carry what the references carry.
        strict : bool
            Refuse graphs that equal a reference instead of skipping them with a warning.
        """
        self._fitted("references_")
        if self.embedder_ is not None:
            raise InputError("Known anomalies need the default preset; this detector has preset='paper'.")
        added = self._queries(graphs)
        everything = self.references_.graphs if self.scorer_.large is None else self.scorer_.large.graphs
        equal = equal_graphs(added.graphs, everything)
        if equal:
            told = ", ".join(f"{one!r} (reference {other!r})" for one, other in equal[:5])
            if strict:
                raise InputError(f"{len(equal)} known anomalies equal a normal reference: {told}. Leave one side out.")
            warnings.warn(f"Skipped {len(equal)} known anomalies that equal a reference: {told}.", stacklevel=2)
            kept = np.isin(added.graphs.ids, [one for one, _ in equal], invert=True)
            if not kept.any():
                raise InputError("Every known anomaly equals a normal reference. Leave one side out.")
            added = added[kept]
        if self.anomalies_ is not None:
            added = join_profiled([self.anomalies_, with_new_ids(added, self.anomalies_, "known anomaly")])
        self._use(self.scorer_.with_anomalies(added))
        return self

    def remove_anomalies(self, ids: str | Sequence[str]) -> Self:
        """Take known anomalies out by id, one or several; without any, scores are those of the references alone."""
        self._fitted("references_")
        keep = _without(ids, () if self.anomalies_ is None else self.anomalies_.graphs.ids, "known anomaly")
        remaining = self.anomalies_[keep] if self.anomalies_ is not None and keep.any() else None
        self._use(self.scorer_.with_anomalies(remaining))
        return self

    def _set_references(
        self,
        references: ProfiledGraphs,
        *,
        structure_only: bool = False,
        anomalies: ProfiledGraphs | None = None,
    ) -> None:
        """Measure scores against these references from now on."""
        references = replace(references, graphs=references.graphs.without_labels())
        references = references.structure_only() if structure_only else references
        slices = () if self.embedder_ is None else self.embedder_.slices
        self._use(
            ReferenceScorer.fit(references, self.settings(), slices, structure_only=structure_only, anomalies=anomalies)
        )

    def _change_references(self, references: ProfiledGraphs) -> None:
        """Other references of the same kind beside the same known anomalies."""
        self._set_references(references, structure_only=self.scorer_.structure_only, anomalies=self.anomalies_)

    def _use(self, scorer: ReferenceScorer) -> None:
        self.scorer_, self.references_ = scorer, scorer.references
        self.anomalies_ = None if scorer.known is None else scorer.known.graphs

    def _refuse_if_large(self, what: str) -> None:
        if self.scorer_.large is not None:
            raise InputError(
                f"{what} needs every reference whole; this detector indexes {self.scorer_.reference_count} and keeps "
                f"{len(self.references_)} of them whole. Give it the whole new set instead (with_references, or `glass "
                "references MODEL replace`)."
            )


def _without(ids: str | Sequence[str], present: Sequence[str], kind: str) -> NDArray[np.bool_]:
    """A mask of those that stay."""
    removed = {ids} if isinstance(ids, str) else set(ids)
    missing = sorted(removed - set(present))
    if missing:
        raise GraphError(f"No {kind} has the id {missing[0]!r}; `glass references MODEL list` shows them.")
    return np.array([identifier not in removed for identifier in present], dtype=bool)
