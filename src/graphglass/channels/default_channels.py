"""The channels of GraphGlass and their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphglass.channels.channel import AnyChannel
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
from graphglass.graphs.graph_schema import GraphSchema

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
COUNTS, LENGTHS, CONTRAST = "patterns:count", "patterns:lengths", "patterns:contrast"
EDGE_VALUE = "patterns:edge_value_"
# What one value among all references means: the channel would repeat another one.
CONSTANT: Mapping[str, str] = {
    COUNTS: "every edge counts once",
    LENGTHS: "all edges have one length",
    CONTRAST: "every node is as far from its neighbours",
    **{f"{EDGE_VALUE}{place}": "the attribute has one value" for place in range(EDGE_VALUES)},
}
# What references lack where a channel or a family has no data.
LACKED: Mapping[str, str] = {
    "patterns:direction": "edges have no direction",
    LENGTHS: "no node attributes",
    CONTRAST: "no node attributes",
    "patterns": "no such edge attribute",
    "chemistry": "not read as molecules",
    "geometry": "no node attributes",
    "attributes": "no node attributes, or positions in space",
    "edges": "no direction and no edge attributes",
}


def default_channels() -> list[AnyChannel]:
    """Neighbourhood patterns under several names of nodes and edges, eight tables, and the chemistry of molecules.

    Channels of direction, edge attributes and chemistry have data only where the references carry them.
    """
    return [
        PatternChannel("patterns:labels", LabelStart()),
        PatternChannel("patterns:shape", ShapeStart()),
        PatternChannel(LENGTHS, LengthStart(6)),
        PatternChannel(CONTRAST, ContrastStart(5)),
        PatternChannel("patterns:direction", DirectionStart()),
        PatternChannel(COUNTS, EdgeValueStart(4, None)),
        *(PatternChannel(f"{EDGE_VALUE}{place}", EdgeValueStart(4, place)) for place in range(EDGE_VALUES)),
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


def default_weights(channels: Sequence[AnyChannel], schema: GraphSchema) -> dict[str, float]:
    """The weight of every fitted channel that has data. They sum to 1.

    A channel that was not built because it repeats another one leaves its share to that one: scores stay the same.
    """
    names = [channel.name for channel in channels if channel.has_data]
    copies = _copies(names, schema)
    families = [name.partition(":")[0] for name in (*names, *copies)]
    total = sum(FAMILY_WEIGHTS[family] for family in set(families))
    shares = {name: 1 + list(copies.values()).count(name) for name in names}
    return {
        name: FAMILY_WEIGHTS[family] / families.count(family) / total * shares[name]
        for name, family in zip(names, families, strict=False)
    }


def omitted_channels(channels: Sequence[AnyChannel], schema: GraphSchema) -> dict[str, str]:
    """The default's channels that are not among some, and why each was not built."""
    names = [channel.name for channel in channels]
    reasons = {channel.name: LACKED.get(channel.name) or LACKED[channel.family] for channel in default_channels()
               if channel.name not in names}  # fmt: skip
    copies = {name: f"{CONSTANT[name]}, as in {twin}" for name, twin in _copies(names, schema).items()}
    return reasons | copies


def _copies(names: Sequence[str], schema: GraphSchema) -> dict[str, str]:
    """Channels that were not built although the references carry what they read, and the one that each would repeat.

    All references have one value there, which makes no difference to the patterns.
    """
    numbered = [name for name in CONSTANT if name.startswith(EDGE_VALUE)]
    read = {COUNTS: bool(schema.edge_attributes)}
    read |= {name: place < len(schema.edge_attributes) - 1 for place, name in enumerate(numbered)}
    read |= {LENGTHS: bool(schema.attributes), CONTRAST: bool(schema.attributes and schema.node_labels)}
    edges = "patterns:direction" if schema.directed else "patterns:labels"
    return {
        name: "patterns:labels" if name in (LENGTHS, CONTRAST) else edges
        for name, there in read.items()
        if there and name not in names
    }
