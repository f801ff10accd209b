"""NetworkX graphs in and out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphglass.errors import GraphError, MissingExtraError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import edge_rows, node_names, property_labels, property_table
from graphglass.graphs.readers.record import Record


def read_networkx(graphs: Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """Any of NetworkX's four graph classes; node ids may be anything that has a text form.

    The graph's properties ``id`` (or ``name``) and ``label`` (or ``y``) name it and give its class.
    """
    records = options.records()
    for position, graph in graphs:
        name = str(graph.graph.get("id", graph.graph.get("name", "")) or f"graph-{position}")
        try:
            records.add(_record(graph, position, name, options))
        except GraphError as error:
            options.log.add(position, name, str(error))
    return records.build()


def _record(graph: Any, position: int, name: str, options: ReadOptions) -> Record:
    wanted = options.properties
    if excess := options.limits.graph_excess(graph.number_of_nodes(), graph.number_of_edges()):
        raise GraphError(excess)
    rows, names = node_names(list(graph.nodes))
    listed = list(graph.edges(data=True))
    sources, targets = edge_rows([(one, two) for one, two, _ in listed], rows)
    nodes = [data for _, data in graph.nodes(data=True)]
    label_names: dict[int, str] = {}
    values, attribute_names = property_table(nodes, skip=wanted.node_label, wanted=wanted.attributes)
    return Record(
        position, name, len(nodes), sources, targets,
        label=graph.graph.get("label", graph.graph.get("y")),
        node_labels=property_labels(nodes, wanted.node_label, label_names),
        edge_labels=property_labels([data for _, _, data in listed], wanted.edge_label, label_names),
        attributes=values,
        attribute_names=attribute_names,
        node_names=names,
        label_names=label_names,
        directed=graph.is_directed(),
    )  # fmt: skip


def to_networkx(graphs: GraphSet) -> list[Any]:
    """Each graph as ``networkx.Graph``: ``id`` and ``label`` on the graph, ``label`` and attributes on its nodes."""
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError("Handing graphs to NetworkX", "interop") from error
    from graphglass.graphs.readers.json_lines import json_records

    made = []
    for record in json_records(graphs):
        graph = networkx.Graph(id=record["id"])
        if "label" in record:
            graph.graph["label"] = record["label"]
        for node in record["nodes"]:
            given = node.get("attributes", {})
            named = given if isinstance(given, dict) else dict(zip(graphs.attribute_names, given, strict=True))
            label = {"label": node["label"]} if "label" in node else {}
            graph.add_node(node["id"], **named, **label)
        for edge in record["edges"]:
            if isinstance(edge, dict):
                graph.add_edge(edge["source"], edge["target"], label=edge["label"])
            else:
                graph.add_edge(*edge)
        made.append(graph)
    return made
