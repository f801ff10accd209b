"""Node-link records and molecules as graphs: each is read, or rejected with a reason, as if it came alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphglass.errors import GraphError, InputError, LimitError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_report
from graphglass.serve import schemas
from graphglass.serve.request_limits import DELETIONS, PER_ITEM, Item, ServeLimits, estimated_seconds, is_molecule


def request_items(request: schemas.Graphs) -> list[Item]:
    """The records of a request, then its molecules."""
    molecules = [{"smiles": item} if isinstance(item, str) else item.model_dump() for item in request.smiles]
    return [*request.graphs, *molecules]


def own_values(item: Item) -> dict[str, Any]:
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
    if isinstance(request, schemas.ExplainRequest) and request.nodes:
        # An explanation scores a smaller copy of its graph per node, and fewer copies of a large graph.
        seconds = min(seconds * (1 + min(DELETIONS, seconds / PER_ITEM)), max(seconds, bounds.work_seconds))
    if seconds > bounds.work_seconds:
        raise LimitError(
            f"A request may take {bounds.work_seconds:g} seconds of work, and this one about {seconds:.0f}. Send fewer "
            "or smaller graphs at a time, or score the file with `glass score`."
        )
    return seconds


def item_names(items: Sequence[Item]) -> tuple[str, ...]:
    """A name for every item, no two alike: its id, its SMILES or its place."""
    names = []
    for place, item in enumerate(items):
        given = item.get("id")
        known = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else ""
        names.append(sendable(known or (str(item["smiles"]) if is_molecule(item) else f"graph-{place}"))[:200])
    return unique(names)


def read_items(
    items: Sequence[Item], limits: Limits, accept: Callable[[GraphSet], GraphSet]
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
    """
    # Apart from others, since a set has the chemistry of its molecules only if all of its graphs have it.
    groups: dict[tuple[str, bool], list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(("smi" if is_molecule(item) else "json-lines", "chemistry" in item), []).append(place)
    rejected: dict[int, str] = {}
    sets = [_read(items, places, kind, limits, accept, rejected) for (kind, _), places in groups.items()]
    return [graphs for part in sets for graphs in part], rejected


def _read(
    items: Sequence[Item],
    places: list[int],
    kind: str,
    limits: Limits,
    accept: Callable[[GraphSet], GraphSet],
    rejected: dict[int, str],
) -> list[GraphSet]:
    contents = [items[place]["smiles"] if kind == "smi" else {**items[place], "id": str(place)} for place in places]
    try:
        result = read_report(contents, format=kind, limits=limits)
        left_out = {places[item.position]: item.reason for item in result.rejects}
        # A missing label or attribute may be an error only beside graphs that have it.
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
    halves = (places[:middle], places[middle:])
    return [graphs for half in halves for graphs in _read(items, half, kind, limits, accept, rejected)]


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
    taken, told_apart = set(names), []
    seen: dict[str, int] = {}
    for name in names:
        count = seen.get(name, 0) + 1
        while count > 1 and f"{name} ({count})" in taken:
            count += 1
        seen[name] = count
        told_apart.append(name if count == 1 else f"{name} ({count})")
    return tuple(told_apart)


def _check_text(graphs: GraphSet) -> None:
    nodes = [] if graphs.node_names is None else graphs.node_names.tolist()
    for texts in (graphs.attribute_names, graphs.label_names.values(), nodes):
        joined = "".join(texts)
        if joined != sendable(joined):
            raise GraphError("Names and labels must be valid Unicode text, found half of a surrogate pair.")
