"""Graphs with and without node labels are not compared with each other."""

from __future__ import annotations

from graphglass.errors import SchemaError
from graphglass.graphs.graph_set import GraphSet


def refuse_other_labels(method: object, labelled: bool, graphs: GraphSet) -> None:
    """Raise if ``method`` was fitted on graphs with node labels and these have none, or the other way round."""
    if labelled != (graphs.node_labels is not None):
        known, found = ("node labels", "none") if labelled else ("no node labels", "some")
        raise SchemaError(f"{type(method).__name__} was fitted on graphs with {known}; these graphs have {found}.")
