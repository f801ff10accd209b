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
    """The weight of every fitted channel that has data. They sum to 1."""
    present = [channel for channel in channels if channel.has_data]
    families = [channel.family for channel in present]
    total = sum(FAMILY_WEIGHTS[family] for family in set(families))
    return {
        channel.name: FAMILY_WEIGHTS[channel.family] / families.count(channel.family) / total for channel in present
    }
