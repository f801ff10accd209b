"""What one request may cost, and what all may cost together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphglass.graphs.limits import Limits
from graphglass.serve.schemas import LONGEST_TEXT

# Processor seconds per graph, per node or edge, per edge and square root of edges (counting motifs), and per pair of
# characters of a molecule (its chemistry), as measured. A long path takes three times its estimate, a dense graph less.
_PER_GRAPH, PER_ITEM, _PER_MOTIF, _PER_PAIR = 1e-3, 2e-5, 1e-8, 1.5e-8
Item = Mapping[str, Any]  # a node-link record as in JSON Lines files, or {"smiles": text, "id": name}
DELETIONS = 128  # an explanation scores up to so many smaller copies of its graph


@dataclass(frozen=True)
class ServeLimits:
    """Bounds of the service.

    Attributes
    ----------
    body_bytes : int
        Largest request body, counted while it arrives.
    graphs : int
        Most graphs of one request.
    nodes, edges : int
        Largest single graph.
    work_seconds : float
        Most estimated work of one request.
    quick_seconds : float
        Requests of more estimated work run in a process of their own, so that no other request waits for them.
    waiting : int
        Requests in line before new ones get 429.
    waiting_apart : int
        The same for requests that run in a process of their own.
    batch_graphs : int
        Graphs scored together.
    seconds : float
        Longest time to wait for an answer, for a body to arrive, and for work in a process of its own.
    held_bytes : int
        Bodies of all requests together, so that many large ones cannot fill the memory.
    file_graphs : int
        Most graphs of a file that the inspector opens.
    """

    body_bytes: int = 8 << 20
    graphs: int = 256
    nodes: int = 100_000
    edges: int = 1_000_000
    work_seconds: float = 120.0
    quick_seconds: float = 1.0
    waiting: int = 1024
    waiting_apart: int = 4
    batch_graphs: int = 512
    seconds: float = 60.0
    held_bytes: int = 256 << 20
    file_graphs: int = 5000

    @property
    def reading(self) -> Limits:
        """The bounds of single graphs for the readers; the work of a whole request is bounded by its estimate."""
        return Limits(
            max_graphs=max(self.file_graphs, self.batch_graphs + self.graphs),
            max_nodes_per_graph=self.nodes,
            max_edges_per_graph=self.edges,
            max_record_bytes=self.body_bytes,
            max_smiles_characters=LONGEST_TEXT,
            max_file_bytes=16 * self.body_bytes,
            max_zip_bytes=16 * self.body_bytes,
        )


def is_molecule(item: Item) -> bool:
    """Whether an item is read as SMILES. A record with nodes may have a value of the caller's own under that name."""
    return "smiles" in item and "nodes" not in item


def estimated_seconds(item: Item, limits: Limits) -> float:
    """Processor seconds to score one record or molecule, from its size alone and without reading it.

    One past the limits costs little: it is rejected when it is read.
    """
    if is_molecule(item):
        length = len(str(item["smiles"]))
        too_long = length > limits.max_smiles_characters
        return _PER_GRAPH if too_long else _PER_GRAPH + 2 * PER_ITEM * length + _PER_PAIR * length**2
    nodes, edges = _size(item.get("nodes")), _size(item.get("edges", item.get("links")))
    if nodes > limits.max_nodes_per_graph or edges > limits.max_edges_per_graph:
        return _PER_GRAPH
    return _PER_GRAPH + PER_ITEM * (nodes + edges) + _PER_MOTIF * edges**1.5


def _size(value: Any) -> int:
    if isinstance(value, list):
        return len(value)
    return max(value, 0) if isinstance(value, int) else 0
