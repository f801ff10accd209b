"""One graph as a reader finds it, and the collection of many into a GraphSet."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet, concatenate
from graphglass.graphs.label_codes import class_labels, text_code
from graphglass.graphs.limits import Limits
from graphglass.graphs.readers.rejects import RejectLog, logger
from graphglass.wording import counted, listing, setting

_EMPTY = text_code("")  # the code of a missing label


@dataclass
class Record:
    """One graph before it joins the others.

    Attributes
    ----------
    sources, targets : int (edges,)
        Node rows of this graph, 0..nodes-1.
    attributes : float32 (nodes, width) or None
        NaN marks a value the source does not give.
    node_names : list of str or None
        None where nodes are called 0..nodes-1.
    directed : bool
        Whether an edge listed in one direction counts as one-way.
    """

    position: int
    id: str
    nodes: int
    sources: NDArray[Any]
    targets: NDArray[Any]
    label: Any = None
    node_labels: NDArray[np.int64] | None = None
    edge_labels: NDArray[np.int64] | None = None
    attributes: NDArray[np.float32] | None = None
    attribute_names: tuple[str, ...] = ()
    node_names: list[str] | None = None
    label_names: dict[int, str] = field(default_factory=dict)
    directed: bool = False


class RecordSet:
    """Collects records, leaves out the bad ones, and builds the GraphSet.

    The attribute names most records carry are the schema; a record with others is left out, unless `fill` is given:
    then the schema is the union, and `fill` stands wherever a value is missing.
    """

    def __init__(self, log: RejectLog, limits: Limits, fill: float | None = None) -> None:
        self.log, self.limits, self.fill = log, limits, fill
        self.records: list[Record] = []
        self._places: dict[str, int] = {}
        self._nodes = self._edges = 0

    def add(self, record: Record) -> None:
        reason = self._fault(record)
        if reason is not None:
            self.log.add(record.position, record.id, reason)
            return
        self._places[record.id] = record.position
        self._nodes += record.nodes
        self._edges += len(record.sources)
        self.limits.check("max_graphs", len(self.records) + 1, "Graphs of the input")
        self.limits.check("max_nodes", self._nodes, "Nodes of the input")
        self.limits.check("max_edges", self._edges, "Edges of the input")
        self.records.append(record)

    def _fault(self, record: Record) -> str | None:
        if record.nodes < 1:
            return "the graph has no nodes"
        if record.id in self._places:
            return f"the id stands already at {self._places[record.id]}"
        if excess := self.limits.graph_excess(record.nodes, len(record.sources)):
            return excess
        if len(record.attribute_names) > self.limits.max_attributes:
            return f"{len(record.attribute_names)} attributes, the limit max_attributes is {self.limits.max_attributes}"
        for ends in (record.sources, record.targets):
            if ends.size and (ends.min() < 0 or ends.max() >= record.nodes):
                worst = int(ends.min() if ends.min() < 0 else ends.max())
                return f"an edge names node {worst}, but the nodes are 0..{record.nodes - 1}"
        if record.attributes is not None and np.isinf(record.attributes).any():
            node, column = np.argwhere(np.isinf(record.attributes))[0]
            name = record.attribute_names[column]
            return f"attribute {name!r} of node {_name(record, node)} is infinite or too large"
        return None

    def build(self) -> GraphSet:
        schema = self._schema()
        kept = [record for record in self.records if self._fits(record, schema)]
        if not kept:
            return concatenate([])
        sources, targets, start = [], [], 0
        for record in kept:
            one, two = record.sources, record.targets
            if not record.directed:
                one, two = np.minimum(one, two), np.maximum(one, two)
            sources.append(one + start)
            targets.append(two + start)
            start += record.nodes
        labels = class_labels([record.label for record in kept])
        if labels is None and any(record.label is not None for record in kept):
            missing = sum(record.label is None for record in kept)
            logger.warning("%d of %d graphs have no class label; class labels are left out", missing, len(kept))
        node_labels = _codes([(record.node_labels, record.nodes) for record in kept])
        edge_labels = _codes([(record.edge_labels, len(record.sources)) for record in kept])
        built = canonical_graph_set(
            [record.nodes for record in kept],
            np.concatenate(sources).astype(np.int64),
            np.concatenate(targets).astype(np.int64),
            ids=[record.id for record in kept],
            labels=labels,
            node_labels=node_labels,
            attributes=np.concatenate([self._rows(record, schema) for record in kept]) if schema else None,
            attribute_names=schema,
            edge_labels=edge_labels,
            node_names=_names(kept),
            label_names=_label_names(kept, node_labels, edge_labels),
        )
        removed = built.removed.copy()
        removed[[not record.directed for record in kept], 2] = 0
        return replace(built, removed=removed)

    def _schema(self) -> tuple[str, ...]:
        if self.fill is not None:
            return tuple(dict.fromkeys(name for record in self.records for name in record.attribute_names))
        orders: dict[frozenset[str], tuple[str, ...]] = {}
        votes: Counter[frozenset[str]] = Counter()
        for record in self.records:
            key = frozenset(record.attribute_names)
            orders.setdefault(key, record.attribute_names)
            votes[key] += 1
        return orders[votes.most_common(1)[0][0]] if votes else ()

    def _fits(self, record: Record, schema: tuple[str, ...]) -> bool:
        if self.fill is not None:
            return True
        if set(record.attribute_names) != set(schema):
            found = f"has {_listing(record.attribute_names)}, most records have {_listing(schema)}"
            self.log.add(record.position, record.id, f"{found}; make them alike or read with {setting('fill', 0.0)}")
            return False
        if record.attributes is not None and np.isnan(record.attributes).any():
            node, column = np.argwhere(np.isnan(record.attributes))[0]
            what = f"node {_name(record, node)} has no attribute {record.attribute_names[column]!r}"
            self.log.add(record.position, record.id, f"{what}; give it a value or read with {setting('fill', 0.0)}")
            return False
        return True

    def _rows(self, record: Record, schema: tuple[str, ...]) -> NDArray[np.float32]:
        if record.attributes is not None and record.attribute_names == schema:
            rows = record.attributes
        else:
            rows = np.full((record.nodes, len(schema)), np.nan, np.float32)
            if record.attributes is not None:
                rows[:, [schema.index(name) for name in record.attribute_names]] = record.attributes
        if self.fill is not None:
            rows = np.where(np.isnan(rows), np.float32(self.fill), rows)
        return rows


def _codes(parts: list[tuple[NDArray[np.int64] | None, int]]) -> NDArray[np.int64] | None:
    """Label codes one after another; records without labels get the empty label, a set without any gets None."""
    if all(codes is None for codes, _ in parts):
        return None
    return np.concatenate([np.full(length, _EMPTY) if codes is None else codes for codes, length in parts])


def _label_names(records: list[Record], *used: NDArray[np.int64] | None) -> dict[int, str]:
    names = {code: name for record in records for code, name in record.label_names.items()}
    return names | {_EMPTY: ""} if any((codes == _EMPTY).any() for codes in used if codes is not None) else names


def _names(records: list[Record]) -> NDArray[np.str_] | None:
    if all(record.node_names is None for record in records):
        return None
    rows = [record.node_names or [str(i) for i in range(record.nodes)] for record in records]
    return np.asarray([name for row in rows for name in row], dtype=np.str_)


def _name(record: Record, node: int) -> str:
    return repr(record.node_names[node]) if record.node_names else str(node)


def _listing(names: tuple[str, ...]) -> str:
    return f"{counted(len(names), 'attribute')} ({listing(names, 6)})" if names else "no attributes"
