"""python-igraph graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import property_record
from graphglass.graphs.readers.record import Record, read_each


def read_igraph(graphs: Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """Vertices go by their ``name``; the graph's ``id`` (or ``name``) and ``label`` name it and give its class."""

    def record(graph: Any, position: int, name: str) -> Record:
        nodes = [vertex.attributes() for vertex in graph.vs]
        ids = [node.pop("name", row) for row, node in enumerate(nodes)]
        return property_record(
            position, name, ids, nodes,
            [(ids[one], ids[two]) for one, two in graph.get_edgelist()], [edge.attributes() for edge in graph.es],
            options, facts={key: graph[key] for key in graph.attributes()}, directed=graph.is_directed(),
        )  # fmt: skip

    return read_each(graphs, lambda graph: _fact(graph, "id") or _fact(graph, "name"), record, options, "free")


def _fact(graph: Any, key: str) -> Any:
    return graph[key] if key in graph.attributes() else None
