"""XML documents that hold graphs, parsed without trust: no document types, no entities, no external references."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NoReturn
from xml.parsers import expat

from graphglass.errors import FormatError
from graphglass.graphs.readers.documents import DocumentGraph


@dataclass
class Key:
    """A declared property: its name, type and default."""

    name: str
    kind: str
    owner: str
    default: str | None = None


class XmlParser(ABC):
    """One pass over a document with expat; elements it does not know are skipped."""

    language = "XML"
    whole = frozenset({"int", "long", "integer"})
    real = frozenset({"float", "double"})

    def __init__(self, name: str) -> None:
        self.name = name
        self.graphs: list[DocumentGraph] = []
        self.graph: DocumentGraph | None = None
        self.keys: dict[tuple[str, str], Key] = {}  # by owner and id
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

    def open_graph(self, facts: dict[str, str], direction: str) -> DocumentGraph:
        """Start a graph whose fact ``direction`` says whether it is directed."""
        self.graph = DocumentGraph(self.expat.CurrentLineNumber, facts.get("id"), facts.get(direction) == "directed")
        self.graphs.append(self.graph)
        return self.graph

    def defaults(self, owner: str) -> dict[str, Any]:
        """The properties of a node or edge that gives none."""
        given = [key for key in self.keys.values() if key.default is not None and key.owner in (owner, "all")]
        return {key.name: self.value(key, str(key.default)) for key in given}

    @abstractmethod
    def started(self, element: str, facts: dict[str, str]) -> None:
        """Called at the start of every element."""

    @abstractmethod
    def ended(self, element: str, owner: str, text: str) -> None:
        """Called at the end of every element, with the element around it and the text inside."""

    def parse(self, content: bytes) -> list[DocumentGraph]:
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
