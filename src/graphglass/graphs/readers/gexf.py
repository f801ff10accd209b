"""GEXF documents, as Gephi writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.documents import read_documents
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.xml_graphs import Key, XmlParser


def read_gexf(path: Path, options: ReadOptions) -> GraphSet:
    """The graph of a document, or of each document in a folder.

    ``attvalue`` entries are properties called by the title of their attribute. ``weight`` of an edge is one too, and so
    is the text GEXF calls ``label``, under the name ``caption``: it usually names a single node and is no type.
    GEXF has no properties of a graph; entries of ``meta`` (creator, description, ...) can be kept as columns.
    """
    return read_documents(path, ".gexf", lambda name, content: _Gexf(name).parse(content), options)


class _Gexf(XmlParser):
    language = "GEXF"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.owner = "node"
        self.declared: Key | None = None
        self.meta: dict[str, str] = {}

    def started(self, element: str, facts: dict[str, str]) -> None:
        if element == "graph":
            self.open_graph(facts, "defaultedgetype").data.update(self.meta)
        elif element == "meta":
            self.meta.update(facts)
        elif self.graph is None:
            return
        elif element == "attributes":
            self.owner = facts.get("class", "node")
        elif element == "attribute":
            identifier = facts.get("id", "")
            self.declared = Key(facts.get("title", identifier), facts.get("type", "string"), self.owner)
            self.keys[self.owner, identifier] = self.declared
        elif element == "node":
            if "node" in self.path[:-1]:
                self.graph.fault = "a node inside a node is not supported"
            self.graph.nodes.append(facts.get("id", ""))
            self.graph.node_data.append(self._properties("node", facts))
        elif element == "edge":
            self.graph.edges.append((facts.get("source", ""), facts.get("target", "")))
            self.graph.edge_data.append(self._properties("edge", facts))
            self.graph.directed |= facts.get("type") == "directed"
        elif element == "attvalue":
            owner = "edge" if "edge" in self.path else "node"
            items = self.graph.edge_data if owner == "edge" else self.graph.node_data
            name = facts.get("for", facts.get("id", ""))
            key = self.keys.get((owner, name), Key(name, "string", owner))
            if items:
                items[-1][key.name] = self.value(key, facts.get("value", ""))

    def ended(self, element: str, owner: str, text: str) -> None:
        if element == "default" and self.declared is not None:
            self.declared.default = text
        elif owner == "meta":
            self.meta[element] = text
        elif element == "graph":
            self.graph = None

    def _properties(self, owner: str, facts: dict[str, str]) -> dict[str, Any]:
        given = self.defaults(owner)
        if "label" in facts:
            given["caption"] = facts["label"]
        if "weight" in facts:
            given["weight"] = self.value(Key("weight", "double", owner), facts["weight"])
        return given
