"""GML documents: keys and values, nested in square brackets."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

from graphglass.errors import FormatError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.documents import DocumentGraph, read_documents
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.text_source import utf8_text

_TOKEN = re.compile(r'\s*+(?:#[^\n]*+\s*+)*+(?:(\[)|(\])|"([^"]*)"|([^\s\[\]"]+)|$)')
_DEEPEST = 64
_Pairs = list[tuple[str, Any]]


def read_gml(path: Path, options: ReadOptions) -> GraphSet:
    """The graph of a document, or of each document in a folder.

    The text GML calls ``label`` of a node usually names this node and is no type: it is the property ``caption``.
    """
    return read_documents(path, ".gml", _parse, options)


def _parse(name: str, content: bytes) -> list[DocumentGraph]:
    graphs = []
    for key, value in _pairs(name, utf8_text(content, name)):
        if key == "graph" and isinstance(value, list):
            graphs.append(_graph(value))
    if not graphs:
        raise FormatError(f"{name} holds no GML graph: 'graph [ node [ id 0 ] ... ]' was expected.")
    return graphs


def _pairs(name: str, text: str) -> _Pairs:
    """The key and value pairs of a document; a value in brackets is such a list again."""
    stack: list[_Pairs] = [[]]
    key: str | None = None
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        opened, closed, quoted, bare = found.groups() if found else ("",) * 4
        if found is None or (key is None and (opened or quoted is not None)) or (key is not None and closed):
            line = text.count("\n", 0, place) + 1
            raise FormatError(f"{name} line {line} is not GML: a key and a value were expected.")
        place = found.end()
        if opened and key is not None:
            nested: _Pairs = [("line", text.count("\n", 0, place) + 1)] if key == "graph" else []
            stack[-1].append((key, nested))
            stack.append(nested)
            key = None
        elif closed:
            stack.pop()
        elif key is None:
            key = bare
        else:
            stack[-1].append((key, unescape(quoted) if quoted is not None else _number(bare)))
            key = None
        if not 0 < len(stack) <= _DEEPEST:
            raise FormatError(f"{name} has a bracket that closes nothing, or nests deeper than {_DEEPEST}.")
    if len(stack) > 1 or key is not None:
        raise FormatError(f"{name} ends inside of a bracket or after a key. It may be truncated.")
    return stack[0]


def _number(text: str | Any) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _graph(pairs: _Pairs) -> DocumentGraph:
    facts = dict(pairs)
    graph = DocumentGraph(facts["line"], None, facts.get("directed") == 1)
    for key, value in pairs:
        data = dict(value) if isinstance(value, list) else {}
        if key == "node":
            if "label" in data:
                data["caption"] = data.pop("label")
            graph.nodes.append(data.pop("id", len(graph.nodes)))
            graph.node_data.append(data)
        elif key == "edge":
            graph.edges.append((data.pop("source", None), data.pop("target", None)))
            graph.edge_data.append(data)
        elif not isinstance(value, list) and key not in ("line", "directed"):
            graph.data[key] = value
    graph.id = str(facts["id"]) if "id" in facts else str(facts["name"]) if "name" in facts else None
    return graph
