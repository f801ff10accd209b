"""GraphGlass: the training-free detector."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from graphglass.channels.channel import AnyChannel
from graphglass.channels.default_channels import default_channels, default_weights, omitted_channels
from graphglass.channels.fusion import SHARPNESS, Fusion, fit_fusion
from graphglass.channels.profiled_graphs import GraphsLike, ProfiledGraphs, join_profiled
from graphglass.detector.reference_detector import ReferenceDetector, staying
from graphglass.detector.reference_sets import copies_count_once, distinct_places, equal_graphs, with_new_ids
from graphglass.detector.review import Review
from graphglass.errors import InputError, ParameterError
from graphglass.graphs.graph_schema import GraphSchema
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.rejects import logger
from graphglass.messages import setting

REPEATS = ("auto", "once", "keep")
MANY_REPEATS = 0.1  # share of the references that equal another one and is worth a remark


class GraphGlass(ReferenceDetector):
    """Rank graphs by how far they lie from a set of normal graphs; higher scores are more abnormal.

    A graph is compared with the normal references through training-free channels: counts of neighbourhood patterns (the
    largest weight), and tables of composition, attributes, edges, size, structure and, for molecules, chemistry. In
    each channel the mean distance to the nearest references is calibrated by the references' distances to each other.
    The score is a soft maximum of the calibrated distances: one extreme channel raises it, and so do several mild ones.
    Known anomalies, if there are any, raise graphs near them. The references can be swapped at any time.

    Parameters
    ----------
    contamination : float in (0, 0.5], default=0.1
        Share of the references above ``threshold_``. Only ``threshold_`` and ``labels_`` depend on it.
    repeats : {"auto", "once", "keep"}, default="auto"
        How equal references count. ``once`` takes them as copies of one graph: listed twice, copies would make every
        p-value too small. ``keep`` takes each as an observation, as in logs where usual sessions recur. ``auto`` is
        ``once`` for molecules and for graphs with real-valued attributes, ``keep`` otherwise.
    verbose : bool, default=False
        Show progress on standard error.

    Examples
    --------
    >>> from graphglass import GraphGlass, load_dataset
    >>> molecules = load_dataset("MUTAG")
    >>> detector = GraphGlass().fit(molecules[:100])
    >>> detector.decision_function(molecules[100:103]).shape
    (3,)
    """

    def __init__(self, *, contamination: float = 0.1, repeats: str = "auto", verbose: bool = False) -> None:
        self.contamination = contamination
        self.repeats = repeats
        self.verbose = verbose

    def fit(self, graphs: GraphsLike, y: object = None, *, anomalies: GraphsLike | None = None) -> Self:
        """Keep normal graphs as references; nothing is trained.

        Parameters
        ----------
        graphs : GraphSet, or anything :func:`graphglass.read_graphs` reads
            At least two normal graphs, or several domains of them; see :meth:`ReferenceDetector.fit`.
        y : ignored
        anomalies : GraphSet, or anything :func:`graphglass.read_graphs` reads, optional
            Known anomalies, see :meth:`add_anomalies`.
        """
        super().fit(graphs, y)
        if notice := self.repeats_notice():
            logger.warning(notice)
        return self if anomalies is None else self.add_anomalies(anomalies)

    def add_anomalies(self, graphs: GraphsLike, *, strict: bool = False) -> Self:
        """Add known anomalies: from now on graphs near them rank higher.

        Nothing is trained. How much they count follows from how many there are and how far they lie from the normals.
        Normal references are scored against the same known anomalies, which keeps p-values valid.

        Parameters
        ----------
        graphs : GraphSet, or anything :func:`graphglass.read_graphs` reads
            They carry what the references carry.
        strict : bool
            Refuse graphs that equal a reference instead of skipping them with a warning.
        """
        added = self._queries(graphs, self._fitted())
        equal = equal_graphs(added.graphs, self.scorer_.graphs)
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
        self._fitted()
        keep = staying(ids, () if self.anomalies_ is None else self.anomalies_.graphs.ids, "known anomaly")
        remaining = self.anomalies_[keep] if self.anomalies_ is not None and keep.any() else None
        self._use(self.scorer_.with_anomalies(remaining))
        return self

    def review(self, graphs: GraphsLike, *, path: str | Path | None = None, reviewer: str = "") -> Review:
        """Start or continue a :class:`~graphglass.detector.review.Review` of some graphs."""
        self._fitted()
        return Review(self, graphs, path=path, reviewer=reviewer)

    def repeats_notice(self) -> str:
        """How many references equal another one, and how they count; empty where it makes no difference."""
        scorer = self.scorer_
        if scorer.repeated:
            total = scorer.reference_count + scorer.repeated
            return f"{scorer.repeated} of {total} references equal another one and count once."
        if not scorer.keeps_all:
            return ""
        repeated = scorer.reference_count - len(distinct_places(scorer.graphs))
        if self._counts_once(scorer.graphs):
            return f"All {scorer.reference_count} references are equal, which ranks nothing." if repeated else ""
        if repeated < MANY_REPEATS * scorer.reference_count:
            return ""
        return (
            f"{repeated} of {scorer.reference_count} references equal another one; each counts as an observation. If "
            f"they are copies of one record, p-values come out too small: use {setting('repeats', 'once')}."
        )

    def method_facts(self) -> dict[str, Any]:
        once = self._counts_once(self.scorer_.graphs)
        reasons = omitted_channels(self.scorer_.channels, self.scorer_.schema)
        omitted = (f"{name} ({reason})" for name, reason in reasons.items())
        return {
            "repeats": f"{'once' if once else 'keep'}; {self.scorer_.repeated} left out",
            "channels not built": ", ".join(omitted) or "none",
        }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.repeats not in REPEATS:
            raise ParameterError(self._name, "repeats", f"one of {', '.join(REPEATS)}", self.repeats)

    def _counts_once(self, references: GraphSet) -> bool:
        return self.repeats == "once" or (self.repeats == "auto" and copies_count_once(references))

    def _channels(self) -> Sequence[AnyChannel]:
        return default_channels()

    def _fuse(self, channels: Sequence[AnyChannel], references: ProfiledGraphs) -> Fusion:
        spacing = {channel.name: channel.spacing for channel in channels}
        return fit_fusion(spacing, default_weights(channels, GraphSchema.of(references.graphs)), SHARPNESS)
