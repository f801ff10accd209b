"""GraphML, parsed without trust: no document types, no entities, no external references."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from graphglass.errors import FormatError, GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import edge_rows, node_names, property_labels, property_table
from graphglass.graphs.readers.record import Record
from graphglass.graphs.readers.text_source import read_bytes

_NUMBERS = {"int", "long", "float", "double"}


@dataclass
class _Key:
    name: str
    kind: str
    owner: str
    default: str | None = None


@dataclass
class _Graph:
    line: int
    id: str | None
    directed: bool
    nodes: list[str] = field(default_factory=list)
    node_data: list[dict[str, Any]] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)
    edge_data: list[dict[str, Any]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None


def read_graphml(path: Path, options: ReadOptions) -> GraphSet:
    """Every ``graph`` of a document, or of each document in a folder.

    The data key ``label`` gives labels, numeric keys become attributes.
    """
    return read_graphml_files(sorted(path.glob("*.graphml")) if path.is_dir() else [path], options)


def read_graphml_files(paths: list[Path], options: ReadOptions) -> GraphSet:
    """Graphs of several documents; a graph without an id of its own is called by its file."""
    records = options.records()
    for path in paths:
        try:
            graphs = _Parser(path.name).parse(read_bytes(path, options.limits))
        except FormatError as error:
            if len(paths) == 1:
                raise
            options.log.add(1, path.name, str(error))  # one damaged file of a folder is a bad record among others
            continue
        for number, graph in enumerate(graphs):
            stem = path.name.split(".")[0]
            name = graph.id if graph.id and len(paths) == 1 else stem if len(graphs) == 1 else f"{stem}-{number}"
            try:
                records.add(_record(graph, name, options))
            except GraphError as error:
                options.log.add(graph.line, name, str(error))
    return records.build()


def _record(graph: _Graph, name: str, options: ReadOptions) -> Record:
    if graph.fault:
        raise GraphError(graph.fault)
    wanted = options.properties
    if excess := options.limits.graph_excess(len(graph.nodes), len(graph.edges)):
        raise GraphError(excess)
    rows, names = node_names(graph.nodes)
    sources, targets = edge_rows(graph.edges, rows)
    label_names: dict[int, str] = {}
    values, attribute_names = property_table(graph.node_data, skip=wanted.node_label, wanted=wanted.attributes)
    return Record(
        graph.line, name, len(graph.nodes), sources, targets,
        label=graph.data.get(options.label_column or "label"),
        node_labels=property_labels(graph.node_data, wanted.node_label, label_names),
        edge_labels=property_labels(graph.edge_data, wanted.edge_label, label_names),
        attributes=values,
        attribute_names=attribute_names,
        node_names=names,
        label_names=label_names,
        directed=graph.directed,
    )  # fmt: skip


class _Parser:
    """One pass over a document with expat; elements it does not know are skipped."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.keys: dict[str, _Key] = {}
        self.graphs: list[_Graph] = []
        self.graph: _Graph | None = None
        self.path: list[str] = []
        self.key: str | None = None  # of the data element being read
        self.text: list[str] = []
        self.expat = expat.ParserCreate(namespace_separator=" ")
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end
        self.expat.CharacterDataHandler = self.text.append
        self.expat.StartDoctypeDeclHandler = self._refuse
        self.expat.EntityDeclHandler = self._refuse
        self.expat.ExternalEntityRefHandler = self._refuse

    def parse(self, content: bytes) -> list[_Graph]:
        if not content:
            raise FormatError(f"{self.name} is empty (0 bytes).")
        try:
            self.expat.Parse(content, True)
        except expat.ExpatError as error:
            raise FormatError(f"{self.name} is not well-formed XML: {error}.") from error
        if not self.graphs:
            raise FormatError(f"{self.name} is XML, but holds no GraphML <graph>.")
        return self.graphs

    def _refuse(self, *_: object) -> NoReturn:
        line = self.expat.CurrentLineNumber
        raise FormatError(
            f"{self.name} line {line} declares a document type or entity. Such documents can expand without bound "
            "and are refused; remove the declaration."
        )

    def _start(self, tag: str, facts: dict[str, str]) -> None:
        element = tag.rpartition(" ")[2]
        self.path.append(element)
        self.text.clear()
        if len(self.path) > 64:
            raise FormatError(f"{self.name} nests elements deeper than 64.")
        if element == "key":
            identifier = facts.get("id", "")
            self.keys[identifier] = _Key(
                facts.get("attr.name", identifier), facts.get("attr.type", "string"), facts.get("for", "all")
            )
            self.key = identifier
        elif element == "graph":
            if self.graph is not None:
                self.graph.fault = "a graph inside a node is not supported"
                return
            directed = facts.get("edgedefault") == "directed"
            self.graph = _Graph(self.expat.CurrentLineNumber, facts.get("id"), directed)
            self.graphs.append(self.graph)
        elif element == "data":
            self.key = facts.get("key")
        elif self.graph is not None:
            self._inside(self.graph, element, facts)

    def _inside(self, graph: _Graph, element: str, facts: dict[str, str]) -> None:
        if element == "node":
            graph.nodes.append(facts.get("id", ""))
            graph.node_data.append(self._defaults("node"))
        elif element == "edge":
            graph.edges.append((facts.get("source", ""), facts.get("target", "")))
            graph.edge_data.append(self._defaults("edge"))
        elif element == "hyperedge":
            graph.fault = "a hyperedge is not supported; an edge joins two nodes"

    def _end(self, tag: str) -> None:
        element = self.path.pop()
        owner = self.path[-1] if self.path else ""
        text = "".join(self.text).strip()
        if element == "default" and self.key in self.keys:
            self.keys[self.key].default = text
        elif element == "data" and self.graph is not None and self.key is not None:
            places = {"node": self.graph.node_data, "edge": self.graph.edge_data, "graph": [self.graph.data]}
            if owner in places:
                key = self.keys.get(self.key, _Key(self.key, "string", "all"))
                places[owner][-1][key.name] = self._value(key, text)
        elif element == "graph" and "graph" not in self.path:
            self.graph = None
        self.text.clear()

    def _defaults(self, owner: str) -> dict[str, Any]:
        return {
            key.name: self._value(key, key.default)
            for key in self.keys.values()
            if key.default is not None and key.owner in (owner, "all")
        }

    def _value(self, key: _Key, text: str) -> Any:
        try:
            if key.kind in {"int", "long"}:
                return int(text)
            if key.kind in _NUMBERS:
                return float(text)
        except ValueError:
            if self.graph is not None:
                line = self.expat.CurrentLineNumber
                self.graph.fault = f"line {line}: {key.name!r} is declared {key.kind}, found {text[:40]!r}"
            return None
        return text.lower() in {"true", "1"} if key.kind == "boolean" else text
