"""The references made ready to score against: channels, their fusion and the calibration."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import AnyChannel
from graphglass.channels.fusion import Distances, Fusion
from graphglass.channels.nearest_references import Candidates, Rows
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.known_anomalies import KnownAnomalies, KnownSide, NormalKernel
from graphglass.errors import SchemaError
from graphglass.graphs.graph_schema import GraphSchema, with_attributes, with_edge_attributes
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.reading import ReadingOptions
from graphglass.messages import setting

TOGETHER = 1_000  # queries that all channels read while they are in the processor's cache
PAIRS = 4_000_000  # distances between queries and references held at once

Fuse = Callable[[Sequence[AnyChannel], ProfiledGraphs], Fusion]  # fitted channels and the references they left out


@dataclass(frozen=True, eq=False)
class ReferenceScorer:
    """Scores queries against one reference set, comparing each query with every reference."""

    references: ProfiledGraphs  # those with a leave-one-out score
    channels: tuple[AnyChannel, ...]  # those with data
    fusion: Fusion
    reference_scores: NDArray[np.float64]  # (references,): their leave-one-out scores
    schema: GraphSchema  # what the references carry; queries must carry the same
    # Labels and attributes are ignored: references of several domains, or queries of another one.
    structure_only: bool = False
    # Queries come from another domain: the references say nothing about how normal graphs differ there.
    zero_shot: bool = False
    repeated: int = 0  # references that equalled another one and count once
    known: KnownAnomalies | None = None  # the second side of the references

    @classmethod
    def fit(
        cls, references: ProfiledGraphs, channels: Sequence[AnyChannel], fuse: Fuse, *, structure_only: bool = False
    ) -> Self:
        """Fit every channel on the references and fuse those with data."""
        for channel in channels:
            channel.fit(references)
        channels = tuple(channel for channel in channels if channel.has_data)
        fusion = fuse(channels, references)
        scores = fusion.scores(left_out_distances(channels))
        return cls(references, channels, fusion, scores, GraphSchema.of(references.graphs), structure_only)

    # What an indexed set does differently

    @property
    def graphs(self) -> GraphSet:
        """Every reference."""
        return self.references.graphs

    @property
    def reference_places(self) -> NDArray[np.int64]:
        """Places of ``references`` among ``graphs``."""
        return np.arange(len(self.references))

    def search(self, queries: ProfiledGraphs) -> Candidates:
        """Which references each query is compared with: all of them."""
        return None

    def channel_distances(self, channel: AnyChannel, rows: Rows, found: Candidates) -> NDArray[np.float64]:
        """Distances of queries to the normals in one channel, (rows,)."""
        return channel.distances(rows)

    def kernel_sums(
        self, channel: AnyChannel, rows: Rows, found: Candidates, side: KnownSide
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same distances, and what the training rows of the classifier add to it; no pair is compared twice."""
        sums = np.empty(len(rows))

        def add(first: int, block: NDArray[np.float64]) -> None:
            sums[first : first + len(block)] = side.pull(channel, block[:, side.training_rows])

        return channel.distances(rows, add), sums

    def rows(self, channel: AnyChannel) -> Rows:
        """Rows of ``references``."""
        rows: Rows = channel.references
        return rows

    def distances_to(self, channel: AnyChannel, rows: Rows, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Plain distances to the ``references`` at `places`, (rows, places).

        Each row is compared with all, some rows at a time, for the bits that a query would get.
        """
        step = max(1, PAIRS // len(self.references))
        starts = range(0, len(rows), step)
        return np.concatenate([channel.compare(rows[i : i + step], channel.references)[:, places] for i in starts])

    def candidates(self, query: ProfiledGraphs) -> NDArray[np.int64]:
        """Places of the references that one query is compared with."""
        return np.arange(len(self.graphs))

    def profiled(self, places: NDArray[np.int64]) -> ProfiledGraphs:
        """Some of the references, measured."""
        return self.references[places]

    def left_out_scores(self, queries: ProfiledGraphs, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Leave-one-out scores of the references at `places`, which the queries equal one by one, (queries,)."""
        return self.reference_scores[places]

    def left_out_distances(self, query: ProfiledGraphs, place: int) -> dict[str, NDArray[np.float64]]:
        """Distances of the reference at `place`, which the query equals, to the others, {channel: (1,)}."""
        return {channel.name: channel.left_out[[place]] for channel in self.channels}

    def approximations(self) -> dict[str, str]:
        """What a query is not compared with exactly, a sentence each."""
        return {}

    def _to_references(self, channel: AnyChannel, rows: Rows, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances in units of a channel to some references; to all at once, as scores are made."""
        return (channel.compare(rows, channel.references) / channel.reference_scales)[:, places]

    def _compared(self, places: NDArray[np.int64]) -> int:
        """Distances that :meth:`_to_references` makes for every row."""
        return len(self.graphs)

    # The same for every set

    @property
    def reference_count(self) -> int:
        """References that scores are measured against."""
        return len(self.graphs)

    @property
    def reading(self) -> ReadingOptions | None:
        """How the references were read, and queries are to be; they need no classes."""
        found = self.graphs.reading
        return None if found is None else replace(found, label_column=None)

    @property
    def keeps_all(self) -> bool:
        """Whether every reference is kept whole and has a leave-one-out score."""
        return len(self.references) == len(self.graphs)

    @cached_property
    def normal_kernel(self) -> NormalKernel:
        """What the classifier of known anomalies knows of the references, kept for reviews."""
        return NormalKernel.fit(self)

    def accept(self, queries: GraphSet) -> GraphSet:
        """Queries in the form of the references: class labels dropped, attributes matched by name.

        Graphs without a single edge are taken where edge labels or attributes are expected. An undirected edge counts
        as one in each direction where the references are directed; direction and edge attributes that the references
        lack are ignored, and a missing ``count`` is 1. Where nodes have types, attributes of a type that the references
        lack are ignored, and those of a type that the queries lack are 0.

        Raises
        ------
        SchemaError
            If they have labels or attributes that the references lack, or lack some that the references have.
        """
        queries = queries.without_labels()
        if self.structure_only:
            return queries.structure_only()
        schema = self.schema
        if schema.edge_labels and queries.edge_labels is None and not queries.edge_count:
            queries = replace(queries, edge_labels=np.zeros(0, np.int64))
        if schema.directed and not queries.directed and queries.edge_count:
            warnings.warn(
                "The references are directed and these graphs are not: each edge of theirs counts in both directions. "
                f"If they have a direction, read them with {setting('directed', True)}.",
                stacklevel=1,  # the same place for every caller: shown once
            )
        queries = queries.as_directed() if schema.directed else replace(queries, outgoing=None)
        typed = self.graphs.reading is not None and self.graphs.reading.typed
        if schema.edge_attributes:
            queries = with_edge_attributes(queries, schema.edge_attributes, zero=typed)
        else:
            queries = replace(queries, edge_attributes=None, edge_attribute_names=())
        if typed or set(schema.attributes) == set(queries.attribute_names):
            queries = with_attributes(queries, schema.attributes)
        carried = GraphSchema.of(queries)
        if carried != schema:
            table = ""
            if (schema.node_labels, schema.attributes) != (carried.node_labels, carried.attributes):
                table = f" A table of nodes is named with {setting('nodes', 'FILE')}."
            raise SchemaError(
                f"Queries must carry what the references carry: {schema.described()}. Found {carried.described()}. "
                f"Read both with the same options, or give the detector references of this kind.{table}"
            )
        if any(channel.family == "chemistry" for channel in self.channels) and queries.atom_environments is None:
            raise SchemaError(
                "Queries must be molecules read from SMILES or SDF, as the references are; found graphs that were read "
                "in another way and lack atom environments and descriptors. Read them from SMILES or SDF."
            )
        return queries

    def scores(self, queries: ProfiledGraphs) -> NDArray[np.float64]:
        """Anomaly scores (eq:fixedscore under the paper's scorers)."""
        return np.concatenate([self.scores_among(part, self.search(part)) for part in _parts(queries)])

    def scores_among(self, queries: ProfiledGraphs, found: Candidates) -> NDArray[np.float64]:
        """Scores by what :meth:`search` found."""
        if self.known is not None:
            return self.known.scores(self, queries, found)
        return self.fusion.scores(self._distances(queries, found))

    def parted_scores(
        self, queries: ProfiledGraphs, rows: Mapping[str, Rows]
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], Distances]:
        """Scores, contributions and distances of a few queries that are encoded already."""
        found = self.search(queries)
        if self.known is not None:
            return self.known.parted_scores(self, rows, found)
        distances = {c.name: self.channel_distances(c, rows[c.name], found) for c in self.channels}
        return self.fusion.scores(distances), self.fusion.contributions(distances), distances

    def left_out_parts(
        self, query: ProfiledGraphs, place: int
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], Distances]:
        """Leave-one-out score, contributions and distances of the reference at `place`, which the query equals."""
        scores, distances = self.left_out_scores(query, np.array([place])), self.left_out_distances(query, place)
        if self.known is not None:
            return scores, self.known.left_out_contributions(self, query, distances, scores), distances
        return scores, self.fusion.contributions(distances), distances

    def contributions(self, queries: ProfiledGraphs) -> dict[str, NDArray[np.float64]]:
        """What each channel adds to the score of every query; they sum to it."""
        parts = []
        for part in _parts(queries):
            rows = {channel.name: channel.encode(part) for channel in self.channels}
            parts.append(self.parted_scores(part, rows)[1])
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def fused_distances(
        self, queries: ProfiledGraphs, places: NDArray[np.int64], rows: Mapping[str, Rows] | None = None
    ) -> NDArray[np.float64]:
        """Distance of every query to the references at `places`; 0 for a twin, (queries, places).

        The score that a graph would have with this reference as its only neighbour, above the score of a twin: the
        channels, units and weights of the score itself.
        """
        rows = {channel.name: channel.encode(queries) for channel in self.channels} if rows is None else rows
        twin = float(self.fusion.scores({name: np.zeros(1) for name in rows})[0])
        width = len(places)
        step = max(1, PAIRS // max(self._compared(places), 1))
        blocks = []
        for first in range(0, len(queries), step):
            part = slice(first, first + step)
            pairs = {c.name: self._to_references(c, rows[c.name][part], places) for c in self.channels}
            scores = self.fusion.scores({name: block.ravel() for name, block in pairs.items()})
            blocks.append(scores.reshape(-1, width) - twin)
        return np.maximum(np.concatenate(blocks), 0)

    def distances_to_known(self, rows: Mapping[str, Rows]) -> NDArray[np.float64]:
        """Fused distance of one graph to every known anomaly, as :meth:`fused_distances` but without local units."""
        assert self.known is not None
        pairs = {c.name: c.compare(rows[c.name], self.known.rows[c.name])[0] for c in self.channels}
        twin = self.fusion.scores({name: np.zeros(1) for name in pairs})
        return np.maximum(self.fusion.scores(pairs) - twin, 0)

    def with_anomalies(self, anomalies: ProfiledGraphs | None) -> Self:
        """The same references with these known anomalies; without any, scores keep their bits."""
        plain = replace(self, reference_scores=self.fusion.scores(left_out_distances(self.channels)), known=None)
        if anomalies is None:
            return plain
        known, scores = KnownAnomalies.fit(anomalies, plain)
        return replace(plain, reference_scores=scores, known=known)

    def _distances(self, queries: ProfiledGraphs, found: Candidates) -> dict[str, NDArray[np.float64]]:
        return {c.name: self.channel_distances(c, c.encode(queries), found) for c in self.channels}


def _parts(queries: ProfiledGraphs) -> list[ProfiledGraphs]:
    """Queries that all channels read together; all at once where they are few, without a copy."""
    if len(queries) <= TOGETHER:
        return [queries]
    return [queries[first : first + TOGETHER] for first in range(0, len(queries), TOGETHER)]


def left_out_distances(channels: Sequence[AnyChannel]) -> dict[str, NDArray[np.float64]]:
    return {channel.name: channel.left_out for channel in channels}
