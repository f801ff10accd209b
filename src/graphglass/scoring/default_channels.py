"""The channels of the default preset."""

from __future__ import annotations

from collections.abc import Sequence

from graphglass.scoring.channel import Channel


def default_channels(sphere: Sequence[Channel]) -> list[Channel]:
    """The spherical channels and what is added to them."""
    return list(sphere)
