"""The REST API and the inspector, as one ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from fastapi.staticfiles import StaticFiles
from prometheus_client import generate_latest
from starlette.exceptions import HTTPException

from graphglass import __version__
from graphglass.errors import GlassError, InputError, MissingExtraError, ModelConflictError, UnknownColumnsError
from graphglass.serve import schemas
from graphglass.serve.answers import (
    add_graphs,
    answer_in_worker,
    example_request,
    explain_request,
    place_request,
    read_additions,
    remove_ids,
    score_request,
    score_requests,
)
from graphglass.serve.drift import drift_curve
from graphglass.serve.graph_files import file_answer, read_in_worker
from graphglass.serve.middleware import BodyLimit, Counters, Guard, problem_response
from graphglass.serve.pages import docs_page, inspector_page, style_sheet
from graphglass.serve.queues import Batcher, BusyError, WorkThread
from graphglass.serve.reference_changes import CurrentService
from graphglass.serve.request_graphs import ServeLimits, check_work, is_quick_file, request_size
from graphglass.serve.reviews import Reviews, UnknownReviewError
from graphglass.serve.service import Service
from graphglass.serve.worker_process import WorkerProcess

logger = logging.getLogger("graphglass.serve")

T = TypeVar("T")
_STATUSES = {
    400: "Bad request", 401: "No token", 404: "Not held", 405: "Wrong method", 408: "Body too slow",
    409: "Model on disk is in the way",
    413: "Body too large", 421: "Another host", 422: "Cannot be used", 429: "Too many requests", 500: "Failed",
    503: "Took too long",
}  # fmt: skip
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"description": text, "content": {"application/problem+json": {}}} for code, text in _STATUSES.items()
}
_Ids = Annotated[list[schemas.Name], Query(alias="id", min_length=1, max_length=1000)]
_FILE_BODY = {
    "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
}
_QUICK_SCORES = 2000  # of a drift request; more of them go to the worker process


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
    counters = Counters()
    current = CurrentService(service)
    batcher = Batcher(
        lambda requests: score_requests(current.service, bounds, requests),
        size=request_size,
        batch_graphs=bounds.batch_graphs,
        waiting=bounds.waiting,
    )
    worker = WorkerProcess(seconds=bounds.seconds, waiting=bounds.waiting_slow)
    # Beginning a review compares all its graphs with all references; scores must not wait for that.
    reviews, reviewing = Reviews(bounds), WorkThread("glass-review", bounds.waiting_slow)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        await batcher.run(current.service.ready)  # compiled kernels load now, not during the first request
        batcher.prepare(current.prepare_map)
        yield
        await batcher.stop()
        reviewing.stop()
        worker.stop()

    app = FastAPI(
        title="GraphGlass",
        version=__version__,
        description="Rank graphs by how abnormal they are against a set of normal graphs.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        responses=PROBLEMS,
    )
    app.state.batcher, app.state.worker = batcher, worker
    counters.references.set(current.service.reference_count)
    _answer_problems(app)
    app.add_middleware(BodyLimit, limits=bounds)
    app.add_middleware(Guard, counters=counters, token=token, hosts=hosts)

    async def timely(work: Awaitable[T]) -> T:
        counters.waiting.set(batcher.waiting + worker.line.waiting)
        async with asyncio.timeout(bounds.seconds):
            return await work

    async def in_worker(work: Callable[..., Any], request: schemas.Graphs) -> Any:
        while True:
            asked = current.service
            try:
                return await worker.run(answer_in_worker, asked.arguments, asked.digest, bounds, work, request)
            except ModelConflictError:
                await batcher.change(int)  # a change of our own that is being saved ends first
                if current.service is asked:
                    raise

    async def answered(work: Callable[..., Any], request: schemas.Graphs) -> Any:
        """Work on a request in the scoring thread, or in the worker process if that may take long."""
        quick = check_work(request, bounds) <= bounds.quick_seconds
        return await (batcher.run(work, current.service, bounds, request) if quick else in_worker(work, request))

    @app.post("/v1/score", response_model=schemas.ScoreAnswer)
    async def score(request: schemas.ScoreRequest) -> Response:
        """Score and rank graphs. Records that cannot be read are listed with the reason; the others are scored."""
        quick = check_work(request, bounds) <= bounds.quick_seconds
        answer: schemas.ScoreAnswer = await timely(
            batcher.answer(request) if quick else in_worker(score_request, request)
        )
        counters.graphs.inc(len(answer.results))
        counters.rejected.inc(len(answer.rejected))
        counters.flagged.inc(sum(bool(item.flagged) for item in answer.results))
        return Response(answer.model_dump_json(), media_type="application/json")

    @app.post("/v1/explain")
    async def explain(request: schemas.ExplainRequest) -> schemas.ExplainAnswer:
        """Explain the score of one graph. With a private summary, by the contributions of channels alone."""
        return await timely(answered(explain_request, request))

    @app.post("/v1/place")
    async def place(request: schemas.Graphs) -> schemas.PlaceAnswer:
        """Places of some graphs on the map. Waits for the map of a large model, which is fitted in the background."""
        if check_work(request, bounds) > bounds.quick_seconds:
            raise InputError("These graphs are too large to be placed at once. Send fewer or smaller ones.")
        return await timely(batcher.place(place_request, current.service, bounds, request))

    @app.post("/v1/drift")
    async def drift(request: schemas.DriftRequest) -> schemas.DriftAnswer:
        """Look for a change in a stream of scores, as `glass watch` does."""
        quick = len(request.scores) <= _QUICK_SCORES
        evidence, alarms = await timely((batcher if quick else worker).run(drift_curve, request.scores))
        return schemas.DriftAnswer(evidence=evidence, alarms=alarms)

    @app.post("/v1/read", response_model=schemas.FileAnswer, openapi_extra=_FILE_BODY)
    async def read(
        request: Request,
        name: Annotated[str, Query(max_length=200, description="Of the file; its suffix names the format.")] = "",
        columns: Annotated[schemas.TableColumns, Depends()] = schemas.TableColumns(),  # noqa: B008
        content_type: Annotated[str | None, Header(include_in_schema=False)] = None,
    ) -> Response:
        """Read a file in any format of `glass score`; returns node-link records and SMILES, with your own columns.

        A table without known columns is a problem with its `columns`, to name those that hold the graphs.
        """
        if content_type != "application/octet-stream":  # which browsers do not send across sites without asking
            raise InputError("Send the file as application/octet-stream.")
        content = await request.body()
        how = content, name, bounds.reading, columns.model_dump(exclude_none=True), current.service.reading
        quick = is_quick_file(content, name)
        work = batcher.run(file_answer, *how) if quick else worker.run(read_in_worker, bounds.worker_bytes, *how)
        return Response(await timely(work), media_type="application/json")

    @app.get("/v1/model")
    async def model() -> schemas.ModelAnswer:
        """What is served."""
        return schemas.ModelAnswer(**current.service.facts(), graphs_per_request=bounds.graphs)

    @app.get("/v1/example")
    async def example() -> schemas.Graphs:
        """Some references, and graphs unlike them, to try the service with."""
        return await timely(batcher.run(example_request, current.service.example_references()))

    @app.get("/v1/map")
    async def reference_map() -> schemas.MapAnswer:
        """Positions of the references on a plane: the closer, the more similar."""
        return await timely(batcher.place(current.service.reference_map))

    @app.get("/v1/references")
    async def list_references(
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0, limit: Annotated[int, Query(ge=1, le=20_000)] = 100
    ) -> schemas.ReferenceAnswer:
        """Ids and leave-one-out scores of the references; of a very large set, those of the sample kept whole."""
        service = current.service
        rows = service.references()
        return schemas.ReferenceAnswer(
            total=service.reference_count, listed=len(rows), references=rows[offset : offset + limit]
        )

    def changed(work: Callable[..., schemas.ChangeAnswer], *arguments: Any) -> schemas.ChangeAnswer:
        answer = work(current, *arguments)
        counters.references.set(current.service.reference_count)
        batcher.prepare(current.prepare_map)
        return answer

    async def change(*work: Any) -> schemas.ChangeAnswer:
        answer: schemas.ChangeAnswer = await timely(batcher.change(changed, *work))
        return answer

    async def add(request: schemas.Graphs, *, anomalous: bool) -> schemas.ChangeAnswer:
        read = await timely(answered(read_additions, request))
        return await change(add_graphs, read, anomalous)

    @app.post("/v1/references", status_code=201)
    async def add_references(request: schemas.Graphs) -> schemas.ChangeAnswer:
        """Add trusted normal graphs; the change is on disk and in the change log when this answers."""
        return await add(request, anomalous=False)

    @app.delete("/v1/references")
    async def remove_references(ids: _Ids) -> schemas.ChangeAnswer:
        """Remove references by id."""
        return await change(remove_ids, ids, False)

    @app.get("/v1/anomalies")
    async def list_anomalies() -> schemas.AnomalyAnswer:
        """Ids of the known anomalies."""
        ids = current.service.known_ids()
        return schemas.AnomalyAnswer(total=len(ids), anomalies=list(ids))

    @app.post("/v1/anomalies", status_code=201)
    async def add_anomalies(request: schemas.Graphs) -> schemas.ChangeAnswer:
        """Add known anomalies; graphs near them rank higher from now on."""
        return await add(request, anomalous=True)

    @app.delete("/v1/anomalies")
    async def remove_anomalies(ids: _Ids) -> schemas.ChangeAnswer:
        """Remove known anomalies by id."""
        return await change(remove_ids, ids, True)

    async def to_review(review: str | None, request: schemas.Graphs) -> schemas.ReviewBegun:
        seconds = check_work(request, bounds)
        read = await timely(answered(read_additions, request))
        return await timely(reviewing.run(reviews.add, review, current.service, read, seconds))

    @app.post("/v1/reviews", status_code=201)
    async def begin_review(request: schemas.Graphs) -> schemas.ReviewBegun:
        """Begin a review with some graphs; send more of them to its `graphs`."""
        return await to_review(None, request)

    @app.post("/v1/reviews/{review}/graphs")
    async def add_to_review(review: schemas.Name, request: schemas.Graphs) -> schemas.ReviewBegun:
        """Add graphs to a review that has no marks yet."""
        return await to_review(review, request)

    @app.post("/v1/reviews/{review}/marks")
    async def mark(review: schemas.Name, request: schemas.MarkRequest) -> schemas.ReviewAnswer:
        """Say what graphs are, and get the ranking that follows; the first request measures the graphs.

        The model stays as it is. Marks are the client's to keep: the service drops a review when newer ones come.
        """
        return await timely(reviewing.run(reviews.mark, review, current.service, request.marks))

    @app.get("/healthz", response_class=PlainTextResponse)
    async def healthz() -> str:
        """The process answers. This never waits for other requests."""
        return "ok"

    @app.get("/readyz", response_class=PlainTextResponse)
    async def readyz() -> Response:
        """The model has scored, and the next request would not be refused. This never waits for other requests."""
        if batcher.full:
            return problem_response(503, "Too many requests are waiting.", {"Retry-After": "1"})
        return PlainTextResponse("ready")

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Counters in Prometheus' format."""
        return Response(generate_latest(counters.registry), media_type="text/plain; version=0.0.4")

    @app.get("/", include_in_schema=False)
    async def inspector() -> Response:
        worker.start()  # a person who sees the page opens a file next
        return Response(inspector_page(), media_type="text/html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(docs_page(app.openapi()), media_type="text/html")

    @app.get("/style.css", include_in_schema=False)
    async def style() -> Response:
        return Response(style_sheet(), media_type="text/css")

    # Under its own path: a mount at the root would answer 404 where 405 is right.
    app.mount("/web", StaticFiles(directory=str(files("graphglass.serve").joinpath("web"))), name="web")
    return app


def _answer_problems(app: FastAPI) -> None:
    """Answer expected errors as problem documents."""

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        if "json" not in request.headers.get("content-type", ""):
            return problem_response(422, "The body must be JSON, sent with the header Content-Type: application/json.")
        # The offending input is left out: it may be a graph.
        first = error.errors()[0]
        if first["type"] == "extra_forbidden":
            name = str(first["loc"][-1])
            return problem_response(422, f"{name!r:.60} is no field of this request; /docs lists its fields.")
        return problem_response(422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}.")

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return problem_response(error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(GlassError)
    async def failed(_: Request, error: GlassError) -> Response:
        if isinstance(error, UnknownReviewError):
            return problem_response(404, str(error))
        if isinstance(error, InputError | MissingExtraError):
            more: dict[str, Any] = {"columns": error.columns} if isinstance(error, UnknownColumnsError) else {}
            return problem_response(422, str(error), **more)
        if isinstance(error, ModelConflictError):
            return problem_response(409, str(error))
        # Other errors name files and settings of the service, which are for its owner and not for its clients.
        logger.error("%s: %s", type(error).__name__, error)
        return problem_response(500, "The service could not do this and changed nothing. The reason is in its log.")

    @app.exception_handler(RecursionError)
    async def nested(_: Request, error: Exception) -> Response:
        return problem_response(422, "A value of this request is nested too deeply.")

    @app.exception_handler(BusyError)
    @app.exception_handler(TimeoutError)
    async def later(_: Request, error: Exception) -> Response:
        if isinstance(error, BusyError):
            return problem_response(429, "Too many requests are waiting. Try again in a moment.", {"Retry-After": "1"})
        return problem_response(503, "The answer took too long. Send fewer or smaller graphs.", {"Retry-After": "5"})
