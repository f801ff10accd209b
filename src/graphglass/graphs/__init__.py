"""What a graph is, and how graphs come in."""

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.datasets import load_dataset
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_graphs, read_report
from graphglass.graphs.reading import ReadingOptions, Reject

__all__ = [
    "GraphSet", "Limits", "ReadingOptions", "Reject", "canonical_graph_set", "concatenate", "load_dataset",
    "read_graphs", "read_report",
]  # fmt: skip
