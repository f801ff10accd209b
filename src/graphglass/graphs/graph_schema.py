"""What graphs carry: labels, attributes and direction."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

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


def counted_names(graphs: GraphSet) -> tuple[str, ...]:
    """Names of the edge attributes, ``count`` last: in a set with any, or with directions, every edge has one."""
    if not graphs.directed and graphs.edge_attributes is None:
        return ()
    return (*(name for name in graphs.edge_attribute_names if name != COUNT), COUNT)


def with_attributes(graphs: GraphSet, names: tuple[str, ...]) -> GraphSet:
    """The set with these node attributes in this order, others left out; a missing one is 0."""
    own = graphs.attribute_names
    if own == names:
        return graphs
    table = np.zeros((graphs.node_count, len(names)), dtype=np.float32)
    for place, name in enumerate(names):
        if graphs.attributes is not None and name in own:
            table[:, place] = graphs.attributes[:, own.index(name)]
    return replace(graphs, attributes=table if names else None, attribute_names=names)


def with_edge_attributes(graphs: GraphSet, names: tuple[str, ...], *, zero: bool = False) -> GraphSet:
    """The set with these edge attributes in this order, others left out; a missing ``count`` is 1.

    If it lacks another one of them, that is 0 where ``zero``, and otherwise the set is returned as it is.
    """
    own, ends = graphs.edge_attribute_names, len(graphs.neighbours)
    if own == names or (ends and not zero and any(name not in own for name in names if name != COUNT)):
        return graphs
    table = np.ones((ends, 0)) if graphs.edge_attributes is None else graphs.edge_attributes
    missing = {name: np.full(ends, float(name == COUNT)) for name in names}
    columns = [table[:, own.index(name)] if name in own else missing[name] for name in names]
    return replace(graphs, edge_attributes=np.stack(columns, axis=1), edge_attribute_names=names)
