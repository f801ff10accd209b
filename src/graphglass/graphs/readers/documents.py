"""GraphML, GEXF and GML documents, alone or many in a folder, parsed by NetworkX and without trust."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from graphglass.errors import FormatError, GlassError, GraphError, MissingExtraError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.networkx import read_networkx
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.text_source import read_bytes, utf8_text

_DEEPEST = 64  # elements inside one another
Makers = Iterator[tuple[str | None, Callable[[], Any]]]  # the id of each graph, and what makes it a NetworkX graph


def read_graphml(path: Path, options: ReadOptions) -> GraphSet:
    """Every graph of a document, or of each document in a folder."""
    return _read(path, ".graphml", _graphml, options)


def read_gexf(path: Path, options: ReadOptions) -> GraphSet:
    """As GraphML. The text GEXF calls the label of a node names this node and is no type: it is called ``caption``."""
    return _read(path, ".gexf", _gexf, options)


def read_gml(path: Path, options: ReadOptions) -> GraphSet:
    """As GEXF."""
    return _read(path, ".gml", _gml, options)


def _read(path: Path, suffix: str, parse: Callable[[str, bytes], Makers], options: ReadOptions) -> GraphSet:
    """A graph without an id, or of a folder, is called by its file."""
    paths = sorted(path.glob(f"*{suffix}")) if path.is_dir() else [path]
    graphs: list[tuple[int, Any]] = []
    position = 0
    for one in paths:
        stem = one.name.split(".")[0]
        try:
            makers = list(parse(one.name, read_bytes(one, options.limits)))
        except FormatError as error:
            if len(paths) == 1:
                raise
            position += 1
            options.log.add(position, one.name, str(error))  # one damaged file of a folder is a bad record
            continue
        for number, (identifier, make) in enumerate(makers):
            position += 1
            name = identifier if identifier and len(paths) == 1 else stem if len(makers) == 1 else f"{stem}-{number}"
            try:
                graph = _with_defaults(make())
            except (GlassError, MemoryError) as error:
                if not isinstance(error, GraphError):
                    raise
                options.log.add(position, name, str(error))
            except Exception as error:  # NetworkX fails on a damaged graph in ways that no list covers
                plain = isinstance(error, _networkx().NetworkXException)
                options.log.add(position, name, str(error) if plain else f"{type(error).__name__}: {error}")
            else:
                graph.graph["id"] = name
                graphs.append((position, graph))
    return read_networkx(graphs, options)


def _networkx() -> Any:
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError("Reading GraphML, GEXF and GML", "interop") from error
    return networkx


def _with_defaults(graph: Any) -> Any:
    """NetworkX keeps the declared defaults with the graph; here every node and edge gets them."""
    for items, name in ((graph.nodes(data=True), "node_default"), (graph.edges(data=True), "edge_default")):
        defaults = graph.graph.pop(name, {})
        for *_, data in items:
            data.update(defaults | data)
    return graph


def _graphml(name: str, content: bytes) -> Makers:
    reader = _networkx().readwrite.graphml.GraphMLReader
    root = _xml(name, content, reader.NS_GRAPHML)
    keys = reader().find_graphml_keys(root)

    def make(element: Element) -> object:
        return _checked(element, reader().make_graph(element, *keys))

    for element in root.findall("{*}graph"):
        yield element.get("id"), partial(make, element)


def _gexf(name: str, content: bytes) -> Makers:
    reader = _networkx().readwrite.gexf.GEXFReader(version="1.3")

    def make(element: Element) -> Any:
        graph = _with_captions(_checked(element, reader.make_graph(element)))
        del graph.graph["mode"]
        return graph

    for element in _xml(name, content, reader.NS_GEXF).findall("{*}graph"):
        yield element.get("id"), partial(make, element)


def _gml(name: str, content: bytes) -> Makers:
    # Parallel edges are an error to NetworkX unless the file announces them.
    text = re.sub(r"^(\s*graph\s*\[)", r"\1 multigraph 1 ", utf8_text(content, name), count=1, flags=re.MULTILINE)
    try:
        graph = _networkx().parse_gml(text.splitlines(), label=None)
    except (GlassError, MemoryError):
        raise
    except Exception as error:
        raise FormatError(f"{name} is not a GML graph: {error}.") from error
    found = graph.graph.get("id", graph.graph.get("name"))
    yield None if found is None else str(found), lambda: _with_captions(graph)


def _with_captions(graph: Any) -> Any:
    for _, data in graph.nodes(data=True):
        if (caption := data.pop("label", None)) is not None:
            data["caption"] = caption
    return graph


def _checked(element: Element, graph: Any) -> Any:
    """The graph of an element; NetworkX merges nodes of one id, adds nodes that only edges name, and skips nested ones.

    Ids of edges are no properties.
    """
    ids = Counter(node.get("id") for node in element.findall(".//{*}node"))
    (most, times), *_ = ids.most_common(1) or [(None, 0)]
    if times > 1:
        raise GraphError(f"node id {most!r:.60} occurs more than once")
    if unknown := [node for node in graph if node not in ids]:
        raise GraphError(f"an edge names node {unknown[0]!r:.60}, which the graph does not have")
    if len(ids) > len(graph) or any("pid" in data for _, data in graph.nodes(data=True)):
        raise GraphError("a node inside a node is not supported")
    for *_, data in graph.edges(data=True):
        data.pop("id", None)
    return graph


def _xml(name: str, content: bytes, namespace: str) -> Element:
    """The root of a document, its elements in the namespace that NetworkX looks for."""
    if not content:
        raise FormatError(f"{name} is empty (0 bytes).")
    parser = XMLParser(target=_Elements(name, namespace))  # noqa: S314 - document types are refused
    try:
        parser.feed(content)
        root: Element = parser.close()
    except ParseError as error:
        raise FormatError(f"{name} is not well-formed XML: {error}.") from error
    except (LookupError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{name} declares an encoding that cannot be read ({error}). Use UTF-8.") from error
    if root.find("{*}graph") is None:
        raise FormatError(f"{name} is XML, but holds no <graph>.")
    return root


class _Elements(TreeBuilder):
    """Builds a document without document types or entities; the root's namespace becomes `namespace`."""

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__()
        self.name, self.namespace = name, namespace
        self.own: str | None = None
        self.depth = 0

    def doctype(self, *_: object) -> NoReturn:
        raise FormatError(
            f"{self.name} declares a document type or entity. Such documents can expand without bound and are refused; "
            "remove the declaration."
        )

    def start(self, tag: Any, attributes: Any) -> Element:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise FormatError(f"{self.name} nests elements deeper than {_DEEPEST}.")
        if self.own is None:
            self.own = tag.rpartition("}")[0]
        return super().start(self._named(tag), attributes)

    def end(self, tag: Any) -> Element:
        self.depth -= 1
        return super().end(self._named(tag))

    def _named(self, tag: str) -> str:
        space, _, local = tag.rpartition("}")
        return f"{{{self.namespace}}}{local}" if space == self.own else tag
