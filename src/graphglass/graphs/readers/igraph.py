"""python-igraph graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import node_names, property_labels, property_table
from graphglass.graphs.readers.record import Record


def read_igraph(graphs: Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """Vertices go by their ``name``; the graph's ``id`` (or ``name``) and ``label`` name it and give its class."""
    records = options.records()
    for position, graph in graphs:
        facts = {key: graph[key] for key in graph.attributes()}
        name = str(facts.get("id", facts.get("name", "")) or f"graph-{position}")
        try:
            records.add(_record(graph, facts, position, name, options))
        except GraphError as error:
            options.log.add(position, name, str(error))
    return records.build()


def _record(graph: Any, facts: dict[str, Any], position: int, name: str, options: ReadOptions) -> Record:
    wanted = options.properties
    if excess := options.limits.graph_excess(graph.vcount(), graph.ecount()):
        raise GraphError(excess)
    ends = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    nodes = [vertex.attributes() for vertex in graph.vs]
    names = None
    if "name" in graph.vs.attributes():
        _, names = node_names(list(graph.vs["name"]))
        nodes = [{key: value for key, value in node.items() if key != "name"} for node in nodes]
    label_names: dict[int, str] = {}
    values, attribute_names = property_table(nodes, skip=wanted.node_label, wanted=wanted.attributes)
    return Record(
        position, name, len(nodes), ends[:, 0], ends[:, 1],
        label=facts.get("label"),
        node_labels=property_labels(nodes, wanted.node_label, label_names),
        edge_labels=property_labels([edge.attributes() for edge in graph.es], wanted.edge_label, label_names),
        attributes=values,
        attribute_names=attribute_names,
        node_names=names,
        label_names=label_names,
        directed=graph.is_directed(),
    )  # fmt: skip
