"""PyTorch Geometric: `Data`, `HeteroData`, `TemporalData`, lists of them, batches and datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import label_codes
from graphglass.graphs.ragged import offsets
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.record import Record, read_each


def read_pyg(graphs: Iterable[tuple[int, object]], options: ReadOptions) -> GraphSet:
    """``x`` becomes the attributes, ``z`` the node labels, ``edge_attr`` edge labels or attributes, ``y`` the class.

    Edge attributes are labels if they are whole or one-hot in a graph, else numbers called ``value_0``, ``value_1``,
    ... (``weight`` for ``edge_weight``). A graph whose ``edge_index`` is not symmetric is directed, unless `directed`
    says otherwise. The events of a ``TemporalData`` are directed edges with the attributes ``time`` and ``msg_0``,
    ``msg_1``, ... The node and edge types of a ``HeteroData`` become labels, and every type keeps its own columns
    (``paper_0``, ``paper_1``, ...), which are 0 for other types. Graphs are called by ``id`` or ``name`` if they have
    one. Other fields with a single value, such as ``smiles``, can be kept as columns or used as the class.
    """

    def name(graph: object) -> str | None:
        given = (getattr(graph, key, None) for key in ("id", "name"))
        return next((value for value in given if isinstance(value, str)), None)

    def record(graph: object, position: int, identifier: str) -> Record:
        kinds = {kind.__name__ for kind in type(graph).__mro__}
        make = _events if "TemporalData" in kinds else _hetero if "HeteroData" in kinds else _data
        try:
            return make(graph, position, identifier, options)
        except GraphError:
            raise
        except (AttributeError, IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError) as error:
            # Its fields may hold anything, and PyG works out sizes from them.
            raise GraphError(f"its fields do not fit together: {type(error).__name__}: {error}") from error

    return read_each(_single(graphs), name, record, options)


def _single(graphs: Iterable[tuple[int, object]]) -> Iterator[tuple[int, object]]:
    """Batches split into graphs; positions count graphs."""
    position = 0
    for place, item in graphs:
        position = max(position, place)
        for graph in item.to_data_list() if hasattr(item, "to_data_list") else [item]:
            yield position, graph
            position += 1


def _data(graph: object, position: int, name: str, options: ReadOptions) -> Record:
    if not hasattr(graph, "edge_index"):
        raise GraphError(f"expected torch_geometric Data or HeteroData, found {type(graph).__name__}")
    edges = _edge_ends(graph.edge_index)
    nodes = _node_count(graph, edges)
    attributes = _rows(graph, "x", nodes)
    width = 0 if attributes is None else attributes.shape[1]
    labels, numbers, columns = _edge_data(graph, edges.shape[1])
    return Record(
        position, name, nodes, edges[0], edges[1],
        label=_single_value(getattr(graph, options.label_column or "y", None)),
        columns=options.kept(_fields(graph)),
        node_labels=_node_labels(graph, nodes),
        edge_labels=labels,
        attributes=attributes if width else None,
        attribute_names=tuple(f"attribute_{i}" for i in range(width)),
        edge_attributes=numbers,
        edge_attribute_names=columns,
        directed=not _symmetric(edges),
        listed_once=False,
    )  # fmt: skip


def _edge_ends(value: object) -> NDArray[np.int64]:
    edges = np.zeros((2, 0), np.int64) if value is None else _array(value)
    if edges.ndim != 2 or edges.shape[0] != 2 or not np.issubdtype(edges.dtype, np.integer):
        raise GraphError(f"edge_index must be whole numbers of shape (2, edges), found {edges.dtype} {edges.shape}")
    return edges.astype(np.int64)


def _hetero(graph: Any, position: int, name: str, options: ReadOptions) -> Record:
    kinds = list(graph.node_types)
    counts = [int(graph[kind].num_nodes or 0) for kind in kinds]
    if min(counts, default=0) < 0:
        raise GraphError(f"the number of nodes must not be negative, found {min(counts)}")
    if excess := options.limits.graph_excess(sum(counts), 0):
        raise GraphError(excess)
    first = dict(zip(kinds, offsets(counts).tolist(), strict=False))
    tables = [_rows(graph[kind], "x", count) for kind, count in zip(kinds, counts, strict=True)]
    # An edge and the one that PyG added in the other direction have two types: that of the first one is the label.
    links = sorted(graph.edge_types, key=lambda link: link[1].startswith("rev_"))
    ends, edge_tables = [np.zeros((2, 0), np.int64)], []
    for link in links:
        found = _edge_ends(graph[link].edge_index)
        for kind, places in zip((link[0], link[2]), found, strict=True):
            count = counts[kinds.index(kind)] if kind in first else 0
            if places.size and not 0 <= places.min() <= places.max() < count:
                raise GraphError(f"an edge of type {' '.join(link)!r} leaves the {count:,} nodes of type {kind!r}")
        ends.append(found + np.array([[first[link[0]]], [first[link[2]]]]))
        edge_tables.append(_rows(graph[link], "edge_attr", found.shape[1]))
    edges = np.concatenate(ends, axis=1)
    facts = graph._global_store.to_dict()
    label_names: dict[int, str] = {}
    codes, edge_codes = (label_codes(texts, label_names) for texts in (kinds, [" ".join(link) for link in links]))
    attributes, names = _by_type(tables, kinds, counts)
    numbers, edge_names = _by_type(edge_tables, ["_".join(link) for link in links], [one.shape[1] for one in ends[1:]])
    return Record(
        position, name, sum(counts), edges[0], edges[1],
        label=_single_value(facts.get(options.label_column or "y")),
        columns=options.kept({key: one for key, value in facts.items() if (one := _single_value(value)) is not None}),
        node_labels=np.repeat(codes, counts),
        edge_labels=np.repeat(edge_codes, [one.shape[1] for one in ends[1:]]),
        attributes=attributes,
        attribute_names=names,
        edge_attributes=numbers,
        edge_attribute_names=edge_names,
        label_names=label_names,
        directed=not _symmetric(edges),
        listed_once=False,
        node_typed=True,
        edge_typed=True,
    )  # fmt: skip


def _by_type(
    tables: list[NDArray[np.float64] | None], kinds: list[str], counts: list[int]
) -> tuple[NDArray[np.float64] | None, tuple[str, ...]]:
    """The tables of several types as one, each with its own columns, 0 in the rows of other types."""
    widths = [0 if table is None else table.shape[1] for table in tables]
    names = [f"{kind}_{i}" for kind, width in zip(kinds, widths, strict=True) for i in range(width)]
    joined = np.zeros((sum(counts), len(names)))
    row = column = 0
    for table, count in zip(tables, counts, strict=True):
        if table is not None:
            joined[row : row + count, column : column + table.shape[1]] = table
            column += table.shape[1]
        row += count
    return (joined, tuple(names)) if names else (None, ())


def _events(graph: Any, position: int, name: str, options: ReadOptions) -> Record:
    sources, targets = _array(graph.src), _array(graph.dst)
    columns = [_array(graph.t).astype(np.float64)[:, None]]
    if getattr(graph, "msg", None) is not None:
        messages = _array(graph.msg).astype(np.float64)
        columns.append(messages.reshape(len(sources), -1))
    numbers = np.concatenate(columns, axis=1)
    if not np.isfinite(numbers).all():
        raise GraphError("the times or messages of the events hold NaN or infinite values")
    return Record(
        position, name, int(max(sources.max(initial=-1), targets.max(initial=-1))) + 1, sources, targets,
        edge_attributes=numbers,
        edge_attribute_names=("time", *(f"msg_{i}" for i in range(numbers.shape[1] - 1))),
        directed=True,
        listed_once=False,
        columns=options.kept(_fields(graph)),
    )  # fmt: skip


def _symmetric(edges: NDArray[Any]) -> bool:
    if not edges.size:
        return True
    span = int(edges.max()) + 1
    forward, backward = (np.unique(one.astype(np.int64) * span + two) for one, two in (edges, edges[::-1]))
    return np.array_equal(forward, backward)


def _node_count(graph: object, edges: NDArray[Any]) -> int:
    """What the object states; Data.num_nodes would warn and guess where only edges are known."""
    stated = graph._store.get("num_nodes") if hasattr(graph, "_store") else None
    if stated is not None:
        return int(stated)
    for key in ("x", "z", "pos"):
        if getattr(graph, key, None) is not None:
            return len(getattr(graph, key))
    return int(edges.max()) + 1 if edges.size else 0


def _rows(graph: object, key: str, count: int) -> NDArray[np.float64] | None:
    """A table with a finite row for each of the nodes or edges."""
    if getattr(graph, key, None) is None:
        return None
    values = _array(getattr(graph, key))
    values = values[:, None] if values.ndim == 1 else values
    what = "nodes" if key == "x" else "edges"
    if values.ndim != 2 or len(values) != count:
        raise GraphError(f"{key} must have one row for each of the {count} {what}, found shape {values.shape}")
    broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if broken.size:
        raise GraphError(f"{key} of {what[:-1]} {broken[0]} is NaN or infinite")
    return values.astype(np.float64)


def _node_labels(graph: Any, nodes: int) -> NDArray[np.int64] | None:
    values = None if getattr(graph, "z", None) is None else _array(graph.z)
    if values is None or values.shape != (nodes,) or not np.issubdtype(values.dtype, np.integer):
        return None
    return values.astype(np.int64)


def _edge_data(
    graph: object, edges: int
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None, tuple[str, ...]]:
    """Edge labels, edge attributes and the names of the attributes."""
    labels, tables, names = None, [], []
    values = _rows(graph, "edge_attr", edges)
    if values is not None:
        if values.shape[1] == 1 and (values == np.round(values)).all():
            labels = values[:, 0].astype(np.int64)
        elif values.shape[1] > 1 and np.isin(values, (0, 1)).all() and (values.sum(axis=1) == 1).all():
            labels = values.argmax(axis=1).astype(np.int64)
        elif values.shape[1]:
            tables.append(values)
            names += [f"value_{i}" for i in range(values.shape[1])]
    weights = _rows(graph, "edge_weight", edges)
    if weights is not None:
        tables.append(weights[:, :1])
        names.append("weight")
    return labels, np.concatenate(tables, axis=1) if tables else None, tuple(names)


def _fields(graph: Any) -> dict[str, Any]:
    """What an object says about the whole graph: fields that hold a single value."""
    names = sorted(set(graph.keys()) - {"num_nodes", "id"}) if callable(getattr(graph, "keys", None)) else []
    return {name: value for name in names if (value := _single_value(graph[name])) is not None}


def _single_value(value: object) -> Any:
    """A text or number, also in a tensor or list of one; None for anything else."""
    if value is None or isinstance(value, str):
        return value
    values = np.asarray(_array(value)).ravel()
    return values[0].item() if values.size == 1 and values.dtype != object else None


def _array(value: object) -> NDArray[Any]:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)
