"""What graphs carry: labels, attributes and direction."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

from graphglass.graphs.concatenation import counted_names
from graphglass.graphs.graph_set import COUNT, GraphSet


@dataclass(frozen=True)
class GraphSchema:
    """What every graph of a set carries; queries must carry what the references carry."""

    node_labels: bool
    edge_labels: bool
    attributes: tuple[str, ...]  # names of the columns
    edge_attributes: tuple[str, ...]
    directed: bool

    @classmethod
    def of(cls, graphs: GraphSet) -> GraphSchema:
        return cls(
            graphs.node_labels is not None,
            graphs.edge_labels is not None,
            graphs.attribute_names,
            counted_names(graphs),
            graphs.directed,
        )

    def carried(self) -> list[str]:
        """What is there, in words."""
        parts = [
            name for name, there in (("node labels", self.node_labels), ("edge labels", self.edge_labels)) if there
        ]
        parts += [f"attributes {', '.join(self.attributes)}"] * bool(self.attributes)
        parts += [f"edge attributes {', '.join(self.edge_attributes)}"] * bool(self.edge_attributes)
        return parts + ["direction"] * self.directed

    def described(self) -> str:
        """What is there and what is not, in words; direction and counts never make a difference."""
        parts = ["node labels" if self.node_labels else "no node labels"]
        parts.append("edge labels" if self.edge_labels else "no edge labels")
        parts.append(f"attributes {', '.join(self.attributes)}" if self.attributes else "no attributes")
        edge_attributes = tuple(name for name in self.edge_attributes if name != COUNT)
        parts += [f"edge attributes {', '.join(edge_attributes)}"] * bool(edge_attributes)
        return "; ".join(parts)

    def to_json(self) -> list[Any]:
        return [list(part) if isinstance(part, tuple) else part for part in astuple(self)]
