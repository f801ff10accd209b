"""Graphs to numbers: compiled kernels over a whole GraphSet."""

from graphglass.structure.profile import AGGREGATE_NAMES, LTD_NAMES, SKETCH_NAMES, StructureProfile, profile

__all__ = ["AGGREGATE_NAMES", "LTD_NAMES", "SKETCH_NAMES", "StructureProfile", "profile"]
