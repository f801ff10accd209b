"""The graphs of a request, read with the service's limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graphglass.errors import GraphError, LimitError, SchemaError
from graphglass.graphs.graph_set import GraphSet, concatenate
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_report
from graphglass.serve import schemas
from graphglass.serve.request_limits import ServeLimits


@dataclass(frozen=True)
class Share:
    """Rows ``start:stop`` of a set belong to one request, under these names."""

    start: int
    stop: int
    names: tuple[str, ...]
    rejected: list[schemas.Rejected]


def request_size(request: schemas.Graphs) -> int:
    """Records of a request, readable or not."""
    return len(request.graphs) + len(request.smiles)


def check_size(request: schemas.Graphs, bounds: ServeLimits) -> None:
    """Refuse a request of too many records before any is read."""
    count = request_size(request)
    if count > bounds.graphs:
        raise LimitError(f"A request may hold {bounds.graphs} graphs, found {count}. Send them in several requests.")


def read_request(
    request: schemas.Graphs, bounds: ServeLimits, form: Callable[[GraphSet], GraphSet] = lambda graphs: graphs
) -> tuple[GraphSet, list[schemas.Rejected]]:
    """Node-link records, then molecules, in the order of the request; ids are made unique.

    Both take on the ``form`` that a model reads before they are joined, for which they must be alike.
    """
    check_size(request, bounds)
    parts: list[GraphSet] = []
    names: list[str] = []
    rejected: list[schemas.Rejected] = []
    if request.graphs:
        result = read_report(request.graphs, format="json-lines", limits=bounds.reading)
        rejected += [_rejected(item.position, item.id, item.reason) for item in result.rejects]
        _check_text(result.graphs)
        parts.append(result.graphs)
        names += result.graphs.ids
    if request.smiles:
        graphs, (share,) = read_molecules([request], bounds.reading)
        before = len(request.graphs)
        rejected += [item.model_copy(update={"position": before + item.position}) for item in share.rejected]
        parts.append(graphs)
        names += share.names
    ids = _unique(names)
    if len(parts) == 1:
        return replace(parts[0], ids=ids), rejected
    parts = [replace(form(part), ids=tuple(f"{place} {name}" for name in part.ids)) for place, part in enumerate(parts)]
    try:
        return replace(concatenate(parts), ids=ids), rejected
    except SchemaError as error:
        raise SchemaError(
            "The node-link records of this request carry other labels or attributes than molecules do, and the model "
            "reads one kind of graphs. Send the kind its references are of."
        ) from error


def read_molecules(requests: Sequence[schemas.Graphs], limits: Limits) -> tuple[GraphSet, list[Share]]:
    """The molecules of several requests at once, since most of a small read is its fixed cost.

    Every molecule carries the same labels and attributes, so what one request gets does not depend on the others.
    """
    molecules = [[_molecule(item) for item in request.smiles] for request in requests]
    flat = [item.smiles for part in molecules for item in part]
    result = read_report(flat, format="smi", limits=limits)
    reasons = {item.position: item.reason for item in result.rejects}
    shares: list[Share] = []
    place = row = 0
    for part in molecules:
        kept, rejected = [], []
        for position, item in enumerate(part):
            name = item.id or item.smiles[:200]
            if place in reasons:
                rejected.append(_rejected(position, name, reasons[place]))
            else:
                kept.append(name)
            place += 1
        shares.append(Share(row, row + len(kept), _unique(kept), rejected))
        row += len(kept)
    return result.graphs, shares


def _molecule(item: str | schemas.Molecule) -> schemas.Molecule:
    return schemas.Molecule.model_construct(smiles=item, id=None) if isinstance(item, str) else item


def _rejected(position: int, name: str, reason: str) -> schemas.Rejected:
    return schemas.Rejected(position=position, id=_sendable(name)[:200], reason=_sendable(reason)[:500])


def _check_text(graphs: GraphSet) -> None:
    """Refuse half of a surrogate pair: JSON can spell one, but no answer could carry it back."""
    nodes = [] if graphs.node_names is None else graphs.node_names.tolist()
    for texts in (graphs.ids, graphs.attribute_names, graphs.label_names.values(), nodes):
        joined = "".join(texts)
        if joined != _sendable(joined):
            raise GraphError("Names and labels must be valid Unicode text, found half of a surrogate pair.")


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _unique(ids: Sequence[str]) -> tuple[str, ...]:
    taken, unique = set(ids), []
    seen: dict[str, int] = {}
    for name in ids:
        count = seen.get(name, 0) + 1
        while count > 1 and f"{name} ({count})" in taken:
            count += 1
        seen[name] = count
        unique.append(name if count == 1 else f"{name} ({count})")
    return tuple(unique)
