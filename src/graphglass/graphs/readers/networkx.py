"""NetworkX graphs in and out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphglass.errors import MissingExtraError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import property_record
from graphglass.graphs.readers.record import Record, read_each


def read_networkx(graphs: Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """Any of NetworkX's four graph classes; node ids may be anything that has a text form.

    The graph's properties ``id`` (or ``name``) and ``label`` (or ``y``) name it and give its class.
    """

    def record(graph: Any, position: int, name: str) -> Record:
        edges = list(graph.edges(data=True))
        return property_record(
            position, name, list(graph.nodes), [data for _, data in graph.nodes(data=True)],
            [(one, two) for one, two, _ in edges], [data for _, _, data in edges], options,
            facts={"label": graph.graph.get("y"), **graph.graph}, directed=graph.is_directed(),
        )  # fmt: skip

    return read_each(graphs, lambda graph: graph.graph.get("id", graph.graph.get("name")), record, options, "free")


def to_networkx(graphs: GraphSet) -> list[Any]:
    """Each graph as ``networkx.Graph`` or ``DiGraph``: ``id`` and ``label`` on the graph, ``label`` and attributes on
    nodes and edges.

    Examples
    --------
    >>> from graphglass import load_dataset, to_networkx
    >>> to_networkx(load_dataset("MUTAG")[:1])[0].number_of_nodes()
    17
    """
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError("Handing graphs to NetworkX", "interop") from error
    from graphglass.graphs.readers.json_lines import json_records

    def properties(item: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        given = item.get("attributes", {})
        named = given if isinstance(given, dict) else dict(zip(names, given, strict=True))
        return named | ({"label": item["label"]} if "label" in item else {})

    made = []
    for record in json_records(graphs):
        facts = {key: record[key] for key in ("id", "label") if key in record}
        graph = (networkx.DiGraph if graphs.directed else networkx.Graph)(**record.get("columns", {}) | facts)
        for node in record["nodes"]:
            graph.add_node(node["id"], **properties(node, graphs.attribute_names))
        for edge in record["edges"]:
            if isinstance(edge, dict):
                graph.add_edge(edge["source"], edge["target"], **properties(edge, graphs.edge_attribute_names))
            else:
                graph.add_edge(*edge)
        made.append(graph)
    return made
