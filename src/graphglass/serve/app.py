"""The REST API and the page, as one ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Collection
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from graphglass import __version__
from graphglass.errors import GlassError, InputError, MissingExtraError
from graphglass.serve import schemas
from graphglass.serve.answers import add_request, explain_request, score_requests
from graphglass.serve.batcher import Batcher, BusyError
from graphglass.serve.body_limit import BodyLimit
from graphglass.serve.counters import Metrics
from graphglass.serve.guard import Guard
from graphglass.serve.problems import problem_response
from graphglass.serve.request_graphs import request_size
from graphglass.serve.request_limits import ServeLimits
from graphglass.serve.service import Service

logger = logging.getLogger("graphglass.serve")

PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"description": text, "content": {"application/problem+json": {}}}
    for code, text in ((400, "Bad request"), (401, "No token"), (408, "Too slow a body"), (413, "Too large"),
                       (421, "Another host"), (422, "Cannot be used"), (429, "Too many requests"),
                       (500, "Failed"), (503, "Too slow"))
}  # fmt: skip


def create_app(
    service: Service,
    *,
    token: str | None = None,
    limits: ServeLimits | None = None,
    hosts: Collection[str] | None = None,
) -> FastAPI:
    """The application around one service.

    Parameters
    ----------
    service : Service
    token : str, optional
        Needed by clients if given.
    limits : ServeLimits, optional
    hosts : collection of str, optional
        Host names the service may be called by; any if absent.
    """
    bounds = limits or ServeLimits()
    metrics = Metrics()
    batcher = Batcher(
        partial(score_requests, service, bounds),
        size=request_size,
        batch_graphs=bounds.batch_graphs,
        waiting=bounds.waiting,
    )

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
    metrics.references.set(service.facts()["references"])
    _tell_problems(app)
    app.add_middleware(BodyLimit, limits=bounds)
    app.add_middleware(Guard, metrics=metrics, token=token, hosts=hosts)

    async def timely(work: Awaitable[Any]) -> Any:
        metrics.waiting.set(batcher.waiting)
        async with asyncio.timeout(bounds.seconds):
            return await work

    @app.post("/v1/score", response_model=schemas.ScoreAnswer)
    async def score(request: schemas.ScoreRequest) -> Response:
        """Score and rank graphs. Records that cannot be read are listed with the reason; the rest goes on."""
        answer: schemas.ScoreAnswer = await timely(batcher.answer(request))
        metrics.graphs.inc(len(answer.results))
        metrics.rejected.inc(len(answer.rejected))
        metrics.flagged.inc(sum(bool(item.flagged) for item in answer.results))
        return Response(answer.model_dump_json(), media_type="application/json")

    @app.post("/v1/explain")
    async def explain(request: schemas.ExplainRequest) -> schemas.ExplainAnswer:
        """Say why one graph has its score. Where a private summary is served, only channel contributions are told."""
        return await timely(batcher.run(explain_request, service, bounds, request))

    @app.get("/v1/model")
    async def model() -> schemas.ModelAnswer:
        """What is served."""
        return schemas.ModelAnswer(**service.facts(), graphs_per_request=bounds.graphs)

    @app.get("/v1/map")
    async def reference_map() -> schemas.MapAnswer:
        """The references on the flat map of the sphere."""
        ids, places = await timely(batcher.run(service.reference_map))
        return schemas.MapAnswer(ids=list(ids), places=[(float(x), float(y)) for x, y in places])

    @app.get("/v1/references")
    async def list_references(
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 100
    ) -> schemas.ReferenceAnswer:
        """Ids and leave-one-out scores of the references; of a very large set, those of the sample kept whole."""
        rows = service.references()
        return schemas.ReferenceAnswer(
            total=service.reference_count, listed=len(rows), references=rows[offset : offset + limit]
        )

    @app.post("/v1/references", status_code=201)
    async def add_references(request: schemas.Graphs) -> schemas.ChangeAnswer:
        """Add trusted normal graphs; the change is on disk and in the audit log when this answers."""
        answer: schemas.ChangeAnswer = await timely(batcher.run(add_request, service, bounds, request))
        metrics.references.set(answer.total)
        return answer

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


def _tell_problems(app: FastAPI) -> None:
    """Expected errors as problems."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        # The offending input is left out: it may be a graph.
        first = error.errors()[0]
        return problem_response(422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}.")

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return problem_response(error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(InputError)
    @app.exception_handler(MissingExtraError)
    async def unusable(_: Request, error: GlassError) -> Response:
        return problem_response(422, str(error))

    @app.exception_handler(GlassError)
    async def failed(_: Request, error: GlassError) -> Response:
        # These speak of files and settings of the service: for its owner, not for its clients.
        logger.error("%s: %s", type(error).__name__, error)
        return problem_response(500, "The service could not do this and changed nothing; its log says why.")

    @app.exception_handler(BusyError)
    async def busy(_: Request, __: BusyError) -> Response:
        return problem_response(429, "Too many requests are waiting. Try again in a moment.", {"Retry-After": "1"})

    @app.exception_handler(TimeoutError)
    async def slow(_: Request, __: TimeoutError) -> Response:
        return problem_response(503, "The answer took too long. Send fewer or smaller graphs.", {"Retry-After": "5"})
