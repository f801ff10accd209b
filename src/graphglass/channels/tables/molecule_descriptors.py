"""Physico-chemical descriptors of molecules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import FeatureMap
from graphglass.graphs.chemistry import descriptors


class DescriptorMap(FeatureMap):
    """logP, polar surface, weight, donors, acceptors, rotatable bonds, rings, charge and sp3 fraction.

    No columns for graphs that were not read as molecules.
    """

    def table(self, profiled: ProfiledGraphs) -> NDArray[np.float64]:
        return descriptors(profiled.graphs)
