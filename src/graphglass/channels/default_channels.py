"""The channels of the default preset and what each weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphglass.channels.channel import Channel
from graphglass.channels.patterns.pattern_channel import PatternChannel
from graphglass.channels.patterns.starts import ContrastStart, LabelStart, LengthStart, ShapeStart
from graphglass.channels.tables.attribute_values import AttributeMap
from graphglass.channels.tables.feature_maps import SizeMap, StructureMap
from graphglass.channels.tables.geometry import InvariantMap
from graphglass.channels.tables.propagation import PropagatedMap
from graphglass.channels.tables.table_channel import TableChannel

# One weight per kind of evidence, shared equally by the channels of that kind that the references can feed.
FAMILY_WEIGHTS: Mapping[str, float] = {
    "pattern": 3.0,
    "size": 1.0,
    "structure": 0.5,
    "direction": 0.5,
    "geometry": 0.5,
    "attributes": 1.0,
    "graph": 0.1,
    "text": 0.1,
}


def training_free_channels() -> list[Channel]:
    """Neighbourhood patterns under several names of nodes and edges, and five tables of features."""
    return [
        PatternChannel("pattern:labels", LabelStart()),
        PatternChannel("pattern:shape", ShapeStart()),
        PatternChannel("pattern:lengths", LengthStart(6)),
        PatternChannel("pattern:contrast", ContrastStart(5)),
        TableChannel("size", SizeMap(), "euclidean", spread=2.0, locality=0.0),
        TableChannel("structure", StructureMap(), "euclidean", spread=10.0, locality=0.5),
        TableChannel("direction", PropagatedMap(), "whitened-cosine", spread=10.0, locality=0.5),
        TableChannel("geometry", InvariantMap(), "whitened-cosine", spread=10.0, locality=0.5),
        TableChannel("attributes", AttributeMap(), "euclidean", spread=10.0, locality=0.5),
    ]


def default_channels(sphere: Sequence[Channel]) -> list[Channel]:
    """The spherical channels of the paper and the training-free ones."""
    return [*sphere, *training_free_channels()]


def default_weights(channels: Sequence[Channel]) -> dict[str, float]:
    """What each fitted channel weighs; a channel whose references lack what it reads weighs nothing. They sum to 1."""
    heard = [channel.name for channel in channels if not getattr(channel, "silent", False)]
    sizes: dict[str, int] = {}
    for name in heard:
        sizes[family(name)] = sizes.get(family(name), 0) + 1
    total = sum(FAMILY_WEIGHTS[kind] for kind in sizes)
    shares = {name: FAMILY_WEIGHTS[family(name)] / sizes[family(name)] / total for name in heard}
    return {channel.name: shares.get(channel.name, 0.0) for channel in channels}


def family(name: str) -> str:
    """The kind of evidence a channel weighs: the part of its name before the colon."""
    return name.partition(":")[0]
