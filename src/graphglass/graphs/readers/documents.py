"""Documents that hold graphs with named properties (GraphML, GEXF, GML), alone or many in a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphglass.errors import FormatError, GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import property_record
from graphglass.graphs.readers.record import RecordSet
from graphglass.graphs.readers.text_source import read_bytes


@dataclass
class DocumentGraph:
    """One graph of a document while it is read."""

    line: int
    id: str | None
    directed: bool
    nodes: list[Any] = field(default_factory=list)
    node_data: list[dict[str, Any]] = field(default_factory=list)
    edges: list[tuple[Any, Any]] = field(default_factory=list)
    edge_data: list[dict[str, Any]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None


def read_documents(
    path: Path, suffix: str, parse: Callable[[str, bytes], list[DocumentGraph]], options: ReadOptions
) -> GraphSet:
    """Graphs of a document, or of every document in a folder; a graph without an id is called by its file.

    `suffix` is that of the documents in a folder, and `parse` makes the graphs of (file name, content).
    """
    paths = sorted(path.glob(f"*{suffix}")) if path.is_dir() else [path]
    records = RecordSet(options)
    for one in paths:
        try:
            graphs = parse(one.name, read_bytes(one, options.limits))
        except FormatError as error:
            if len(paths) == 1:
                raise
            options.log.add(1, one.name, str(error))  # one damaged file of a folder is a bad record among others
            continue
        for number, graph in enumerate(graphs):
            stem = one.name.split(".")[0]
            name = graph.id if graph.id and len(paths) == 1 else stem if len(graphs) == 1 else f"{stem}-{number}"
            try:
                if graph.fault:
                    raise GraphError(graph.fault)
                records.add(property_record(
                    graph.line, name, graph.nodes, graph.node_data, graph.edges, graph.edge_data, options,
                    facts=graph.data, directed=graph.directed,
                ))  # fmt: skip
            except GraphError as error:
                options.log.add(graph.line, name, str(error))
    return records.build()
