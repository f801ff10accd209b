"""PyTorch Geometric: `Data`, lists of them, batches and datasets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import to_float32
from graphglass.graphs.readers.record import Record


def read_pyg(graphs: Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """``x`` becomes the attributes, ``z`` the node labels, ``edge_attr`` the edge labels, ``y`` the class.

    Edge attributes count as labels if they are whole or one-hot; continuous ones are not used.
    Graphs are called by ``id`` or ``name`` if they have one.
    """
    records = options.records()
    position = 0
    for place, item in graphs:
        position = max(position, place)
        for graph in item.to_data_list() if hasattr(item, "to_data_list") else [item]:
            given = (getattr(graph, key, None) for key in ("id", "name"))
            name = next((value for value in given if isinstance(value, str)), f"graph-{position}")
            try:
                records.add(_record(graph, position, name, options))
            except GraphError as error:
                options.log.add(position, name, str(error))
            position += 1
    return records.build()


def _record(graph: Any, position: int, name: str, options: ReadOptions) -> Record:
    if not hasattr(graph, "edge_index") or hasattr(graph, "node_types"):
        raise GraphError(f"expected torch_geometric Data with one kind of node, found {type(graph).__name__}")
    edges = np.zeros((2, 0), np.int64) if graph.edge_index is None else _array(graph.edge_index)
    if edges.ndim != 2 or edges.shape[0] != 2 or not np.issubdtype(edges.dtype, np.integer):
        raise GraphError(f"edge_index must be whole numbers of shape (2, edges), found {edges.dtype} {edges.shape}")
    nodes = _node_count(graph, edges)
    if excess := options.limits.graph_excess(nodes, edges.shape[1]):
        raise GraphError(excess)
    attributes = _attributes(graph, nodes)
    width = 0 if attributes is None else attributes.shape[1]
    return Record(
        position, name, nodes, edges[0], edges[1],
        label=_class(graph),
        node_labels=_node_labels(graph, nodes),
        edge_labels=_edge_labels(graph, edges.shape[1]),
        attributes=attributes if width else None,
        attribute_names=tuple(f"attribute_{i}" for i in range(width)),
        directed=True,
    )  # fmt: skip


def _node_count(graph: Any, edges: NDArray[Any]) -> int:
    """What the object states; Data.num_nodes would warn and guess where only edges are known."""
    stated = graph._store.get("num_nodes") if hasattr(graph, "_store") else None
    if stated is not None:
        return int(stated)
    for key in ("x", "z", "pos"):
        if getattr(graph, key, None) is not None:
            return len(getattr(graph, key))
    return int(edges.max()) + 1 if edges.size else 0


def _attributes(graph: Any, nodes: int) -> NDArray[np.float32] | None:
    if getattr(graph, "x", None) is None:
        return None
    values = _array(graph.x)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != nodes:
        raise GraphError(f"x must have one row for each of the {nodes} nodes, found shape {values.shape}")
    broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if broken.size:
        raise GraphError(f"x of node {broken[0]} is NaN or infinite")
    return to_float32(values)


def _node_labels(graph: Any, nodes: int) -> NDArray[np.int64] | None:
    values = None if getattr(graph, "z", None) is None else _array(graph.z)
    if values is None or values.shape != (nodes,) or not np.issubdtype(values.dtype, np.integer):
        return None
    return values.astype(np.int64)


def _edge_labels(graph: Any, edges: int) -> NDArray[np.int64] | None:
    if getattr(graph, "edge_attr", None) is None:
        return None
    values = _array(graph.edge_attr)
    if len(values) != edges:
        raise GraphError(f"edge_attr must have one row for each of the {edges} edges, found {len(values)}")
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or not np.isfinite(values).all():
        return None
    if values.shape[1] == 1 and (values == np.round(values)).all():
        return values[:, 0].astype(np.int64)
    if values.shape[1] > 1 and ((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all():
        return values.argmax(axis=1).astype(np.int64)
    return None


def _class(graph: Any) -> Any:
    if getattr(graph, "y", None) is None:
        return None
    values = np.asarray(_array(graph.y)).ravel()
    return values[0].item() if values.size == 1 else None


def _array(value: Any) -> NDArray[Any]:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)
