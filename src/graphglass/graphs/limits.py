"""How large an input may be; checked before memory is taken for it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from graphglass.errors import LimitError, ParameterError


@dataclass(frozen=True)
class Limits:
    """Bounds on what a reader accepts.

    A graph past a per-graph bound is rejected and the rest is read; an input past a bound on the whole stops the
    reading.

    Attributes
    ----------
    max_graphs, max_nodes, max_edges : int
        Of the whole set; edges are counted as listed, before duplicates are removed.
    max_nodes_per_graph, max_edges_per_graph : int
    max_attributes : int
        Numbers per node.
    max_file_bytes : int
        Of one file, after decompression.
    max_record_bytes : int
        Of one line or molecule record.
    max_zip_entries, max_zip_bytes : int
        Members of an archive and their declared sizes together.
    max_zip_ratio : int
        Declared size over compressed size; only asked of archives that unpack to more than 64 MiB.
    """

    max_graphs: int = 5_000_000
    max_nodes: int = 200_000_000
    max_edges: int = 500_000_000
    max_nodes_per_graph: int = 2_000_000
    max_edges_per_graph: int = 50_000_000
    max_attributes: int = 4096
    max_file_bytes: int = 16 << 30
    max_record_bytes: int = 256 << 20
    max_zip_entries: int = 10_000
    max_zip_bytes: int = 4 << 30
    max_zip_ratio: int = 200

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int) or value < 1:
                raise ParameterError("Limits", item.name, "an integer of at least 1", value)

    def check(self, name: str, found: int, what: str) -> None:
        """Raise LimitError if `found` is past the bound called `name`."""
        bound = getattr(self, name)
        if found > bound:
            raise LimitError(
                f"{what}: found {found:,}, the limit {name} is {bound:,}. "
                f"If the input is trusted, read it with limits=Limits({name}=...)."
            )

    def graph_excess(self, nodes: int, edges: int) -> str | None:
        """Why one graph is too large, or None."""
        for name, found, noun in (
            ("max_nodes_per_graph", nodes, "nodes"),
            ("max_edges_per_graph", edges, "edges"),
        ):
            bound = getattr(self, name)
            if found > bound:
                return f"{found:,} {noun}, the limit {name} is {bound:,}"
        return None


DEFAULT_LIMITS = Limits()
