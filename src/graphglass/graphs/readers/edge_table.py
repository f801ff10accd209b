"""Edge tables: a row per edge (``graph_id, source, target[, label]``) and an optional table with a row per node.

The node table has ``graph_id, node[, label, graph_label]``; its other numeric columns are attributes.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphglass.errors import GraphError, SchemaError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.label_codes import label_codes
from graphglass.graphs.readers.flat import FlatGraphs
from graphglass.graphs.readers.options import ReadOptions
from graphglass.wording import listing

EDGE_COLUMNS = ("graph_id", "source", "target")
NODE_COLUMNS = ("graph_id", "node")
SPELLED = {b"spelled": b"as in the file"}  # marks a label column of a file that has no types
_WHOLE = re.compile(r"[+-]?\d{1,18}(\.0*)?")
_NOT_ATTRIBUTES = {"graph_id", "node", "label", "graph_label"}
Codes = NDArray[np.int64]


def read_edge_table(edges: pa.Table, nodes: pa.Table | None, options: ReadOptions, *, first_row: int) -> GraphSet:
    """Graphs of an edge table, in the order the node table (else the edge table) first names them.

    Without a node table the nodes are those the edges name: numbers in their order, text as it first appears. With one,
    the nodes are its rows, isolated ones included, and an edge may name no others.

    Parameters
    ----------
    first_row : int
        The number a reject gives to the first row: 2 for a file with a header line.
    """
    require_columns(edges, EDGE_COLUMNS, "An edge table")
    options.limits.check("max_edges", edges.num_rows, "Rows of the edge table")
    if nodes is not None:
        require_columns(nodes, NODE_COLUMNS, "A node table")
        options.limits.check("max_nodes", nodes.num_rows, "Rows of the node table")
    edges, edge_rows = _rows_of_graphs(edges, options, first_row)
    if nodes is None:
        ids, (edge_graph,) = _factorise([edges["graph_id"]])
        values, keys, given = _node_keys([edges["source"], edges["target"]])
    else:
        nodes, node_rows = _rows_of_graphs(nodes, options, first_row)
        ids, (node_graph, edge_graph) = _factorise([nodes["graph_id"], edges["graph_id"]])
        values, keys, given = _node_keys([nodes["node"], edges["source"], edges["target"]])
    span = max(len(values), 1)
    complete = given[-2] & given[-1]
    pairs = [edge_graph * span + key for key in keys[-2:]]  # (graph, node) as one number
    positions = np.zeros(len(ids), np.int64)
    positions[edge_graph[::-1]] = edge_rows[::-1]  # the first row of a graph is written last, so it stays
    if nodes is None:
        stored = np.unique(np.concatenate([pair[complete] for pair in pairs]))
        order = np.arange(len(stored))
    else:
        positions[node_graph[::-1]] = node_rows[::-1]
        order = np.argsort(node_graph, kind="stable")
        stored = (node_graph * span + keys[0])[order]
    counts = np.bincount(stored // span, minlength=len(ids))
    places = [_find(stored, pair) for pair in pairs]
    starts = (np.cumsum(counts) - counts)[edge_graph]
    flat = FlatGraphs(ids, positions, counts, edge_graph, places[0] - starts, places[1] - starts)
    _note_faults(flat, places, complete, edge_rows)
    flat.node_names = _names(values, stored % span, counts)
    if "label" in edges.column_names:
        flat.edge_labels = _label_column(edges, flat.label_names)
    if nodes is not None:
        for row in np.flatnonzero(~given[0]):
            flat.fault(node_graph[row], node_rows[row], "a row of the node table has no node")
        for place in _repeats(stored):
            row = order[place]
            flat.fault(node_graph[row], node_rows[row], f"node {values[keys[0][row]]} stands twice in the node table")
        _node_columns(flat, nodes.take(pa.array(order)), counts)
    return flat.build(options)


def require_columns(table: pa.Table, wanted: tuple[str, ...], what: str) -> None:
    missing = [name for name in wanted if name not in table.column_names]
    if missing:
        raise SchemaError(
            f"{what} needs the columns {', '.join(wanted)}; missing: {', '.join(missing)}. "
            f"Columns found: {listing(table.column_names)}."
        )


def _rows_of_graphs(table: pa.Table, options: ReadOptions, first_row: int) -> tuple[pa.Table, Codes]:
    """The rows that name a graph, and their numbers in the file."""
    given = table["graph_id"].is_valid().to_numpy()
    rows = np.arange(table.num_rows) + first_row
    for row in rows[~given]:
        options.log.add(int(row), "?", "the row has no graph_id")
    return (table, rows) if given.all() else (table.filter(pa.array(given)), rows[given])


def _factorise(columns: list[pa.ChunkedArray]) -> tuple[list[str], list[Codes]]:
    """Distinct texts in the order they appear, and each column as places in them."""
    texts = [chunk for column in columns for chunk in column.cast(pa.string()).chunks]
    encoded = pa.chunked_array(texts, pa.string()).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), np.split(codes, np.cumsum([len(column) for column in columns])[:-1])


def _node_keys(columns: list[pa.ChunkedArray]) -> tuple[NDArray[Any], list[Codes], list[NDArray[np.bool_]]]:
    """Distinct node ids, each column as places in them, and where a column gives an id at all.

    Whole numbers are in their order; if any column holds text, all count as text, in the order it appears.
    """
    given = [column.is_valid().to_numpy() for column in columns]
    whole = [_whole_numbers(column) for column in columns]
    if all(column is not None for column in whole):
        numbers = [pc.fill_null(column, 0).to_numpy().astype(np.int64) for column in whole if column is not None]
        values, codes = np.unique(np.concatenate(numbers), return_inverse=True)
        return values, np.split(codes, np.cumsum([len(column) for column in numbers])[:-1]), given
    texts, split = _factorise([pc.fill_null(column.cast(pa.string()), "") for column in columns])
    return np.asarray(texts, dtype=object), split, given


def _whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The column as int64 if it holds whole numbers, also as text without leading zeros; else None."""
    if pa.types.is_integer(column.type) or pa.types.is_null(column.type):
        return column.cast(pa.int64())
    try:
        numbers = column.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    if pa.types.is_floating(column.type):
        return numbers
    same = pc.all(pc.equal(numbers.cast(pa.string()), column.cast(pa.string()))).as_py()
    return None if same is False else numbers


def _find(stored: Codes, wanted: Codes) -> Codes:
    """The row of each wanted (graph, node) among the stored, -1 where there is none."""
    if not len(stored):
        return np.full(len(wanted), -1)
    order = np.argsort(stored, kind="stable")
    place = np.minimum(np.searchsorted(stored, wanted, sorter=order), len(stored) - 1)
    return np.where(stored[order[place]] == wanted, order[place], -1)


def _repeats(stored: Codes) -> Codes:
    _, first = np.unique(stored, return_index=True)
    again = np.ones(len(stored), bool)
    again[first] = False
    return np.flatnonzero(again)


def _note_faults(flat: FlatGraphs, places: list[Codes], complete: NDArray[np.bool_], rows: Codes) -> None:
    for edge in np.flatnonzero(~complete):
        flat.fault(flat.edge_graph[edge], rows[edge], "an edge has no source or no target")
    for edge in np.flatnonzero((places[0] < 0) | (places[1] < 0)):
        flat.fault(flat.edge_graph[edge], rows[edge], "an edge names a node that the node table does not list")


def _names(values: NDArray[Any], keys: Codes, counts: Codes) -> NDArray[np.str_] | None:
    """Node ids as text, unless every graph has the nodes 0, 1, 2, ... in order."""
    local = np.arange(len(keys)) - np.repeat(np.cumsum(counts) - counts, counts)
    if values.dtype != object and (values[keys] == local).all():
        return None
    return values[keys].astype(np.str_)


def _label_column(table: pa.Table, names: dict[int, str]) -> Codes:
    """Codes of the column ``label``; each distinct value is coded once."""
    column, field = table["label"], table.schema.field("label")
    spelled = field.metadata is not None and SPELLED.items() <= field.metadata.items()
    whole = column if pa.types.is_string(column.type) else _whole_numbers(column)
    encoded = (column.cast(pa.string()) if whole is None else whole).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    distinct = encoded.dictionary.to_pylist()
    if spelled:
        distinct = [_number_or_text(text) for text in distinct]
    try:
        codes = label_codes([*distinct, *([None] if encoded.null_count else [])], names)
    except GraphError as error:
        raise SchemaError(f"The column 'label' cannot be used: {error}.") from error
    missing = len(codes) - 1
    return codes[pc.fill_null(encoded.indices, missing).to_numpy(zero_copy_only=False)] if len(codes) else codes


def _number_or_text(text: str) -> int | str:
    """A label of a file without types: a whole number if it is spelled like one, as 7, -7 and 7.0 are."""
    return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else text


def _node_columns(flat: FlatGraphs, nodes: pa.Table, counts: Codes) -> None:
    """Labels, attributes and class labels of a node table whose rows are in the graphs' order."""
    if "label" in nodes.column_names:
        flat.node_labels = _label_column(nodes, flat.label_names)
    if "graph_label" in nodes.column_names and counts.all():
        first = nodes["graph_label"].take(pa.array(np.cumsum(counts) - counts))
        flat.labels = first.to_pylist()
    numeric = [
        name
        for name, kind in zip(nodes.column_names, nodes.schema.types, strict=True)
        if name not in _NOT_ATTRIBUTES
        and (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))
    ]
    if numeric:
        columns = [pc.fill_null(nodes[name].cast(pa.float64()), np.nan).to_numpy() for name in numeric]
        flat.attributes, flat.attribute_names = np.stack(columns, axis=1), tuple(numeric)
