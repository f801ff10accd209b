"""What a graph is, and how graphs come in."""

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet, concatenate

__all__ = ["GraphSet", "canonical_graph_set", "concatenate"]
