"""XML documents that hold graphs, parsed without trust: no document types, no entities, no external references."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from graphglass.errors import FormatError, GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import property_record
from graphglass.graphs.readers.record import Record, RecordSet
from graphglass.graphs.readers.text_source import read_bytes


@dataclass
class XmlGraph:
    """One graph of a document while it is read."""

    line: int
    id: str | None
    directed: bool
    nodes: list[str] = field(default_factory=list)
    node_data: list[dict[str, Any]] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)
    edge_data: list[dict[str, Any]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None


@dataclass
class Key:
    """A declared property: its name, type and default."""

    name: str
    kind: str
    owner: str
    default: str | None = None


class XmlParser:
    """One pass over a document with expat; elements it does not know are skipped."""

    language = "XML"
    whole = frozenset({"int", "long", "integer"})
    real = frozenset({"float", "double"})

    def __init__(self, name: str) -> None:
        self.name = name
        self.graphs: list[XmlGraph] = []
        self.graph: XmlGraph | None = None
        self.path: list[str] = []
        self.text: list[str] = []
        self.expat = expat.ParserCreate(namespace_separator=" ")
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end
        self.expat.CharacterDataHandler = self.text.append
        self.expat.StartDoctypeDeclHandler = self._refuse
        self.expat.EntityDeclHandler = self._refuse
        self.expat.ExternalEntityRefHandler = self._refuse

    def started(self, element: str, facts: dict[str, str]) -> None:
        """Called at the start of every element."""
        raise NotImplementedError

    def ended(self, element: str, owner: str, text: str) -> None:
        """Called at the end of every element, with the element around it and the text inside."""
        raise NotImplementedError

    def parse(self, content: bytes) -> list[XmlGraph]:
        if not content:
            raise FormatError(f"{self.name} is empty (0 bytes).")
        try:
            self.expat.Parse(content, True)
        except expat.ExpatError as error:
            raise FormatError(f"{self.name} is not well-formed XML: {error}.") from error
        except (LookupError, UnicodeError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{self.name} declares an encoding that cannot be read ({error}). Use UTF-8.") from error
        if not self.graphs:
            raise FormatError(f"{self.name} is XML, but holds no {self.language} <graph>.")
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
        self.started(element, facts)

    def _end(self, tag: str) -> None:
        element = self.path.pop()
        self.ended(element, self.path[-1] if self.path else "", "".join(self.text).strip())
        self.text.clear()

    def value(self, key: Key, text: str) -> Any:
        """A text as the type its key declares; a graph with another is at fault."""
        try:
            if key.kind in self.whole:
                return int(text)
            if key.kind in self.real:
                return float(text)
        except ValueError:
            if self.graph is not None:
                line = self.expat.CurrentLineNumber
                self.graph.fault = f"line {line}: {key.name!r} is declared {key.kind}, found {text[:40]!r}"
            return None
        return text.lower() in {"true", "1"} if key.kind == "boolean" else text


def read_documents(path: Path, suffix: str, parser: type[XmlParser], options: ReadOptions) -> GraphSet:
    """Graphs of a document, or of every document in a folder; a graph without an id is called by its file."""
    paths = sorted(path.glob(f"*{suffix}")) if path.is_dir() else [path]
    records = RecordSet(options)
    for one in paths:
        try:
            graphs = parser(one.name).parse(read_bytes(one, options.limits))
        except FormatError as error:
            if len(paths) == 1:
                raise
            options.log.add(1, one.name, str(error))  # one damaged file of a folder is a bad record among others
            continue
        for number, graph in enumerate(graphs):
            stem = one.name.split(".")[0]
            name = graph.id if graph.id and len(paths) == 1 else stem if len(graphs) == 1 else f"{stem}-{number}"
            try:
                records.add(_record(graph, name, options))
            except GraphError as error:
                options.log.add(graph.line, name, str(error))
    return records.build()


def _record(graph: XmlGraph, name: str, options: ReadOptions) -> Record:
    if graph.fault:
        raise GraphError(graph.fault)
    if excess := options.limits.graph_excess(len(graph.nodes), len(graph.edges)):
        raise GraphError(excess)
    return property_record(
        graph.line, name, graph.nodes, graph.node_data, graph.edges, graph.edge_data, options,
        facts=graph.data, directed=graph.directed,
    )  # fmt: skip
