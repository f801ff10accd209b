"""The references made ready to score against: channels, their fusion and the calibration."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel, Rows
from graphglass.channels.default_channels import default_channels, default_weights
from graphglass.channels.fusion import SHARPNESS, Fusion, fit_fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector import large_references
from graphglass.detector.known_anomalies import KnownAnomalies
from graphglass.detector.large_references import LargeReferences, index_references
from graphglass.errors import SchemaError
from graphglass.glass.code_channel import CodeChannel
from graphglass.glass.scoring_rules import paper_fusion
from graphglass.glass.settings import PaperSettings
from graphglass.graphs.concatenation import counted_names, with_edge_attributes
from graphglass.graphs.graph_set import COUNT, GraphSet

REFITTED = 64  # up to so many references, each is left out of everything its distance depends on
Schema = tuple[bool, bool, tuple[str, ...], tuple[str, ...], bool]
TOGETHER = 1_000  # queries that all channels read while they are in the processor's cache
PAIRS = 4_000_000  # distances between queries and references held at once


@dataclass(frozen=True, eq=False)
class ReferenceScorer:
    """Scores queries against one reference set.

    Attributes
    ----------
    references : ProfiledGraphs
        Those with a leave-one-out score: all, unless the set is large.
    channels : tuple of Channel
        Those with data.
    fusion : Fusion
    reference_scores : float64 (references,)
        Their leave-one-out scores.
    schema : (node labels?, edge labels?, attribute names, edge attribute names, directed?)
        What the references carry; queries must carry the same.
    structure_only : bool
        Labels and attributes are ignored: references of several domains, or queries of another one.
    large : LargeReferences or None
        How candidates are found where there are too many references to compare with all.
    known : KnownAnomalies or None
        The second side of the references.
    """

    references: ProfiledGraphs
    channels: tuple[Channel, ...]
    fusion: Fusion
    reference_scores: NDArray[np.float64]
    schema: Schema
    structure_only: bool = False
    large: LargeReferences | None = None
    known: KnownAnomalies | None = None

    @classmethod
    def fit(
        cls,
        references: ProfiledGraphs,
        settings: PaperSettings | None,
        slices: Sequence[int] = (),
        *,
        structure_only: bool = False,
        anomalies: ProfiledGraphs | None = None,
    ) -> ReferenceScorer:
        """Fit every channel on the references and fuse them: training-free channels, or the paper's codes."""
        channels = build_channels(settings, slices)
        large = None
        if len(references) > large_references.EXACT_UP_TO:
            large, search = index_references(references)
            for channel in channels:
                channel.fit_among(references, search)
        else:
            for channel in channels:
                channel.fit(references)
        channels = tuple(channel for channel in channels if channel.has_data)
        if settings is None and large is None and 2 <= len(references) <= REFITTED:
            refit_left_out(channels, references)
        left_out = {channel.name: channel.left_out for channel in channels}
        references = references if large is None else references[large.calibrated]
        if settings is None:
            fusion = fit_fusion(left_out, default_weights(channels), SHARPNESS)
        else:
            fusion = paper_fusion(
                left_out, references.codes, slices, settings.k,
                scorer=settings.scorer, calibration=settings.calibration,
            )  # fmt: skip
        schema = graph_schema(references.graphs)
        scorer = cls(references, channels, fusion, fusion.scores(left_out), schema, structure_only, large)
        return scorer if anomalies is None else scorer.with_anomalies(anomalies)

    @property
    def reference_count(self) -> int:
        """References that scores are measured against."""
        return len(self.reference_scores) if self.large is None else len(self.large.graphs)

    def accept(self, queries: GraphSet) -> GraphSet:
        """Queries in the form of the references: class labels dropped, attributes matched by name.

        Graphs without a single edge lack no edge label or attribute, so that they can be scored alone as well as among
        others. An undirected edge counts as one in each direction where the references are directed; direction and
        edge attributes that the references lack are ignored, and a missing ``count`` is 1.

        Raises
        ------
        SchemaError
            If they have labels or attributes that the references lack, or lack some that the references have.
        """
        queries = queries.without_labels()
        if self.structure_only:
            return queries.structure_only()
        if self.schema[1] and queries.edge_labels is None and not queries.edge_count:
            queries = replace(queries, edge_labels=np.zeros(0, np.int64))
        if self.schema[4] and not queries.directed and queries.edge_count:
            warnings.warn(
                "The references are directed and these graphs are not: each edge of theirs counts in both directions. "
                "If they have a direction, read them with --directed (directed=True in Python).",
                stacklevel=1,  # the same place for every caller: shown once
            )
        queries = queries.as_directed() if self.schema[4] else replace(queries, outgoing=None)
        if self.schema[3]:
            queries = with_edge_attributes(queries, self.schema[3])
        else:
            queries = replace(queries, edge_attributes=None, edge_attribute_names=())
        names, found = self.schema[2], queries.attribute_names
        if queries.attributes is not None and names != found and sorted(names) == sorted(set(found)):
            columns = [found.index(name) for name in names]
            queries = replace(queries, attributes=queries.attributes[:, columns], attribute_names=names)
        carried = graph_schema(queries)
        if carried != self.schema:
            raise SchemaError(
                f"Queries must carry what the references carry: {_describe(self.schema)}. Found "
                f"{_describe(carried)}. Read both with the same options, or give the detector references of this kind."
            )
        if any(channel.family == "chemistry" for channel in self.channels) and queries.atom_environments is None:
            raise SchemaError(
                "Queries must be molecules read from SMILES or SDF, as the references are; found graphs that were read "
                "in another way and lack atom environments and descriptors. Read them from SMILES or SDF."
            )
        return queries

    def contributions(self, queries: ProfiledGraphs) -> dict[str, NDArray[np.float64]]:
        """What each channel adds to the score of every query; they sum to it."""
        if self.known is not None:
            return self.known.contributions(self.channels, self.fusion, queries)
        return self.fusion.contributions(self._distances(queries))

    def scores(self, queries: ProfiledGraphs) -> NDArray[np.float64]:
        """Anomaly scores (eq:fixedscore under the paper's scorers)."""
        if self.known is not None:
            return self.known.scores(self.channels, self.fusion, queries)
        return self.fusion.scores(self._distances(queries))

    def candidates(self, query: ProfiledGraphs) -> NDArray[np.int64]:
        """Places of the references that one query is compared with."""
        return np.arange(self.reference_count) if self.large is None else self.large.near(query)[0]

    def fused_distances(self, queries: ProfiledGraphs, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distance of every query to the references at `places`; 0 for a twin, (queries, places).

        The score that a graph would have with this reference as its only neighbour, above the score of a twin: the
        channels, units and weights of the score itself.
        """
        rows = {channel.name: channel.encode(queries) for channel in self.channels}
        twin = float(self.fusion.scores({name: np.zeros(1) for name in rows})[0])
        width = len(places)
        step = max(1, PAIRS // max(width if self.large else self.reference_count, 1))
        blocks = []
        for first in range(0, len(queries), step):
            part = slice(first, first + step)
            pairs = {c.name: self._to_references(c, rows[c.name][part], places) for c in self.channels}
            scores = self.fusion.scores({name: block.ravel() for name, block in pairs.items()})
            blocks.append(scores.reshape(-1, width) - twin)
        return np.maximum(np.concatenate(blocks), 0)

    def similarities(self, query: ProfiledGraphs, others: ProfiledGraphs) -> dict[str, NDArray[np.float64]]:
        """Similarity between 0 and 1 of one graph to some others, for every family of channels."""
        families: dict[str, list[NDArray[np.float64]]] = {}
        for channel in self.channels:
            distances = channel.compare(channel.encode(query), channel.encode(others))[0]
            families.setdefault(channel.family, []).append(channel.similarity(distances))
        return {family: np.mean(values, axis=0) for family, values in families.items()}

    def distances_to_known(self, query: ProfiledGraphs) -> NDArray[np.float64]:
        """Fused distance of one graph to every known anomaly, as :meth:`fused_distances` but without local units."""
        assert self.known is not None
        pairs = {c.name: c.compare(c.encode(query), self.known.rows[c.name])[0] for c in self.channels}
        twin = self.fusion.scores({name: np.zeros(1) for name in pairs})
        return np.maximum(self.fusion.scores(pairs) - twin, 0)

    def with_anomalies(self, anomalies: ProfiledGraphs | None) -> ReferenceScorer:
        """The same references beside these known anomalies; without any, scores keep their bits."""
        scores: NDArray[np.float64] = self.fusion.scores({c.name: c.left_out for c in self.channels})
        known = None
        if anomalies is not None:
            known, scores = KnownAnomalies.fit(anomalies, self.channels, self.fusion, self.references, self.large)
        return replace(self, reference_scores=scores, known=known)

    def _to_references(self, channel: Channel, rows: Rows, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances in units of a channel to some references; to all at once where that is how scores are made."""
        if self.large is None:
            return (channel.compare(rows, channel.references) / channel.reference_scales)[:, places]
        each = np.broadcast_to(places, (len(rows), len(places)))
        return channel.compare_each(rows, channel.references, each) / channel.reference_scales[places]

    def _distances(self, queries: ProfiledGraphs) -> dict[str, NDArray[np.float64]]:
        if len(queries) > TOGETHER:
            parts = [self._distances(queries[i : i + TOGETHER]) for i in range(0, len(queries), TOGETHER)]
            return {channel.name: np.concatenate([part[channel.name] for part in parts]) for channel in self.channels}
        if self.large is not None:
            near = self.large.near(queries)
            return {channel.name: channel.distances_among(channel.encode(queries), near) for channel in self.channels}
        return {channel.name: channel.distances(channel.encode(queries)) for channel in self.channels}


def build_channels(settings: PaperSettings | None, slices: Sequence[int]) -> tuple[Channel, ...]:
    """The unfitted channels of a preset."""
    if settings is None:
        return tuple(default_channels())
    return tuple(CodeChannel(f"{view}:{size}", settings.k) for size in slices for view in ("graph", "text"))


def refit_left_out(channels: Sequence[Channel], references: ProfiledGraphs) -> None:
    """Measure every reference as a query of channels that were fitted on the others.

    A channel learns units and columns from the references. Among few, each reference has a say in the units it is
    measured in: leave-one-out distances, and with them p-values, come out smaller than those of new normal graphs.
    """
    left_out = {channel.name: np.zeros(len(references)) for channel in channels}
    for place in range(len(references)):
        others = references[np.arange(len(references)) != place]
        for channel in default_channels():
            channel.fit(others)
            if channel.has_data and channel.name in left_out:
                left_out[channel.name][place] = channel.distances(channel.encode(references[[place]]))[0]
    for channel in channels:
        channel.left_out = left_out[channel.name]


def graph_schema(graphs: GraphSet) -> Schema:
    labels = graphs.node_labels is not None, graphs.edge_labels is not None
    return *labels, graphs.attribute_names, counted_names(graphs), graphs.directed


def _describe(schema: Schema) -> str:
    nodes, edges, attributes, edge_attributes, _ = schema
    parts = ["node labels" if nodes else "no node labels", "edge labels" if edges else "no edge labels"]
    parts.append(f"attributes {', '.join(attributes)}" if attributes else "no attributes")
    edge_attributes = tuple(name for name in edge_attributes if name != COUNT)
    if edge_attributes:
        parts.append(f"edge attributes {', '.join(edge_attributes)}")
    return "; ".join(parts)
