"""Requests: what they may cost, and their records and molecules as graphs, each read as if it came alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import Any

from graphglass.errors import GraphError, InputError, LimitError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import DEFAULT_LIMITS, Limits
from graphglass.graphs.molecules import MOST_CYCLES
from graphglass.graphs.read import read_report
from graphglass.graphs.reading import ReadingOptions
from graphglass.serve import schemas

Item = Mapping[str, Any]  # a node-link record as in JSON Lines files, or {"smiles": text, "id": name}
# Processor seconds as measured, rounded up: per graph; per node or edge; per edge and square root of edges (counting
# motifs); per pair of characters, triple of rings and pair of cycles of a molecule (its chemistry); and for an
# explanation, once and per node or edge.
_PER_GRAPH, _PER_ITEM, _PER_MOTIF, _PER_PAIR, _PER_RINGS, _PER_CYCLES = 1e-3, 4e-5, 1e-8, 1.5e-8, 2.5e-8, 2e-8
_EXPLAINED, _PER_EXPLAINED = 0.3, 2e-3
_RING_CLOSURE = re.compile(r"\[[^\]]*|(%\d\d|%\(\d+\)|\d)")  # or an atom in brackets, closed or not
_QUICK_BYTES = 1 << 12  # of a file that may be read within a second
_QUICK_SUFFIXES = ("", ".smi", ".smiles", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".txt", ".edges")


@dataclass(frozen=True)
class ServeLimits:
    """Bounds of the service."""

    body_bytes: int = 8 << 20  # largest request body, counted while it arrives
    graphs: int = 256  # most graphs of one request
    nodes: int = 100_000  # largest single graph
    edges: int = 1_000_000
    work_seconds: float = 120.0  # most estimated work of one request
    # Requests of more estimated work run in the worker process, where no other request waits for them.
    quick_seconds: float = 1.0
    waiting: int = 1024  # requests in line before new ones get 429
    waiting_slow: int = 4  # the same for requests that run in the worker process
    worker_bytes: int = 3 << 30  # memory that a request may take in the worker process
    batch_graphs: int = 512  # graphs scored together
    # Longest time to wait for an answer, for a body to arrive, and for work in the worker process.
    seconds: float = 60.0
    held_bytes: int = 256 << 20  # bodies of all requests together, which bounds the memory of many large ones
    file_graphs: int = 5000  # most graphs of a file that the inspector opens

    @property
    def reading(self) -> Limits:
        """The bounds of single graphs for the readers; the work of a whole request is bounded by its estimate."""
        return Limits(
            max_graphs=max(self.file_graphs, self.batch_graphs + self.graphs),
            max_nodes_per_graph=self.nodes,
            max_edges_per_graph=self.edges,
            max_bare_nodes=self.nodes,
            max_record_bytes=self.body_bytes,
            max_smiles_characters=schemas.LONGEST_TEXT,
            max_file_bytes=16 * self.body_bytes,
            max_zip_bytes=16 * self.body_bytes,
        )


def is_molecule(item: Item) -> bool:
    """Whether an item is read as SMILES. A record with nodes may have a value of the caller's own under that name."""
    return isinstance(item.get("smiles"), str) and "nodes" not in item


def estimated_seconds(item: Item, limits: Limits) -> float:
    """Processor seconds to score one record or molecule, from its size alone and without reading it.

    One past the limits costs little: it is rejected when it is read.
    """
    if is_molecule(item):
        length = len(item["smiles"])
        if length > limits.max_smiles_characters:
            return _PER_GRAPH
        closures = sum(bool(match[1]) for match in _RING_CLOSURE.finditer(item["smiles"]))
        chemistry = _PER_PAIR * length**2 + _PER_RINGS * (closures / 2) ** 3
        cycles = min(2.0 ** min(closures / 2, 60.0), MOST_CYCLES)  # of the rings, where they share atoms
        return float(_PER_GRAPH + _PER_ITEM * length + chemistry + _PER_CYCLES * cycles**2)
    nodes, edges = _size(item.get("nodes")), _size(item.get("edges", item.get("links")))
    if nodes > limits.max_nodes_per_graph or edges > limits.max_edges_per_graph:
        return _PER_GRAPH
    return float(_PER_GRAPH + _PER_ITEM * (nodes + edges) + _PER_MOTIF * edges**1.5)


def _size(value: object) -> int:
    if isinstance(value, list):
        return len(value)
    return max(value, 0) if isinstance(value, int) else 0


def request_items(request: schemas.Graphs) -> list[Item]:
    """The records of a request, then its molecules."""
    molecules = [{"smiles": item} if isinstance(item, str) else item.model_dump() for item in request.smiles]
    return [*request.graphs, *molecules]


def own_values(item: Item) -> dict[str, object]:
    """The caller's own values of a record: single values by name."""
    values = item.get("columns")
    if not isinstance(values, dict):
        return {}
    return {
        sendable(str(name)): sendable(value) if isinstance(value, str) else value
        for name, value in values.items()
        if value is None or isinstance(value, str | int | float)
    }


def request_size(request: schemas.Graphs) -> int:
    """Records of a request, readable or not."""
    return len(request.graphs) + len(request.smiles)


def check_work(request: schemas.Graphs, bounds: ServeLimits) -> float:
    """Estimated processor seconds of a request; LimitError before any of it is read if they are too many."""
    count = request_size(request)
    if count > bounds.graphs:
        raise LimitError(f"A request may hold {bounds.graphs} graphs, found {count}. Send them in several requests.")
    if isinstance(request, schemas.ExplainRequest) and count > 1:
        raise InputError(f"One graph is explained at a time, found {count}.")
    seconds = sum(estimated_seconds(item, bounds.reading) for item in request_items(request))
    if isinstance(request, schemas.ExplainRequest):
        # Of a large graph a part is drawn, and its usual time is far below the worst.
        worst = seconds + _EXPLAINED + _PER_EXPLAINED * seconds / _PER_ITEM
        seconds = min(worst, max(seconds, bounds.work_seconds))
    if seconds > bounds.work_seconds:
        raise LimitError(
            f"A request may take {bounds.work_seconds:g} seconds of work, and this one about {seconds:.0f}. Send fewer "
            "or smaller graphs at a time, or score the file with `glass score`."
        )
    return seconds


def is_quick_file(content: bytes, name: str) -> bool:
    """Whether a file is read within a second, even if every line is a molecule.

    Formats that unpack to more than they are never count.
    """
    if len(content) > _QUICK_BYTES or PurePath(name).suffix.lower() not in _QUICK_SUFFIXES:
        return False
    lines = content.decode("latin-1").split("\n")
    return sum(estimated_seconds({"smiles": line}, DEFAULT_LIMITS) for line in lines) <= 1.0


def item_names(items: Sequence[Item]) -> tuple[str, ...]:
    """A different name for every item: its id, its SMILES or its place."""
    names = []
    for place, item in enumerate(items):
        given = item.get("id")
        known = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else ""
        names.append(sendable(known or (item["smiles"] if is_molecule(item) else f"graph-{place}"))[:200])
    return unique(names)


def read_items(
    items: Sequence[Item],
    limits: Limits,
    accept: Callable[[GraphSet], GraphSet],
    reading: ReadingOptions | None = None,
) -> tuple[list[GraphSet], dict[int, str]]:
    """Graphs under the places of their items, and the reasons why other items are rejected.

    Items are read together, since most of a small read is its fixed cost. Where that could give an item labels or a
    rejection it would not get alone, the items are read in two halves instead.

    Parameters
    ----------
    items : sequence of mappings
    limits : Limits
    accept : callable
        Brings graphs into the form that the model reads, or raises an InputError.
    reading : ReadingOptions, optional
        How the references of the model were read.
    """
    # Separately, since a set has the chemistry of its molecules only if all of its graphs have it.
    groups: dict[tuple[str, bool], list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(("smi" if is_molecule(item) else "json-lines", "chemistry" in item), []).append(place)
    rejected: dict[int, str] = {}
    read = partial(_read, items, limits=limits, accept=accept, reading=reading, rejected=rejected)
    sets = [read(places, kind) for (kind, _), places in groups.items()]
    return [graphs for part in sets for graphs in part], rejected


def _read(
    items: Sequence[Item],
    places: list[int],
    kind: str,
    *,
    limits: Limits,
    accept: Callable[[GraphSet], GraphSet],
    reading: ReadingOptions | None,
    rejected: dict[int, str],
) -> list[GraphSet]:
    contents = [items[place]["smiles"] if kind == "smi" else {**items[place], "id": str(place)} for place in places]
    try:
        result = read_report(contents, format=kind, limits=limits, reading=reading)
        left_out = {places[item.position]: item.reason for item in result.rejects}
        # A missing label or attribute may be an error only among graphs that have it.
        together = kind == "smi" or not (left_out or "" in result.graphs.label_names.values())
        if together or len(places) == 1:
            kept = tuple(str(place) for place in places if place not in left_out)
            _check_text(result.graphs)
            accepted = [accept(replace(result.graphs, ids=kept))] if kept else []
            rejected |= left_out
            return accepted
    except InputError as error:
        if len(places) == 1:
            rejected[places[0]] = str(error)
            return []
    middle = len(places) // 2
    again = partial(_read, items, kind=kind, limits=limits, accept=accept, reading=reading, rejected=rejected)
    return [graphs for half in (places[:middle], places[middle:]) for graphs in again(half)]


def rejections(rejected: Mapping[int, str], names: Sequence[str]) -> list[schemas.Rejected]:
    """Rejected items as they are sent."""
    return [
        schemas.Rejected(position=place, id=names[place], reason=sendable(reason)[:500])
        for place, reason in sorted(rejected.items())
    ]


def sendable(text: str) -> str:
    """Text without half of a surrogate pair, which JSON can spell but no answer could carry back."""
    return text.encode("utf-8", "replace").decode()


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Names with a number behind those that were used before."""
    taken, told = set(names), []
    seen: dict[str, int] = {}
    for name in names:
        count = seen.get(name, 0) + 1
        while count > 1 and f"{name} ({count})" in taken:
            count += 1
        seen[name] = count
        told.append(name if count == 1 else f"{name} ({count})")
    return tuple(told)


def _check_text(graphs: GraphSet) -> None:
    nodes = [] if graphs.node_names is None else graphs.node_names.tolist()
    for texts in (graphs.attribute_names, graphs.label_names.values(), nodes):
        joined = "".join(texts)
        if joined != sendable(joined):
            raise GraphError("Names and labels must be valid Unicode text, found half of a surrogate pair.")
