"""From requests to answers: what the worker thread does for a batch of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import InputError
from graphglass.graphs.graph_set import GraphSet, concatenate
from graphglass.serve import schemas
from graphglass.serve.drawings import drawing
from graphglass.serve.request_graphs import Share, check_size, read_molecules, read_request
from graphglass.serve.request_limits import ServeLimits
from graphglass.serve.service import Service


def score_requests(
    service: Service, bounds: ServeLimits, requests: Sequence[schemas.ScoreRequest]
) -> list[schemas.ScoreAnswer | Exception]:
    """Read and score the graphs of several requests with one forward pass.

    A request that cannot be used gets its own error; the others are answered as if it were not there.
    """
    answers: list[schemas.ScoreAnswer | Exception] = [RuntimeError("unanswered")] * len(requests)
    readings: list[tuple[GraphSet, list[tuple[int, Share]]]] = []
    for places in _together(requests):
        try:
            readings.append(_read(service, bounds, requests, places))
        except Exception as error:
            if len(places) > 1:  # one request must not take the others down with it
                return [score_requests(service, bounds, [request])[0] for request in requests]
            answers[places[0]] = error
    filled = [graphs for graphs, _ in readings if len(graphs)]
    try:
        scores = service.score(filled[0] if len(filled) == 1 else _joined(filled)) if filled else np.empty(0)
    except Exception as error:
        if len(requests) > 1:
            return [score_requests(service, bounds, [request])[0] for request in requests]
        return [error]
    start = 0
    for graphs, shares in readings:
        part = scores[start : start + len(graphs)]
        start += len(graphs)
        for place, share in shares:
            results = _scored(service, graphs, share, part[share.start : share.stop], requests[place].alpha)
            answers[place] = schemas.ScoreAnswer.model_construct(
                results=results, rejected=share.rejected, model=service.fingerprint
            )
    return answers


def explain_request(service: Service, bounds: ServeLimits, request: schemas.ExplainRequest) -> schemas.ExplainAnswer:
    """Everything the page shows about one graph; with a private summary, the channel contributions alone."""
    graph, rejected = read_request(request, bounds)
    if len(graph) != 1:
        reasons = "; ".join(item.reason for item in rejected)
        raise InputError(f"One graph is explained at a time, found {len(graph)} to read. {reasons}".strip())
    graph = service.completed(graph.without_labels())
    service.check(graph)
    scored = service.comparable(graph)  # as /v1/score does; drawn is what was sent
    if service.detector is None:
        contributions = service.contributions(scored)
        return schemas.ExplainAnswer(
            id=graph.ids[0], score=sum(contributions.values()), p_value=None, contributions=contributions,
            drawing=drawing(graph), neighbours=[], fields=[], place=None, rejected=rejected,
        )  # fmt: skip
    told, place = service.explain(scored, request.neighbours, request.nodes)
    return schemas.ExplainAnswer(
        id=told.id,
        score=told.score,
        p_value=told.p_value,
        contributions=dict(told.contributions),
        drawing=drawing(graph, told.node_attribution if request.nodes else None),
        neighbours=[
            schemas.NeighbourAnswer(id=item.id, similarity=item.similarity, drawing=drawing(service.reference(item.id)))
            for item in told.neighbours
        ],
        fields=[schemas.FieldAnswer(**_field(item)) for item in told.fields],
        place=place,
        rejected=rejected,
    )


def add_request(service: Service, bounds: ServeLimits, request: schemas.Graphs) -> schemas.ChangeAnswer:
    """Add the graphs of a request to the references, durably."""
    graphs, rejected = read_request(request, bounds, service.readable)
    if not len(graphs):
        raise InputError("; ".join(item.reason for item in rejected) or "Send at least one graph to add.")
    graphs = service.completed(graphs.without_labels())
    service.check(graphs)
    added = service.add(graphs)
    return schemas.ChangeAnswer(total=service.reference_count, changed=list(added), rejected=rejected)


def _together(requests: Sequence[schemas.ScoreRequest]) -> list[list[int]]:
    """Which requests are read in one go: all of molecules alone, and each other by itself."""
    molecules = [place for place, request in enumerate(requests) if request.smiles and not request.graphs]
    rest = [[place] for place in range(len(requests)) if place not in set(molecules)]
    return [molecules, *rest] if molecules else rest


def _read(
    service: Service, bounds: ServeLimits, requests: Sequence[schemas.ScoreRequest], places: list[int]
) -> tuple[GraphSet, list[tuple[int, Share]]]:
    for place in places:
        check_size(requests[place], bounds)
    if len(places) > 1:
        # Past the bounds of one request the batch is read request by request instead.
        limits = replace(bounds.reading, max_graphs=bounds.batch_graphs + bounds.graphs)
        graphs, shares = read_molecules([requests[place] for place in places], limits)
    else:
        graphs, rejected = read_request(requests[places[0]], bounds, service.readable)
        shares = [Share(0, len(graphs), graphs.ids, rejected)]
    if len(graphs):
        graphs = service.completed(graphs)
        service.check(graphs)
        graphs = service.comparable(graphs)
    return graphs, list(zip(places, shares, strict=True))


def _joined(parts: Sequence[GraphSet]) -> GraphSet:
    """One set under running numbers, since several requests may use the same id."""
    start, renamed = 0, []
    for part in parts:
        renamed.append(replace(part, ids=tuple(map(str, range(start, start + len(part))))))
        start += len(part)
    return concatenate(renamed)


def _scored(
    service: Service, graphs: GraphSet, share: Share, scores: NDArray[np.float64], alpha: float
) -> list[schemas.Scored]:
    if not len(scores):
        return []
    rows = slice(share.start, share.stop)
    sizes, edges, p_values = graphs.sizes[rows], graphs.edge_counts[rows], service.p_values(scores)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return [
        schemas.Scored.model_construct(
            id=name,
            score=float(scores[i]),
            rank=int(ranks[i]),
            p_value=None if p_values is None else float(p_values[i]),
            flagged=None if p_values is None else bool(p_values[i] <= alpha),
            nodes=int(sizes[i]),
            edges=int(edges[i]),
        )
        for i, name in enumerate(share.names)
    ]


def _field(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in schemas.FieldAnswer.model_fields}
