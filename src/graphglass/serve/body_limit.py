"""Bounds on request bodies, enforced on the bytes as they stream in."""

from __future__ import annotations

import asyncio
from typing import Any

from graphglass.serve.problems import problem_response
from graphglass.serve.request_limits import ServeLimits


class BodyLimit:
    """ASGI middleware: a body too large gets 413, too slow 408, and one too many 429, whatever its length claims."""

    def __init__(self, app: Any, limits: ServeLimits) -> None:
        self.app, self.limits = app, limits
        self.held = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen, complete, answered = 0, False, False
        refusal: tuple[int, str] | None = None
        deadline = asyncio.get_running_loop().time() + self.limits.seconds

        async def counted() -> Any:
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

        async def sending(message: Any) -> None:
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
        finally:
            self.held -= seen
