"""From requests to answers: the work that is done for a batch of them, in the service or in its worker process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.detector.explanation import Neighbour
from graphglass.drawing.graph_svg import draw_graph
from graphglass.errors import InputError, ModelConflictError, SchemaError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import GraphSet
from graphglass.serve import schemas
from graphglass.serve.graph_files import as_items
from graphglass.serve.reference_changes import CurrentService
from graphglass.serve.request_graphs import (
    Item,
    ServeLimits,
    item_names,
    own_values,
    read_items,
    rejections,
    request_items,
)
from graphglass.serve.service import REPLACED, Service
from graphglass.serve.worker_process import memory_limit

_MOLECULES = {
    "perfluorohexane": "FC(F)(F)C(F)(F)C(F)(F)C(F)(F)C(F)(F)C(F)(F)F",
    "ferrocene": "[CH-]1C=CC=C1.[CH-]1C=CC=C1.[Fe+2]",
}


def score_requests(
    service: Service, bounds: ServeLimits, requests: Sequence[schemas.ScoreRequest]
) -> list[schemas.ScoreAnswer | Exception]:
    """Read and score the graphs of several requests in one pass.

    A request that cannot be used gets its own error; the others are answered as if it were not there.
    """
    items = [request_items(request) for request in requests]
    try:
        sets, rejected = read_items(
            [item for part in items for item in part], bounds.reading, service.accept, service.reading
        )
        found = _measured(service, sets)
    except Exception as error:
        if len(requests) > 1:
            return [score_requests(service, bounds, [request])[0] for request in requests]
        return [error]
    answers: list[schemas.ScoreAnswer | Exception] = []
    start = 0
    for request, part in zip(requests, items, strict=True):
        names, places = item_names(part), range(start, start + len(part))
        refused = rejections({place - start: rejected[place] for place in places if place in rejected}, names)
        own = {place - start: found[place] for place in places if place in found}
        start += len(part)
        if own:
            results = _results(own, part, names, request.alpha)
            answers.append(schemas.ScoreAnswer.model_construct(results=results, rejected=refused, model=service.digest))
        else:
            answers.append(_nothing_usable("scored", refused))
    return answers


def explain_request(service: Service, bounds: ServeLimits, request: schemas.ExplainRequest) -> schemas.ExplainAnswer:
    """Why one graph has its score; with a private summary, the contributions of channels alone."""
    graphs, _ = _read_all(request, bounds, service, "explained")
    scored = service.accept(graphs)  # drawn is what was sent
    detector = service.detector
    if detector is None:
        contributions = {name: float(part[0]) for name, part in service.model.contributions(scored).items()}
        return schemas.ExplainAnswer(
            id=graphs.ids[0],
            score=sum(contributions.values()),
            contributions=contributions,
            drawing=_drawing(service, graphs),
        )
    explanation = detector.explain(scored, neighbours=request.neighbours)
    plain = draw_graph(graphs, coloured=service.coloured_labels or None)
    own = replace(explanation, graph=graphs).draw() if request.nodes else plain
    rings = [explanation.lacking] + [None] * len(explanation.neighbours)  # on the nearest
    neighbours = [
        _neighbour(service, item, detector.reference(item.id), lacking)
        for item, lacking in zip(explanation.neighbours, rings, strict=False)
    ]
    return schemas.ExplainAnswer(
        **explanation.to_json()
        | {
            "drawing": schemas.Drawing(**asdict(own)),
            "neighbours": neighbours,
            "resembles": [_neighbour(service, item, service.anomaly(item.id)) for item in explanation.resembles],
        }
    )


def place_request(service: Service, bounds: ServeLimits, request: schemas.Graphs) -> schemas.PlaceAnswer:
    """Places of some graphs on the map, which the first request has fitted."""
    detector = service.with_references("The map")
    graphs, rejected = _read_all(request, bounds, service, "placed", accepted=True)
    places = detector.map_positions(graphs)[1].tolist()
    return schemas.PlaceAnswer(ids=list(graphs.ids), places=places, rejected=rejected)


def read_additions(
    service: Service, bounds: ServeLimits, request: schemas.Graphs
) -> tuple[GraphSet, list[schemas.Rejected]]:
    """The graphs of a request in the form that the model's references have."""
    return _read_all(request, bounds, service, "added", accepted=True)


def add_graphs(
    current: CurrentService, read: tuple[GraphSet, list[schemas.Rejected]], anomalous: bool
) -> schemas.ChangeAnswer:
    """Add graphs to the trusted normals or to the known anomalies, durably."""
    added = current.add(read[0], anomalous=anomalous)
    return schemas.ChangeAnswer(total=current.service.count(anomalous), changed=list(added), rejected=read[1])


def remove_ids(current: CurrentService, ids: list[str], anomalous: bool) -> schemas.ChangeAnswer:
    """Remove trusted normals or known anomalies, durably."""
    current.remove(ids, anomalous=anomalous)
    return schemas.ChangeAnswer(total=current.service.count(anomalous), changed=ids)


def answer_in_worker(
    arguments: tuple[object, ...], digest: str, bounds: ServeLimits, work: Callable[..., object], request: object
) -> Any:
    """In the worker process: load the model if it has changed, then work on a request within its memory.

    ModelConflictError if the model on disk is not the one with this digest.
    """
    service = _loaded(arguments, digest)
    with memory_limit(bounds.worker_bytes):
        return work(service, bounds, request)


def score_request(service: Service, bounds: ServeLimits, request: schemas.ScoreRequest) -> schemas.ScoreAnswer:
    """Read and score the graphs of one request."""
    answer = score_requests(service, bounds, [request])[0]
    if isinstance(answer, Exception):
        raise answer
    return answer


@lru_cache(maxsize=1)
def _loaded(arguments: tuple[Any, ...], digest: str) -> Service:
    service = Service(*arguments)
    if service.digest != digest:
        raise ModelConflictError(REPLACED)
    return service


@dataclass(frozen=True)
class _Measured:
    """What is answered about one graph."""

    score: float
    p_value: float | None
    reference: bool
    known: bool
    nodes: int
    edges: int


def _measured(service: Service, sets: Sequence[GraphSet]) -> dict[int, _Measured]:
    """What is measured of every graph, by the place it has as id."""
    found: dict[int, _Measured] = {}
    for table in service.score_sets(sets) if sets else ():
        p_values = [None] * len(table) if table.p_values is None else table.p_values.tolist()
        columns = (table.reference, table.known, table.graphs.sizes, table.graphs.edge_counts)
        rows = zip(table.scores.tolist(), p_values, *(values.tolist() for values in columns), strict=True)
        found |= {int(name): _Measured(*row) for name, row in zip(table.ids, rows, strict=True)}
    return found


def _results(
    found: dict[int, _Measured], items: Sequence[Item], names: Sequence[str], alpha: float
) -> list[schemas.Scored]:
    ranks = {place: rank for rank, place in enumerate(sorted(found, key=lambda place: -found[place].score), start=1)}
    return [
        schemas.Scored.model_construct(
            id=names[place],
            position=place,
            rank=ranks[place],
            flagged=None if row.p_value is None else row.p_value <= alpha,
            columns=own_values(items[place]),
            **vars(row),
        )
        for place, row in sorted(found.items())
    ]


def _read_all(
    request: schemas.Graphs, bounds: ServeLimits, service: Service, done: str, *, accepted: bool = False
) -> tuple[GraphSet, list[schemas.Rejected]]:
    """The graphs of one request in one set, as they were sent or in the form the model reads."""
    items = request_items(request)
    names = item_names(items)
    accept = service.accept if accepted else GraphSet.without_labels
    sets, rejected = read_items(items, bounds.reading, accept, service.reading)
    refused = rejections(rejected, names)
    if not sets:
        raise _nothing_usable(done, refused)
    try:
        joined = concatenate(sets)
    except SchemaError as error:
        raise SchemaError(
            "The graphs of this request differ in their labels or attributes, and the model reads one kind of "
            "graphs. Send the kind its references are of."
        ) from error
    return replace(joined, ids=tuple(names[int(place)] for place in joined.ids)), refused


def _nothing_usable(done: str, rejected: Sequence[schemas.Rejected]) -> InputError:
    if not rejected:
        return InputError("The request holds no graph. Send at least one under 'graphs' or 'smiles'.")
    reasons = "; ".join(f"{item.id}: {item.reason}" for item in rejected[:3])
    more = f"; and {len(rejected) - 3} more" if len(rejected) > 3 else ""
    return InputError(f"No graph of this request can be {done}. {reasons}{more}")


def _neighbour(
    service: Service, item: Neighbour, graph: GraphSet, lacking: NDArray[np.float64] | None = None
) -> schemas.NeighbourAnswer:
    return schemas.NeighbourAnswer(**asdict(item), drawing=_drawing(service, graph, lacking))


def _drawing(service: Service, graph: GraphSet, lacking: NDArray[np.float64] | None = None) -> schemas.Drawing:
    return schemas.Drawing(**asdict(draw_graph(graph, coloured=service.coloured_labels or None, lacking=lacking)))


def example_request(references: GraphSet) -> schemas.Graphs:
    """The references and, of molecules, two unusual ones; of other graphs, one with a hub, and one as a chain."""
    records = list(as_items(references, references.ids))
    if references.atom_environments is not None:
        unusual = [schemas.Molecule(id=name, smiles=smiles) for name, smiles in _MOLECULES.items()]
        return schemas.Graphs(graphs=records, smiles=[*unusual])
    largest = max(records, key=lambda record: len(record["nodes"]))
    changed = [_changed(largest, "with a hub", hub=True), _changed(largest, "as a chain", hub=False)]
    return schemas.Graphs(graphs=[*records, *changed])


def _changed(record: dict[str, Any], what: str, *, hub: bool) -> dict[str, Any]:
    """The same nodes, with edges from the first node to all others added, or with edges along the list alone.

    New edges have the labels and values of old ones, without which the model would refuse them.
    """
    names = [node["id"] for node in record["nodes"]]
    pairs = [(names[0], name) for name in names[1:]] if hub else list(pairwise(names))
    old = [edge for edge in record["edges"] if isinstance(edge, dict)] or [{}]
    added = [{**old[i % len(old)], "source": one, "target": two} for i, (one, two) in enumerate(pairs)]
    return {**record, "id": f"{record['id']} {what}", "edges": [*record["edges"], *added] if hub else added}
