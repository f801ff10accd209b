"""The channels of GraphGlass and their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphglass.channels.channel import Channel
from graphglass.channels.patterns.count_channel import EnvironmentChannel
from graphglass.channels.patterns.initial_labels import (
    ContrastStart,
    DirectionStart,
    EdgeValueStart,
    LabelStart,
    LengthStart,
    ShapeStart,
)
from graphglass.channels.patterns.wl import PatternChannel
from graphglass.channels.tables.attribute_values import AttributeMap
from graphglass.channels.tables.composition import CompositionMap
from graphglass.channels.tables.edge_kinds import EdgeKindMap
from graphglass.channels.tables.edge_values import EdgeValueMap
from graphglass.channels.tables.feature_maps import DescriptorMap, SizeMap, StructureMap
from graphglass.channels.tables.geometry import GeometryMap
from graphglass.channels.tables.surroundings import RandomLayersMap
from graphglass.channels.tables.table_channel import TableChannel

# One weight per family, shared equally by its channels that have data.
FAMILY_WEIGHTS: Mapping[str, float] = {
    "patterns": 3.0,
    "chemistry": 2.0,  # one for each of its channels, which do not repeat each other
    "composition": 1.0,
    "attributes": 2.0,
    "size": 0.5,
    "structure": 0.5,
    "surroundings": 1.0,
    "geometry": 0.5,
    "edges": 1.0,
}

COUNTS = "patterns:count"
# What references lack where a channel or a family has no data.
LACKED: Mapping[str, str] = {
    "patterns:direction": "edges have no direction",
    "patterns:lengths": "no node attributes",
    "patterns:contrast": "no node attributes",
    "patterns": "no such edge attribute",
    "chemistry": "not read as molecules",
    "geometry": "no node attributes",
    "attributes": "no node attributes, or positions in space",
    "edges": "no direction and no edge attributes",
}

EDGE_VALUES = 3  # edge attributes that name edges; all of them enter the table


def default_channels() -> list[Channel]:
    """Neighbourhood patterns under several names of nodes and edges, eight tables, and the chemistry of molecules.

    Channels of direction, edge attributes and chemistry have data only where the references carry them.
    """
    return [
        PatternChannel("patterns:labels", LabelStart()),
        PatternChannel("patterns:shape", ShapeStart()),
        PatternChannel("patterns:lengths", LengthStart(6)),
        PatternChannel("patterns:contrast", ContrastStart(5)),
        PatternChannel("patterns:direction", DirectionStart()),
        PatternChannel("patterns:count", EdgeValueStart(4, None)),
        *(PatternChannel(f"patterns:edge_value_{place}", EdgeValueStart(4, place)) for place in range(EDGE_VALUES)),
        TableChannel("composition", CompositionMap(), standardised=True),
        TableChannel("size", SizeMap(), k_divisor=2.0, local_scaling=0.0),
        TableChannel("structure", StructureMap()),
        TableChannel("surroundings", RandomLayersMap(), whitened=True),
        TableChannel("geometry", GeometryMap(), whitened=True),
        TableChannel("attributes", AttributeMap(), standardised=True),
        # A Tanimoto similarity or a logP means the same wherever the molecule lies: plain distances.
        EnvironmentChannel("chemistry:environments", local_scaling=0.0),
        TableChannel("chemistry:descriptors", DescriptorMap(), local_scaling=0.0),
        TableChannel("edges:values", EdgeValueMap(), standardised=True),
        TableChannel("edges:kinds", EdgeKindMap(), standardised=True),
    ]


def default_weights(channels: Sequence[Channel]) -> dict[str, float]:
    """The weight of every fitted channel that has data. They sum to 1.

    A channel that was not built because it repeats another one leaves its share to that one: scores stay the same.
    """
    names = [channel.name for channel in channels if channel.has_data]
    copied = _repeated_by_counts(names)
    families = [name.partition(":")[0] for name in (*names, *([COUNTS] if copied else []))]
    total = sum(FAMILY_WEIGHTS[family] for family in set(families))
    weights = {}
    for name, family in zip(names, families, strict=False):
        weights[name] = FAMILY_WEIGHTS[family] / families.count(family) / total * (2 if name == copied else 1)
    return weights


def omitted_channels(channels: Sequence[Channel]) -> dict[str, str]:
    """The default's channels that are not among some, and why each was not built."""
    names = [channel.name for channel in channels]
    copied = _repeated_by_counts(names)
    reasons = {channel.name: LACKED.get(channel.name) or LACKED[channel.family] for channel in default_channels()
               if channel.name not in names}  # fmt: skip
    return reasons | ({COUNTS: f"every edge counts once, as in {copied}"} if copied else {})


def _repeated_by_counts(names: Sequence[str]) -> str | None:
    """The channel that patterns with counts of edges would repeat, where every edge of the references counts once."""
    if COUNTS in names or "edges:values" not in names:
        return None
    return "patterns:direction" if "patterns:direction" in names else "patterns:labels"
