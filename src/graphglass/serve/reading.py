"""The graphs of a request, read with the service's limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graphglass.errors import LimitError
from graphglass.graphs.graph_set import GraphSet, concatenate
from graphglass.graphs.read import read_report
from graphglass.serve import schemas
from graphglass.serve.limits import ServeLimits


def read_request(request: schemas.Graphs, bounds: ServeLimits) -> tuple[GraphSet, list[schemas.Rejected]]:
    """Node-link records, then molecules, in the order of the request; ids are made unique."""
    count = len(request.graphs) + len(request.smiles)
    if count > bounds.graphs:
        raise LimitError(f"A request may hold {bounds.graphs} graphs, found {count}. Send them in several requests.")
    parts: list[GraphSet] = []
    rejected: list[schemas.Rejected] = []
    if request.graphs:
        _read(request.graphs, parts, rejected, bounds, None)
    if request.smiles:
        molecules = [schemas.Molecule(smiles=item) if isinstance(item, str) else item for item in request.smiles]
        _read([item.smiles for item in molecules], parts, rejected, bounds, [item.id for item in molecules])
    graphs = concatenate(parts)
    return replace(graphs, ids=_unique(graphs.ids)), rejected


def _read(
    content: Sequence[Any],
    parts: list[GraphSet],
    rejected: list[schemas.Rejected],
    bounds: ServeLimits,
    names: list[str | None] | None,
) -> None:
    result = read_report(list(content), format="json-lines" if names is None else "smi", limits=bounds.reading)
    left_out = {item.position for item in result.rejects}
    rejected += [schemas.Rejected(position=item.position, id=item.id, reason=item.reason) for item in result.rejects]
    graphs = result.graphs
    if names is not None:
        kept = [place for place in range(len(content)) if place not in left_out]
        graphs = replace(graphs, ids=tuple(names[place] or content[place][:200] for place in kept))
    parts.append(graphs)


def _unique(ids: Sequence[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    unique = []
    for name in ids:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(unique)
