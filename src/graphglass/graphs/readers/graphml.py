"""GraphML documents."""

from __future__ import annotations

from pathlib import Path

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.documents import read_documents
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.xml_graphs import Key, XmlParser


def read_graphml(path: Path, options: ReadOptions) -> GraphSet:
    """Every ``graph`` of a document, or of each document in a folder.

    The data key ``label`` gives labels, numeric keys become attributes of nodes and edges.
    """
    return read_documents(path, ".graphml", lambda name, content: _GraphML(name).parse(content), options)


class _GraphML(XmlParser):
    language = "GraphML"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.key: str | None = None  # of the data element being read

    def started(self, element: str, facts: dict[str, str]) -> None:
        if element == "key":
            self.key = facts.get("id", "")
            kind, owner = facts.get("attr.type", "string"), facts.get("for", "all")
            self.keys["", self.key] = Key(facts.get("attr.name", self.key), kind, owner)
        elif element == "graph":
            if self.graph is not None:
                self.graph.fault = "a graph inside a node is not supported"
                return
            self.open_graph(facts, "edgedefault")
        elif element == "data":
            self.key = facts.get("key")
        elif self.graph is not None and element == "node":
            self.graph.nodes.append(facts.get("id", ""))
            self.graph.node_data.append(self.defaults("node"))
        elif self.graph is not None and element == "edge":
            self.graph.edges.append((facts.get("source", ""), facts.get("target", "")))
            self.graph.edge_data.append(self.defaults("edge"))
        elif self.graph is not None and element == "hyperedge":
            self.graph.fault = "a hyperedge is not supported; an edge joins two nodes"

    def ended(self, element: str, owner: str, text: str) -> None:
        if element == "default" and ("", self.key) in self.keys:
            self.keys["", self.key or ""].default = text
        elif element == "data" and self.graph is not None and self.key is not None:
            places = {"node": self.graph.node_data, "edge": self.graph.edge_data, "graph": [self.graph.data]}
            if places.get(owner):
                key = self.keys.get(("", self.key), Key(self.key, "string", "all"))
                places[owner][-1][key.name] = self.value(key, text)
        elif element == "graph" and "graph" not in self.path:
            self.graph = None
