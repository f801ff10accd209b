"""What one request may cost, and the middleware that enforces it on streamed bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphglass.graphs.limits import Limits
from graphglass.serve.problems import problem_response


@dataclass(frozen=True)
class ServeLimits:
    """Bounds of the service.

    Attributes
    ----------
    body_bytes : int
        Largest request body, counted while it streams in.
    graphs, nodes, edges : int
        Most graphs of one request, and of what size together.
    waiting : int
        Requests in line before new ones are turned away with 429.
    batch_graphs : int
        Graphs scored together.
    seconds : float
        Longest a request waits for its answer.
    """

    body_bytes: int = 8 << 20
    graphs: int = 256
    nodes: int = 100_000
    edges: int = 1_000_000
    waiting: int = 1024
    batch_graphs: int = 512
    seconds: float = 60.0

    @property
    def reading(self) -> Limits:
        """The same bounds for the readers."""
        return Limits(
            max_graphs=self.graphs,
            max_nodes=self.nodes,
            max_edges=self.edges,
            max_nodes_per_graph=self.nodes,
            max_edges_per_graph=self.edges,
            max_record_bytes=self.body_bytes,
        )


class BodyLimit:
    """ASGI middleware: a body past the limit gets 413, whatever its Content-Length claims."""

    def __init__(self, app: Any, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen, over, answered = 0, False, False

        async def counted() -> Any:
            nonlocal seen, over
            message = await receive()
            seen += len(message.get("body", b""))
            over = over or seen > self.limit
            return {"type": "http.disconnect"} if over else message

        async def sending(message: Any) -> None:
            # Whatever the application makes of a body that broke off, the client is told the real reason, once.
            nonlocal answered
            if not over:
                await send(message)
            elif not answered:
                answered = True
                detail = f"A request body may have {self.limit} bytes. Send fewer graphs at a time."
                await problem_response(413, detail)(scope, receive, send)

        await self.app(scope, counted, sending)
