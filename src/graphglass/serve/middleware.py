"""ASGI middleware: problem documents, bounds on bodies, host and token checks, security headers and counters."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import time
import traceback
from collections.abc import Collection
from http import HTTPStatus
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphglass.errors import ServeError
from graphglass.serve.request_graphs import ServeLimits

logger = logging.getLogger("graphglass.serve")

LOOPBACK_NAMES = frozenset(("127.0.0.1", "localhost", "::1"))
_SHORTEST_TOKEN = 16
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
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


def problem_response(status: int, detail: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    """An RFC 9457 problem document: what went wrong and what to do about it, without a stack trace."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return JSONResponse(body, status, headers, media_type="application/problem+json")


def read_token(path: Path) -> str:
    """The token in a file, without surrounding white space."""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ServeError(f"The token file {path} cannot be read: {error}.") from error
    if len(token) < _SHORTEST_TOKEN or any(character.isspace() for character in token):
        raise ServeError(f"The token in {path} needs at least {_SHORTEST_TOKEN} characters and no white space.")
    return token


def check_address(host: str, token: str | None) -> None:
    """Refuse an address others can reach when no token protects it."""
    try:
        private = ipaddress.ip_address(host).is_loopback
    except ValueError:
        private = host == "localhost"
    if not private and token is None:
        raise ServeError(
            f"{host} can be reached from other machines. Give --token-file, or serve on 127.0.0.1 behind a proxy."
        )


class Counters:
    """Numbers for Prometheus, in their own registry: several services can run in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("glass_requests", "Answered requests", ["route", "status"], registry=self.registry)
        self.graphs = Counter("glass_graphs_scored", "Graphs scored", registry=self.registry)
        self.rejected = Counter("glass_graphs_rejected", "Records that could not be read", registry=self.registry)
        self.flagged = Counter("glass_graphs_flagged", "Graphs flagged as abnormal", registry=self.registry)
        self.seconds = Histogram("glass_request_seconds", "Time to answer", ["route"], registry=self.registry)
        self.waiting = Gauge("glass_requests_waiting", "Requests in line", registry=self.registry)
        self.references = Gauge("glass_references", "Normal references in use", registry=self.registry)


class Guard:
    """ASGI middleware around the whole application.

    Parameters
    ----------
    app : ASGI application
    counters : Counters
    token : str, optional
        Needed for everything about the model; the page and the description of the API carry no secret.
    hosts : collection of str, optional
        Names the service may be called by. A page on another name that resolves to this machine is refused, so
        a website cannot reach a service on loopback through its visitor's browser.
    """

    def __init__(self, app: ASGIApp, counters: Counters, token: str | None, hosts: Collection[str] | None) -> None:
        self.app, self.counters, self.token, self.hosts = app, counters, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, path, status = time.perf_counter(), scope["path"], 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), *_RAW_HEADERS]}
            await send(message)

        refusal = self._refusal(path, dict(scope["headers"]))
        try:
            await (refusal or self.app)(scope, receive, sending)
        except Exception as error:
            # The message of an unexpected exception may quote a graph; where it was raised does not.
            where = "".join(traceback.format_tb(error.__traceback__)[-3:])
            logger.error("%s %s failed with %s\n%s", scope["method"], path, type(error).__name__, where)
            if not status:
                problem = problem_response(500, "The service failed on this request; its log says where.")
                await problem(scope, receive, sending)
        # Only routes become labels: a client must not be able to fill the memory with spellings of paths.
        route = getattr(scope.get("route"), "path", "other")
        self.counters.requests.labels(route, str(status)).inc()
        self.counters.seconds.labels(route).observe(time.perf_counter() - start)

    def _refusal(self, path: str, headers: dict[bytes, bytes]) -> JSONResponse | None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if self.hosts is not None and name not in self.hosts:
            return problem_response(421, "This service answers on its own address only; it does not know this host.")
        secret = path.startswith("/v1/") or path == "/metrics"
        if self.token is None or not secret:
            return None
        if hmac.compare_digest(headers.get(b"authorization", b""), f"Bearer {self.token}".encode()):
            return None
        return problem_response(401, "Send the token as 'Authorization: Bearer TOKEN'.", {"WWW-Authenticate": "Bearer"})


class BodyLimit:
    """ASGI middleware: a body too large gets 413, too slow 408, and one too many 429, whatever its length claims."""

    def __init__(self, app: ASGIApp, limits: ServeLimits) -> None:
        self.app, self.limits = app, limits
        self.held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen, complete, answered = 0, False, False
        refusal: tuple[int, str] | None = None
        deadline = asyncio.get_running_loop().time() + self.limits.seconds

        async def counted() -> Message:
            nonlocal seen, complete, refusal
            if complete:
                return await receive()  # only the news that the client has gone can follow
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                refusal = 408, f"The body did not arrive within {self.limits.seconds:g} seconds."
                return {"type": "http.disconnect"}
            size = len(message.get("body", b""))
            seen += size
            self.held += size
            complete = not message.get("more_body", False)
            if seen > self.limits.body_bytes:
                refusal = 413, f"A request body may have {self.limits.body_bytes} bytes. Send fewer graphs at a time."
            elif self.held > self.limits.held_bytes:
                refusal = 429, "Too many large requests are being read. Try again in a moment."
            return message if refusal is None else {"type": "http.disconnect"}

        async def sending(message: Message) -> None:
            # The application answers a body that ended early in its own way; the client gets the real reason, once.
            nonlocal answered
            if refusal is None:
                await send(message)
            elif not answered:
                answered = True
                headers = {"Connection": "close"} | ({"Retry-After": "1"} if refusal[0] == 429 else {})
                await problem_response(*refusal, headers)(scope, receive, send)

        try:
            await self.app(scope, counted, sending)
        except ClientDisconnect:  # of a route that reads its body itself
            if refusal is not None:
                await sending({})
        finally:
            self.held -= seen
