"""How large an input may be; checked before memory is taken for it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from graphglass.errors import GraphError, LimitError, ParameterError
from graphglass.messages import counted

_SMALL = 64 << 20  # a file that unpacks to less cannot exhaust memory, whatever its ratio


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
    max_bare_nodes : int
        Nodes of the whole set that are only counted (``"nodes": 1000``), without an edge, a label or a name: they take
        no bytes of the input.
    max_file_bytes : int
        Of one file, after decompression.
    max_record_bytes : int
        Of one line or molecule record.
    max_smiles_characters : int
        Of one molecule, and its atoms in other formats: the time to read one grows with the square of its length.
    max_rings : int
        Of one molecule: the time to find rings that share atoms grows with the cube of their number.
    max_zip_entries, max_zip_bytes : int
        Members of an archive and their declared sizes together.
    max_zip_ratio : int
        Unpacked size over compressed size of zip, gzip and Parquet files; checked only for files that unpack to
        more than 64 MiB.

    Examples
    --------
    >>> from graphglass import Limits, read_report
    >>> records = [{"id": "large", "nodes": 9}, {"id": "small", "nodes": 2}]
    >>> read_report(records, limits=Limits(max_nodes_per_graph=5)).graphs.ids
    ('small',)
    """

    max_graphs: int = 5_000_000
    max_nodes: int = 200_000_000
    max_edges: int = 500_000_000
    max_nodes_per_graph: int = 2_000_000
    max_edges_per_graph: int = 50_000_000
    max_attributes: int = 4096
    max_bare_nodes: int = 1_000_000
    max_file_bytes: int = 16 << 30
    max_record_bytes: int = 256 << 20
    max_smiles_characters: int = 20_000
    max_rings: int = 300
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

    def check_ratio(self, unpacked: int, packed: int, what: str) -> None:
        """Raise LimitError if a file unpacks to far more than its own size, as a decompression bomb does."""
        if unpacked > _SMALL and unpacked > self.max_zip_ratio * max(packed, 1):
            raise LimitError(
                f"{what} would unpack to {unpacked:,} bytes or more, over {self.max_zip_ratio} times its size of "
                f"{packed:,} (max_zip_ratio). Refused: a decompression bomb looks like this. If the input is trusted, "
                "read it with limits=Limits(max_zip_ratio=...)."
            )

    def graph_excess(self, nodes: int, edges: int) -> str | None:
        """Why one graph is too large, or None."""
        for noun, found in (("nodes", nodes), ("edges", edges)):
            bound = getattr(self, f"max_{noun}_per_graph")
            if found > bound:
                return f"{found:,} {noun}, the limit max_{noun}_per_graph is {bound:,}"
        return None


DEFAULT_LIMITS = Limits()


class Admission:
    """Admits the graphs of one input while their sizes are within the limits, and numbers equal ids."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._ids: dict[str, int] = {}  # and how often each occurred
        self._example = ""
        self._nodes = self._edges = self._bare = self._renamed = 0

    def admit(self, name: str, nodes: int, edges: int, *, described: bool) -> str:
        """Count one graph and return its id; GraphError refuses it, LimitError the whole input.

        Nodes that are neither described nor joined take no bytes of the input, so their number needs a bound of its
        own.
        """
        if nodes < 1:
            raise GraphError("the graph has no nodes")
        if excess := self.limits.graph_excess(nodes, edges):
            raise GraphError(excess)
        bare = 0 if described else max(nodes - 2 * edges, 0)
        if self._bare + bare > self.limits.max_bare_nodes:
            raise GraphError(
                f"{nodes:,} nodes are declared, nearly all without an edge or a label; the limit max_bare_nodes of "
                f"the whole input is {self.limits.max_bare_nodes:,}"
            )
        unique = name
        while unique in self._ids:
            self._ids[name] = self._ids.get(name, 1) + 1
            unique = f"{name} ({self._ids[name]})"
        if unique != name:
            self._example = self._example or unique
            self._renamed += 1
        self._ids[unique] = 1
        self._bare, self._nodes, self._edges = self._bare + bare, self._nodes + nodes, self._edges + edges
        self.limits.check("max_graphs", len(self._ids), "Graphs of the input")
        self.limits.check("max_nodes", self._nodes, "Nodes of the input")
        self.limits.check("max_edges", self._edges, "Edges of the input")
        return unique

    @property
    def renamed(self) -> str:
        """A remark about ids that occurred again; nothing if all differ."""
        if not self._renamed:
            return ""
        return f"{counted(self._renamed, 'graph')} with the id of another got a number, such as {self._example!r:.60}"
