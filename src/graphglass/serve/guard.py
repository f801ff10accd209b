"""Around every answer: host and token checks, security headers, counting, and failures without details."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Collection
from typing import Any

from graphglass.serve.auth import allowed, host_of
from graphglass.serve.counters import Counters
from graphglass.serve.problems import problem_response

logger = logging.getLogger("graphglass.serve")

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


class Guard:
    """ASGI middleware around the whole application.

    Parameters
    ----------
    app : ASGI application
    counters : Counters
    token : str, optional
        Needed for everything about the model; the page and the description of the API carry no secret.
    hosts : collection of str, optional
        Names the service may be called by. A page on another name that resolves to this machine is refused, so that
        a website cannot reach a service on loopback through its visitor's browser.
    """

    def __init__(self, app: Any, counters: Counters, token: str | None, hosts: Collection[str] | None) -> None:
        self.app, self.counters, self.token, self.hosts = app, counters, token, hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, path, status = time.perf_counter(), scope["path"], 0

        async def sending(message: Any) -> None:
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
        # Only paths that exist become labels: a client must not be able to fill the memory with new ones.
        route = "other" if status in (401, 404, 421) else path
        self.counters.requests.labels(route, str(status)).inc()
        self.counters.seconds.labels(route).observe(time.perf_counter() - start)

    def _refusal(self, path: str, headers: dict[bytes, bytes]) -> Any:
        if self.hosts is not None and host_of(headers.get(b"host", b"").decode("latin-1")) not in self.hosts:
            return problem_response(421, "This service answers on its own address only; it does not know this host.")
        secret = path.startswith("/v1/") or path == "/metrics"
        if self.token is None or not secret:
            return None
        given = headers.get(b"authorization")
        if allowed(None if given is None else given.decode("latin-1"), self.token):
            return None
        return problem_response(401, "Send the token as 'Authorization: Bearer TOKEN'.", {"WWW-Authenticate": "Bearer"})
