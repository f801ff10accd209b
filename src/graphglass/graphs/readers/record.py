"""One graph as a reader finds it, and the collection of many into a GraphSet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError, LimitError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.graph_set import COUNT, GraphSet
from graphglass.graphs.labels import text_code
from graphglass.graphs.limits import Admission
from graphglass.graphs.ragged import offsets
from graphglass.graphs.readers.flat import FlatGraphs
from graphglass.graphs.readers.options import ReadOptions
from graphglass.messages import counted, listing, setting

_EMPTY = text_code("")  # the code of a missing label
_SPARSE, _PER_NUMBER = 1 << 22, 64  # numbers that any table may miss, and how many more per row and number


@dataclass
class Record:
    """One graph before it joins the others.

    ``sources`` and ``targets`` are node rows of this graph. NaN marks an attribute the source does not give. There are
    no ``node_names`` where nodes are called 0, 1, 2, ... An edge without direction is listed once or, where not
    ``listed_once``, expected in both directions. ``columns`` are the caller's own values. In a typed record an
    attribute belongs to a type: a graph without that type need not have it.
    """

    position: int
    id: str
    nodes: int
    sources: NDArray[Any]
    targets: NDArray[Any]
    label: Any = None
    node_labels: NDArray[np.int64] | None = None
    edge_labels: NDArray[np.int64] | None = None
    attributes: NDArray[Any] | None = None
    attribute_names: tuple[str, ...] = ()
    edge_attributes: NDArray[np.float64] | None = None
    edge_attribute_names: tuple[str, ...] = ()
    node_names: list[str] | None = None
    atom_environments: NDArray[np.int64] | None = None
    atom_contributions: NDArray[np.float64] | None = None
    label_names: dict[int, str] = field(default_factory=dict)
    directed: bool = False
    listed_once: bool = True
    columns: dict[str, Any] = field(default_factory=dict)
    node_typed: bool = False
    edge_typed: bool = False


def read_each(
    items: Iterable[tuple[int, Any]],
    name: Callable[[Any], Any],
    record: Callable[[Any, int, str], Record],
    options: ReadOptions,
    source: str = "fixed",
) -> GraphSet:
    """Graphs of many (position, item); `name` gives the id of an item, or nothing, and `record` its graph.

    A ValueError of `record` leaves the item out with the reason.
    """
    records = RecordSet(options, source)
    for position, item in items:
        identifier = f"graph-{position}"
        try:
            identifier = str(name(item) or identifier)
            records.add(record(item, position, identifier))
        except LimitError:
            raise
        except ValueError as error:
            options.log.add(position, identifier, str(error))
    return records.build()


class RecordSet:
    """Collects records, leaves out the bad ones, and builds the GraphSet.

    The attribute names most records carry are the schema; a record with others is left out, unless `fill` is given:
    then the schema is the union, and `fill` replaces every missing value. Edge attributes beyond the schema are not
    used, and a missing ``count`` of an edge is 1.
    """

    def __init__(self, options: ReadOptions, source: str = "fixed") -> None:
        self.options = options
        self.source = source
        self.records: list[Record] = []
        self._admission = Admission(options.limits)

    def add(self, record: Record) -> None:
        width, most = len(record.attribute_names), self.options.limits.max_attributes
        if width > most:
            raise GraphError(f"{width} attributes, the limit max_attributes is {most}")
        described = [record.node_labels, record.attributes, record.node_names]
        record.id = self._admission.admit(
            record.id, record.nodes, len(record.sources),
            described=any(values is not None for values in described),
        )  # fmt: skip
        self.records.append(record)

    def build(self) -> GraphSet:
        if renamed := self._admission.renamed:
            self.options.log.note(renamed)
        every = self.options.fill is not None
        node_typed = all(record.node_typed for record in self.records)
        edge_typed = all(record.edge_typed for record in self.records if len(record.sources))
        self.options.log.typed = bool(self.records) and node_typed
        schema = _schema([record.attribute_names for record in self.records], every or node_typed)
        edge_schema = _schema(
            [record.edge_attribute_names for record in self.records if len(record.sources)], every or edge_typed
        )
        for owner, names in (("node", schema), ("edge", edge_schema)):
            self.options.limits.check("max_attributes", len(names), f"Attributes per {owner}")
        kept = [record for record in self.records if self._fits(record, schema, edge_schema)]
        if not kept:
            return concatenate([])
        missing = sum(record.label is None for record in kept)
        if 0 < missing < len(kept):
            self.options.log.note(f"{missing} of {len(kept)} graphs have no class label; class labels are left out")
        node_labels = _joined(kept, "node_labels", lambda record: np.full(record.nodes, _EMPTY))
        edge_labels = _joined(kept, "edge_labels", lambda record: np.full(len(record.sources), _EMPTY))
        label_names = {code: name for record in kept for code, name in record.label_names.items()}
        if any((codes == _EMPTY).any() for codes in (node_labels, edge_labels) if codes is not None):
            label_names[_EMPTY] = ""
        wanted, edges = self.options.directed, [len(record.sources) for record in kept]
        counts = np.asarray([record.nodes for record in kept], dtype=np.int64)
        starts = np.repeat(offsets(counts)[:-1], edges)
        return FlatGraphs(
            ids=[record.id for record in kept],
            positions=np.asarray([record.position for record in kept]),
            counts=counts,
            edge_graph=np.repeat(np.arange(len(kept)), edges),
            sources=np.concatenate([record.sources for record in kept]).astype(np.int64) + starts,
            targets=np.concatenate([record.targets for record in kept]).astype(np.int64) + starts,
            labels=None if missing else [record.label for record in kept],
            node_labels=node_labels,
            attributes=_table([(r.attributes, r.attribute_names, r.nodes) for r in kept], schema, zero=node_typed),
            attribute_names=schema,
            edge_labels=edge_labels,
            edge_attributes=_table(
                [(r.edge_attributes, r.edge_attribute_names, len(r.sources)) for r in kept],
                edge_schema,
                zero=edge_typed,
            ),
            edge_attribute_names=edge_schema,
            node_names=_joined(kept, "node_names", lambda record: [str(i) for i in range(record.nodes)]),
            label_names=label_names,
            directed=any(record.directed for record in kept) if wanted is None else wanted,
            listed_once=np.asarray([record.listed_once for record in kept]),
            columns={
                name: [record.columns.get(name) for record in kept]
                for name in dict.fromkeys(name for record in kept for name in record.columns)
            },
            atom_environments=_joined(kept, "atom_environments"),
            atom_contributions=_joined(kept, "atom_contributions"),
            source=self.source,
        ).build(self.options)

    def _fits(self, record: Record, schema: tuple[str, ...], edge_schema: tuple[str, ...]) -> bool:
        if self.options.fill is not None:
            return True
        found = None
        if set(record.attribute_names) != set(schema) and not record.node_typed:
            found = f"has {_listing(record.attribute_names)}, most records have {_listing(schema)}"
        elif len(record.sources) and not set(edge_schema) <= {*record.edge_attribute_names, COUNT}:
            if record.edge_typed:
                return True
            names = record.edge_attribute_names
            found = f"its edges have {_listing(names)}, those of most records have {_listing(edge_schema)}"
        for name in set(record.edge_attribute_names) - set(edge_schema):
            self.options.log.note(f"edge attribute {name!r} occurs in few records and was not used")
        if found:
            reason = f"{found}; make them equal or read with {setting('fill', 0.0)}"
            self.options.log.add(record.position, record.id, reason, record.columns)
        return not found


def _schema(found: list[tuple[str, ...]], every: bool) -> tuple[str, ...]:
    """The names that most records carry, or all names that occur."""
    if every:
        return tuple(dict.fromkeys(name for names in found for name in names))
    orders: dict[frozenset[str], tuple[str, ...]] = {}
    votes: Counter[frozenset[str]] = Counter()
    for names in found:
        orders.setdefault(frozenset(names), names)
        votes[frozenset(names)] += 1
    return orders[votes.most_common(1)[0][0]] if votes else ()


def _table(
    parts: list[tuple[NDArray[Any] | None, tuple[str, ...], int]], schema: tuple[str, ...], *, zero: bool
) -> Any:
    """Attribute rows one after another in the order of the schema, NaN (or 0) where a record has none."""
    if not schema:
        return None
    length, numbers = sum(part[2] for part in parts), sum(part[0].size for part in parts if part[0] is not None)
    if too_sparse(length, len(schema), numbers):
        raise LimitError(
            f"{len(schema)} attributes in {length:,} rows would be {length * len(schema):,} numbers, found {numbers:,}."
            " Read graphs with the same attributes together."
        )
    places = {name: place for place, name in enumerate(schema)}
    rows = []
    for values, names, length in parts:
        if values is not None and names == schema:
            rows.append(values)
            continue
        table = np.full((length, len(schema)), 0.0 if zero else np.nan)
        shared = [place for place, name in enumerate(names) if name in places]
        if values is not None and shared:
            table[:, [places[names[place]] for place in shared]] = values[:, shared]
        rows.append(table)
    return np.concatenate(rows)


def too_sparse(rows: int, columns: int, numbers: int) -> bool:
    """Whether a table would mostly be missing numbers, which take memory and no bytes of the input."""
    return rows * columns > max(_SPARSE, _PER_NUMBER * (rows + numbers))


def _joined(records: list[Record], name: str, missing: Callable[[Record], Any] | None = None) -> Any:
    """A column of all records; None if none has it, or if one lacks it and there is nothing in place of it."""
    parts = [getattr(record, name) for record in records]
    lacking = sum(part is None for part in parts)
    if lacking == len(parts) or (lacking and missing is None):
        return None
    if missing is not None:
        parts = [missing(r) if part is None else part for r, part in zip(records, parts, strict=True)]
    return np.concatenate(parts)


def _listing(names: tuple[str, ...]) -> str:
    return f"{counted(len(names), 'attribute')} ({listing(names, 6)})" if names else "no attributes"
