"""The references made ready to score against: channels, their fusion and the calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel
from graphglass.channels.codes import SphereChannel
from graphglass.channels.default_channels import default_channels, default_weights
from graphglass.channels.fusion import Fusion, fit_fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.reliability import fixed_weights, reliability_weights
from graphglass.detector.large_references import LargeReferences
from graphglass.detector.settings import Settings
from graphglass.errors import SchemaError
from graphglass.graphs.graph_set import GraphSet


@dataclass(frozen=True, eq=False)
class ReferenceScorer:
    """Scores queries against one reference set.

    Attributes
    ----------
    channels : list of Channel
    fusion : Fusion
    reference_scores : float64 (references,)
        The leave-one-out score of every reference, in its order.
    schema : (node labels?, edge labels?, attribute names)
        What the references carry; queries must carry the same.
    mixed : bool
        References of several domains, compared by structure alone.
    large : LargeReferences or None
        The index of a reference set of which `fit` saw a sample.
    """

    channels: tuple[Channel, ...]
    fusion: Fusion
    reference_scores: NDArray[np.float64]
    schema: tuple[bool, bool, tuple[str, ...]]
    mixed: bool = False
    large: LargeReferences | None = None

    @classmethod
    def fit(
        cls,
        references: ProfiledGraphs,
        settings: Settings,
        slices: Sequence[int],
        *,
        mixed: bool = False,
        large: LargeReferences | None = None,
    ) -> ReferenceScorer:
        """Fit every channel on the references and fuse them by the settings' scorer.

        With ``large`` the references are its sample: spherical channels then search all, and everything that is
        estimated, the calibration and the weights, is estimated from the sample.
        """
        channels = build_channels(settings, slices)
        for channel in channels:
            channel.fit(references)
            if large is not None and isinstance(channel, SphereChannel):
                channel.search_in(large.indexes[channel.name], large.places)
        left_out = {channel.name: channel.leave_one_out() for channel in channels}
        if settings.scorer == "ensemble":
            # Training has seen the references, so that any other graph's codes may lie past the farthest of them.
            untrained = [channel.name for channel in channels if not isinstance(channel, SphereChannel)]
            fusion = fit_fusion(left_out, weights=default_weights(channels), bounded=True, open_ended=untrained)
        elif settings.scorer == "reliability":
            fusion = Fusion.weighted(reliability_weights(references.codes, slices, settings.k))
        else:
            fusion = fit_fusion(left_out, weights=fixed_weights(slices))
        scores = sum_of(fusion.left_out_contributions(left_out))
        return cls(channels, fusion, scores, _schema(references.graphs), mixed, large)

    @property
    def reference_count(self) -> int:
        """References that scores are measured against, kept whole or not."""
        return len(self.reference_scores) if self.large is None else self.large.count

    def completed(self, queries: GraphSet) -> GraphSet:
        """Queries as the references are: attributes in their order, matched by name.

        Graphs without a single edge lack no edge label, so that they can be scored alone as well as among others.
        """
        if self.schema[1] and queries.edge_labels is None and not queries.edge_count:
            queries = replace(queries, edge_labels=np.zeros(0, np.int64))
        names, found = self.schema[2], queries.attribute_names
        if (
            queries.attributes is None
            or names == found
            or sorted(names) != sorted(found)
            or len(set(names)) < len(names)
        ):
            return queries
        columns = [found.index(name) for name in names]
        return replace(queries, attributes=queries.attributes[:, columns], attribute_names=names)

    def check_schema(self, queries: GraphSet) -> None:
        """Refuse queries whose labels or attributes the references do not have, or lack ones they have."""
        found = _schema(queries)
        if found != self.schema:
            raise SchemaError(
                f"Queries must carry what the references carry: {_describe(self.schema)}. Found {_describe(found)}. "
                "Read both with the same options, or give the detector references of this kind."
            )

    def contributions(self, queries: ProfiledGraphs) -> dict[str, NDArray[np.float64]]:
        """What each channel adds to the score of every query; they sum to it."""
        return self.fusion.contributions({channel.name: channel.distances(queries)[0] for channel in self.channels})

    def scores(self, queries: ProfiledGraphs) -> NDArray[np.float64]:
        """Anomaly scores (eq:fixedscore under the paper's scorers)."""
        return sum_of(self.contributions(queries))


def build_channels(settings: Settings, slices: Sequence[int]) -> tuple[Channel, ...]:
    """The unfitted channels a scorer uses."""
    sphere = [SphereChannel(f"{view}:{size}", settings.k) for size in slices for view in ("graph", "text")]
    if settings.scorer == "ensemble":
        return tuple(default_channels(sphere))
    return tuple(sphere)


def sum_of(contributions: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Add contributions in a fixed order, so that a graph has the same bits alone and among others.

    One by one: `np.sum` over a list adds in another order where there is one graph than where there are many.
    """
    first, *others = sorted(contributions)
    total = contributions[first].copy()
    for name in others:
        total += contributions[name]
    return total


def _schema(graphs: GraphSet) -> tuple[bool, bool, tuple[str, ...]]:
    return graphs.node_labels is not None, graphs.edge_labels is not None, graphs.attribute_names


def _describe(schema: tuple[bool, bool, tuple[str, ...]]) -> str:
    nodes, edges, attributes = schema
    parts = ["node labels" if nodes else "no node labels", "edge labels" if edges else "no edge labels"]
    parts.append(f"attributes {', '.join(attributes)}" if attributes else "no attributes")
    return "; ".join(parts)
