"""What one request may cost, and what all may cost together."""

from __future__ import annotations

from dataclasses import dataclass

from graphglass.graphs.limits import Limits


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
        Longest a request waits for its answer, and longest its body may take to arrive.
    held_bytes : int
        Bodies of all requests together, so that many large ones cannot fill the memory.
    """

    body_bytes: int = 8 << 20
    graphs: int = 256
    nodes: int = 100_000
    edges: int = 1_000_000
    waiting: int = 1024
    batch_graphs: int = 512
    seconds: float = 60.0
    held_bytes: int = 256 << 20

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
