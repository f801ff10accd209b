"""The REST API and the page, as one ASGI application."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from graphglass import __version__
from graphglass.errors import GlassError, InputError
from graphglass.graphs.graph_set import GraphSet
from graphglass.serve import schemas
from graphglass.serve.auth import allowed
from graphglass.serve.batcher import Batcher, BusyError
from graphglass.serve.drawings import drawing
from graphglass.serve.limits import BodyLimit, ServeLimits
from graphglass.serve.metrics import Metrics
from graphglass.serve.problems import problem_response
from graphglass.serve.reading import read_request
from graphglass.serve.service import Service

OPEN_ROUTES = ("/healthz", "/readyz")
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"description": text, "content": {"application/problem+json": {}}}
    for code, text in ((400, "Bad request"), (401, "No token"), (413, "Too large"), (422, "Cannot be used"),
                       (429, "Too many requests"), (503, "Too slow"))
}  # fmt: skip
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def create_app(service: Service, *, token: str | None = None, limits: ServeLimits | None = None) -> FastAPI:
    """The application around one service."""
    bounds = limits or ServeLimits()
    metrics = Metrics()
    batcher = Batcher(service.score, batch_graphs=bounds.batch_graphs, waiting=bounds.waiting)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        await batcher.stop()

    app = FastAPI(
        title="GraphGlass",
        version=__version__,
        description="Rank graphs by how abnormal they are against a set of normal graphs.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=PROBLEMS,
    )
    app.state.batcher, app.state.metrics = batcher, metrics
    _add_guards(app, metrics, token)
    app.add_middleware(BodyLimit, limit=bounds.body_bytes)

    async def timely(work: Awaitable[Any]) -> Any:
        metrics.waiting.set(batcher.waiting)
        return await asyncio.wait_for(work, bounds.seconds)

    def readable(request: schemas.Graphs) -> tuple[GraphSet, list[schemas.Rejected]]:
        graphs, rejected = read_request(request, bounds)
        metrics.rejected.inc(len(rejected))
        if len(graphs):
            service.check(graphs)
        return graphs, rejected

    def one(request: schemas.Graphs) -> tuple[GraphSet, list[schemas.Rejected]]:
        graphs, rejected = readable(request)
        if len(graphs) != 1:
            reasons = "; ".join(item.reason for item in rejected)
            raise InputError(f"One graph is explained at a time, found {len(graphs)} to read. {reasons}".strip())
        return graphs, rejected

    @app.post("/v1/score")
    async def score(request: schemas.ScoreRequest) -> schemas.ScoreAnswer:
        """Score and rank graphs. Records that cannot be read are listed with the reason; the rest goes on."""
        graphs, rejected = await asyncio.to_thread(readable, request)
        results: list[schemas.Scored] = []
        if len(graphs):
            scores = await timely(batcher.scores(service.comparable(graphs)))
            results = _scored(service, graphs, scores, request.alpha)
            metrics.graphs.inc(len(graphs))
            metrics.flagged.inc(sum(bool(item.flagged) for item in results))
        return schemas.ScoreAnswer(results=results, rejected=rejected, model=service.fingerprint)

    @app.post("/v1/explain")
    async def explain(request: schemas.ExplainRequest) -> schemas.ExplainAnswer:
        """Say why one graph has its score. Where a private summary is served, only channel contributions are told."""
        graphs, rejected = await asyncio.to_thread(one, request)
        return await timely(batcher.run(_explained, service, graphs, request, rejected))

    @app.get("/v1/model")
    async def model() -> schemas.ModelAnswer:
        """What is served."""
        return schemas.ModelAnswer(**service.facts())

    @app.get("/v1/map")
    async def reference_map() -> schemas.MapAnswer:
        """The references on the flat map of the sphere."""
        ids, places = await timely(batcher.run(service.reference_map))
        return schemas.MapAnswer(ids=list(ids), places=[(float(x), float(y)) for x, y in places])

    @app.get("/v1/references")
    async def list_references(
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 100
    ) -> schemas.ReferenceAnswer:
        """Ids and leave-one-out scores of the references."""
        rows = service.references()
        return schemas.ReferenceAnswer(total=len(rows), references=rows[offset : offset + limit])

    @app.post("/v1/references", status_code=201)
    async def add_references(request: schemas.Graphs) -> schemas.ChangeAnswer:
        """Add trusted normal graphs; the change is on disk and in the audit log when this answers."""
        graphs, rejected = await asyncio.to_thread(readable, request)
        if not len(graphs):
            raise InputError("; ".join(item.reason for item in rejected) or "Send at least one graph to add.")
        total = await timely(batcher.run(service.add, graphs.without_labels()))
        metrics.references.set(total)
        return schemas.ChangeAnswer(total=total, changed=list(graphs.ids), rejected=rejected)

    @app.delete("/v1/references")
    async def remove_references(
        ids: Annotated[list[schemas.Name], Query(alias="id", min_length=1, max_length=1000)],
    ) -> schemas.ChangeAnswer:
        """Remove references by id."""
        total = await timely(batcher.run(service.remove, ids))
        metrics.references.set(total)
        return schemas.ChangeAnswer(total=total, changed=ids)

    @app.get("/healthz", response_class=PlainTextResponse)
    async def healthz() -> str:
        """The process answers."""
        return "ok"

    @app.get("/readyz", response_class=PlainTextResponse)
    async def readyz() -> str:
        """The model is loaded and can score."""
        await timely(batcher.run(service.ready))
        return "ready"

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics_page() -> Response:
        """Counters in Prometheus' format."""
        return Response(metrics.page(), media_type="text/plain; version=0.0.4")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        from graphglass.serve.docs_page import docs_page

        return Response(docs_page(app.openapi()), media_type="text/html")

    web = str(files("graphglass.serve").joinpath("web"))
    app.mount("/", StaticFiles(directory=web, html=True), name="web")
    return app


def _add_guards(app: FastAPI, metrics: Metrics, token: str | None) -> None:
    """Security headers, the token, counting, and errors as problems."""

    @app.middleware("http")
    async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        start = time.perf_counter()
        path = request.url.path
        is_data = path.startswith("/v1/") or path in ("/metrics", "/openapi.json", "/docs")
        if token is not None and is_data and not allowed(request.headers.get("authorization"), token):
            response: Response = problem_response(401, "Send the token as 'Authorization: Bearer TOKEN'.")
            response.headers["WWW-Authenticate"] = "Bearer"
        else:
            response = await call_next(request)
        route = path if is_data or path in OPEN_ROUTES else "/"
        known = response.status_code != 404
        metrics.requests.labels(route if known else "other", str(response.status_code)).inc()
        metrics.seconds.labels(route if known else "other").observe(time.perf_counter() - start)
        for name, value in HEADERS.items():
            response.headers[name] = value
        return response

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        # The offending input is left out: it may be a graph.
        first = error.errors()[0]
        return problem_response(422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}.")

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return problem_response(error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(GlassError)
    async def unusable(_: Request, error: GlassError) -> Response:
        return problem_response(422, str(error))

    @app.exception_handler(BusyError)
    async def busy(_: Request, __: BusyError) -> Response:
        return problem_response(429, "Too many requests are waiting. Try again in a moment.", {"Retry-After": "1"})

    @app.exception_handler(TimeoutError)
    async def slow(_: Request, __: TimeoutError) -> Response:
        return problem_response(503, "The answer took too long. Send fewer or smaller graphs.", {"Retry-After": "5"})

    @app.exception_handler(Exception)
    async def broken(_: Request, __: Exception) -> Response:
        return problem_response(500, "The service failed on this request; its log says why.")


def _scored(service: Service, graphs: GraphSet, scores: Any, alpha: float) -> list[schemas.Scored]:
    p_values = service.p_values(scores)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return [
        schemas.Scored(
            id=name,
            score=float(scores[i]),
            rank=int(ranks[i]),
            p_value=None if p_values is None else float(p_values[i]),
            flagged=None if p_values is None else bool(p_values[i] <= alpha),
            nodes=int(graphs.sizes[i]),
            edges=int(graphs.edge_counts[i]),
        )
        for i, name in enumerate(graphs.ids)
    ]


def _explained(
    service: Service, graph: GraphSet, request: schemas.ExplainRequest, rejected: list[schemas.Rejected]
) -> schemas.ExplainAnswer:
    graph = graph.without_labels()
    if service.detector is None:
        contributions = service.contributions(graph)
        return schemas.ExplainAnswer(
            id=graph.ids[0], score=sum(contributions.values()), p_value=None, contributions=contributions,
            drawing=drawing(graph), neighbours=[], fields=[], place=None, rejected=rejected,
        )  # fmt: skip
    told, place = service.explain(graph, request.neighbours, request.nodes)
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


def _field(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in schemas.FieldAnswer.model_fields}
