"""Edge tables: a row per edge (``graph_id, source, target[, label]``) and an optional table with a row per node.

The node table has ``graph_id, node[, label, graph_label]``; other numeric columns of both are attributes. Options may
name the columns otherwise.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphglass.errors import GraphError, SchemaError, UnknownColumnsError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import label_codes
from graphglass.graphs.readers.flat import FlatGraphs
from graphglass.graphs.readers.options import ReadOptions
from graphglass.messages import listing, setting

EDGE_COLUMNS = ("graph_id", "source", "target")
NODE_COLUMNS = ("graph_id", "node")
_ALSO = {"graph": ("graph_id",), "source": ("source", "from", "src"), "target": ("target", "to", "dst")}  # in any case
DIRECTED = b"graphglass.directed"  # in the metadata of an edge table
OWN_COLUMNS = b"graphglass.columns"  # in the metadata of a node table: columns that describe graphs, and their names
ROWS = b"graphglass.rows"  # in the metadata of a table that does not have all lines of its file: their numbers
SPELLED = {b"spelled": b"as in the file"}  # marks a label column of a file that has no types
MISSING = ("", "NA", "N/A", "null")  # cells of a file that give no number
_NUMBER = r"^\s*[+-]?(?i:\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|nan)\s*$"
_WITH_COMMA = r"^\s*[+-]?\d[\d.,]*\s*$"
_DECIMAL_COMMA = r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?\s*$"
_WHOLE = re.compile(r"[+-]?\d{1,18}(\.0*)?")
_NOT_ATTRIBUTES = {"graph_id", "source", "target", "node", "graph_label"}
Codes = NDArray[np.int64]


def read_edge_table(edges: pa.Table, nodes: pa.Table | None, options: ReadOptions, *, first_row: int) -> GraphSet:
    """Graphs of an edge table, in the order the node table (else the edge table) first names them.

    Without a node table the nodes are those the edges name: numbers in their order, text as it first appears. With one,
    the nodes are its rows, isolated ones included, and an edge may name no others. `first_row` is the number a reject
    gives to the first row: 2 for a file with a header line.
    """
    directed, stated = _direction(edges, options)
    edges = with_usual_names(edges, EDGE_COLUMNS, options, "An edge table")
    options.limits.check("max_edges", edges.num_rows, "Rows of the edge table")
    if nodes is not None:
        nodes = with_usual_names(nodes, NODE_COLUMNS, options, "A node table")
        options.limits.check("max_nodes", nodes.num_rows, "Rows of the node table")
    label = _class_column((edges, nodes), options)
    ignored = _ignored((edges, nodes), options)
    options.log.columns.update(dict.fromkeys([*edges.column_names, *(nodes.column_names if nodes is not None else ())]))
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
    flat = FlatGraphs(ids, positions, counts, edge_graph, places[0], places[1])
    flat.directed = directed
    flat.source = "stated" if DIRECTED in (edges.schema.metadata or {}) else "free"  # the mark of write_parquet
    edges = _without(ignored, _take_graph_columns(flat, edges, edge_graph, label, options))
    if nodes is not None:
        nodes = _without(ignored, _take_graph_columns(flat, nodes, node_graph, label, options))
    free = flat.source == "free"
    flat.edge_attributes, flat.edge_attribute_names = _numbers(edges, edge_rows, "edge", options, free=free)
    for edge in np.flatnonzero(~complete):
        flat.fault(edge_graph[edge], "an edge has no source or no target that is finite", edge_rows[edge])
    for edge in np.flatnonzero((places[0] < 0) | (places[1] < 0)):
        flat.fault(edge_graph[edge], "an edge names a node that the node table does not list", edge_rows[edge])
    flat.inside = True
    flat.node_names = _names(values, stored % span, counts)
    if nodes is None and options.node_label == "node":
        flat.node_labels = label_codes(values, flat.label_names)[stored % span]
    elif nodes is None and values.dtype == object and len(values) <= len(ids):
        compare = setting("node_label", "node")
        options.log.advise(f"the names of nodes recur and are not compared; {compare} takes them as labels")
    if options.edge_label in edges.column_names:
        flat.edge_labels = _label_column(edges, options.edge_label, flat.label_names)
    if nodes is not None:
        for row in np.flatnonzero(~given[0]):
            flat.fault(node_graph[row], "a row of the node table has no finite node", node_rows[row])
        for place in _repeats(stored):
            row = order[place]
            flat.fault(node_graph[row], f"node {values[keys[0][row]]} occurs twice in the node table", node_rows[row])
        _node_columns(flat, nodes.take(pa.array(order)), node_rows[order], counts, options)
    built = flat.build(options)
    if not stated and built.removed[:, 2].any():
        options.log.note(
            f"edges were read without direction; pass {setting('directed', True)} if it matters which end is the "
            f"source, or {setting('directed', False)} if it does not"
        )
    return built


def by_header(options: ReadOptions, header: Sequence[str]) -> ReadOptions:
    """The options with the columns of an edge table as the header spells them, where it lacks the names they have."""
    found: dict[str, Any] = {}
    for owner, usual in _ALSO.items():
        name = getattr(options, f"{owner}_column")
        places = [column_place(header, other) for other in (name, *(usual if name == usual[0] else ()))]
        found[f"{owner}_column"] = next((header[place] for place in places if place is not None), name)
    return replace(options, **found)


def with_usual_names(table: pa.Table, wanted: tuple[str, ...], options: ReadOptions, what: str) -> pa.Table:
    """The table with the columns that the options name renamed to `wanted`; one that is missing or twice is refused."""
    options = by_header(options, table.column_names)
    chosen = {"graph_id": options.graph_column, "source": options.source_column, "target": options.target_column}
    names = table.column_names
    given = [chosen.get(name, name) for name in wanted]
    refuse_repeated(names, what)
    missing = [name for name in given if name not in names]
    if missing:
        raise UnknownColumnsError(
            f"{what} needs the columns {', '.join(given)}; missing: {', '.join(missing)}. "
            f"Columns found: {listing(names)}. {other_names()}",
            names,
        )
    usual = dict(zip(given, wanted, strict=True))
    free = {name: f"{name} (unnamed)" for name in wanted if name in names and name not in given}
    renamed = table.rename_columns([usual.get(name, free.get(name, name)) for name in names])
    return renamed.replace_schema_metadata(table.schema.metadata)


def other_names() -> str:
    """How to say which columns of an edge table are which."""
    wanted = [setting(f"{name}_column", "NAME") for name in ("graph", "source", "target")]
    return f"Columns of other names are given with {', '.join(wanted)}."


def refuse_repeated(names: Sequence[str], what: str) -> None:
    """A table needs columns of different names: of two, one would be lost."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise SchemaError(f"{what} has columns of the same name: {listing(twice)}. Rename or remove them.")


def column_place(header: Sequence[str], name: str) -> int | None:
    """The place of a column, in any spelling of case if none has exactly this name."""
    if name in header:
        return header.index(name)
    lowered = [cell.lower() for cell in header]
    return lowered.index(name.lower()) if name.lower() in lowered else None


def _class_column(tables: Sequence[pa.Table | None], options: ReadOptions) -> str | None:
    """The column of either table that holds the class; one that was asked for and is missing is refused."""
    if options.label_column is None:
        return None
    names = [name for table in tables if table is not None for name in table.column_names]
    place = column_place(names, options.label_column)
    if place is None:
        raise SchemaError(f"The table has no column {options.label_column!r}. Columns found: {listing(names)}.")
    out: str | None = names[place]
    return out


def _ignored(tables: Sequence[pa.Table | None], options: ReadOptions) -> set[str]:
    """The columns of both tables that the caller leaves out."""
    needed = {*EDGE_COLUMNS, *NODE_COLUMNS}
    wanted = {name.lower() for name in options.ignore}
    names = [name for table in tables if table is not None for name in table.column_names if name not in needed]
    found = {name for name in names if name.lower() in wanted}
    options.log.ignorable.update(dict.fromkeys(names))
    options.log.ignored.update(dict.fromkeys(sorted(found)))
    return found


def _without(ignored: set[str], table: pa.Table) -> pa.Table:
    return table.drop_columns([name for name in table.column_names if name in ignored])


def _direction(edges: pa.Table, options: ReadOptions) -> tuple[bool, bool]:
    """Whether edges are directed, and whether the caller or the file says so."""
    if options.directed is not None:
        return options.directed, True
    mark = (edges.schema.metadata or {}).get(DIRECTED)
    if mark is None and options.usual_direction is not None:
        return options.usual_direction, True
    return mark == b"true", mark is not None


def _rows_of_graphs(table: pa.Table, options: ReadOptions, first_row: int) -> tuple[pa.Table, Codes]:
    """The rows that name a graph, and their numbers in the file."""
    given = table["graph_id"].is_valid().to_numpy()
    stated = (table.schema.metadata or {}).get(ROWS)
    rows = np.arange(table.num_rows) + first_row if stated is None else np.frombuffer(stated, np.int64)
    for row in rows[~given]:
        options.log.add(int(row), "?", "the row has no graph_id")
    return (table, rows) if given.all() else (table.filter(pa.array(given)), rows[given])


def _factorise(columns: list[pa.ChunkedArray]) -> tuple[list[str], list[Codes]]:
    """Distinct texts in the order they appear, and each column as places in them."""
    texts = [chunk for column in columns for chunk in column.cast(pa.string()).chunks]
    encoded = _encoded(pa.chunked_array(texts, pa.string()))
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), np.split(codes, np.cumsum([len(column) for column in columns])[:-1])


def _encoded(column: pa.ChunkedArray, nulls: str = "mask") -> pa.DictionaryArray:
    encoded = column.combine_chunks().dictionary_encode(nulls)
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded


def _node_keys(columns: list[pa.ChunkedArray]) -> tuple[NDArray[Any], list[Codes], list[NDArray[np.bool_]]]:
    """Distinct node ids, each column as places in them, and where a column gives an id at all.

    Whole numbers are in their order; if any column holds text, all count as text, in the order it appears.
    """
    given = [_stated(column) for column in columns]
    columns = [pc.if_else(pa.array(there), column, None) for there, column in zip(given, columns, strict=True)]
    whole = [_whole_numbers(column) for column in columns]
    if all(column is not None for column in whole):
        numbers = [pc.fill_null(column, 0).to_numpy().astype(np.int64) for column in whole if column is not None]
        values, codes = np.unique(np.concatenate(numbers), return_inverse=True)
        return values, np.split(codes, np.cumsum([len(column) for column in numbers])[:-1]), given
    texts, split = _factorise([pc.fill_null(column.cast(pa.string()), "") for column in columns])
    return np.asarray(texts, dtype=object), split, given


def _stated(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Where a column gives an id; NaN and infinity are none."""
    finite = pc.is_finite(column) if pa.types.is_floating(column.type) else column.is_valid()
    return np.asarray(pc.fill_null(finite, False).to_numpy())


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


def _names(values: NDArray[Any], keys: Codes, counts: Codes) -> NDArray[np.str_] | None:
    """Node ids as text, unless every graph has the nodes 0, 1, 2, ... in order."""
    local = np.arange(len(keys)) - np.repeat(np.cumsum(counts) - counts, counts)
    if values.dtype != object and (values[keys] == local).all():
        return None
    return values[keys].astype(np.str_)


def _label_column(table: pa.Table, name: str, names: dict[int, str]) -> Codes:
    """Codes of a label column; each distinct value is coded once."""
    column, field = table[name], table.schema.field(name)
    spelled = field.metadata is not None and SPELLED.items() <= field.metadata.items()
    whole = column if pa.types.is_string(column.type) else _whole_numbers(column)
    encoded = _encoded(column.cast(pa.string()) if whole is None else whole)
    distinct = encoded.dictionary.to_pylist()
    if spelled:
        distinct = [_number_or_text(text) for text in distinct]
    try:
        codes = label_codes([*distinct, *([None] if encoded.null_count else [])], names)
    except GraphError as error:
        raise SchemaError(f"The column {name!r} cannot be used as a label: {error}.") from error
    missing = len(codes) - 1
    return codes[pc.fill_null(encoded.indices, missing).to_numpy(zero_copy_only=False)] if len(codes) else codes


def _number_or_text(text: str) -> int | str:
    """A label of a file without types: a whole number if it is spelled like one, as 7, -7 and 7.0 are."""
    return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else text


def _take_graph_columns(
    flat: FlatGraphs, table: pa.Table, graph_of: Codes, label: str | None, options: ReadOptions
) -> pa.Table:
    """Fill class labels and the caller's columns from a table; returns the table without what was taken.

    The column `label` holds the class. A number that is kept stays in the table and is compared as without keeping it.

    A column is taken if it is marked as one of a graph, or named by the caller, or if all are kept and it is text that
    is the same in all rows of each graph.
    """
    marked = json.loads((table.schema.metadata or {}).get(OWN_COLUMNS, b"{}"))
    first = np.full(len(flat.ids), -1)
    first[graph_of[::-1]] = np.arange(len(graph_of))[::-1]
    for name in table.column_names:
        if name in _NOT_ATTRIBUTES and name not in marked:
            continue
        wanted = name in marked or name.lower() in options.kept_names or name == label
        text = pa.types.is_string(table[name].type)
        if not wanted and not (options.keep == "all" and text and name not in (options.node_label, options.edge_label)):
            continue
        codes = _encoded(table[name], "encode").indices.to_numpy(zero_copy_only=False)
        other = np.flatnonzero(codes != codes[first[graph_of]])
        if other.size and not wanted:
            continue
        if other.size:
            raise SchemaError(
                f"The column {name!r} has several values in graph {flat.ids[graph_of[other[0]]]!r}. Only a column that "
                "is the same in all rows of a graph can describe the graph."
            )
        values = table[name].take(pa.array(first, mask=first < 0)).to_pylist()
        if name == label:
            flat.labels = values
        if options.kept({marked.get(name, name): None}):
            flat.columns[marked.get(name, name)] = values
        if text or name in marked or name == label:
            table = table.drop_columns([name])
    return table


def _node_columns(flat: FlatGraphs, nodes: pa.Table, rows: Codes, counts: Codes, options: ReadOptions) -> None:
    """Labels, attributes and class labels of a node table whose rows are in the graphs' order."""
    if options.node_label in nodes.column_names:
        flat.node_labels = _label_column(nodes, options.node_label, flat.label_names)
    if "graph_label" in nodes.column_names and counts.all():
        first = nodes["graph_label"].take(pa.array(np.cumsum(counts) - counts))
        flat.labels = flat.labels or first.to_pylist()
    flat.attributes, flat.attribute_names = _numbers(nodes, rows, "node", options, free=flat.source == "free")


def _numbers(
    table: pa.Table, rows: Codes, owner: str, options: ReadOptions, *, free: bool
) -> tuple[NDArray[np.float64] | None, tuple[str, ...]]:
    """Numeric columns as (rows, width), NaN where a cell is empty; times become seconds since 1970.

    `rows` are the numbers that the rows have in the file.
    """
    wanted = options.attributes if owner == "node" else options.edge_attributes
    label = options.node_label if owner == "node" else options.edge_label
    names, columns = [], []
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if name in _NOT_ATTRIBUTES or name == label or (wanted is not None and name not in wanted):
            continue
        column = table[name]
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            if free and not options.uses(name):
                options.log.leave_out(owner, name, "dates")
                continue
            whole = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())  # nanoseconds are cut off
            column = pc.divide(whole.cast(pa.float64()), 1e6)
        elif not (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_boolean(kind)
            or pa.types.is_decimal(kind)
        ):
            if pa.types.is_string(kind) and (remark := _among_numbers(column, rows)):
                label = setting(f"{owner}_label", name)
                options.log.note(
                    f"{owner} property {name!r} is text{remark} and was not used; pass {label} to use it as a label"
                )
            elif pa.types.is_string(kind):
                options.log.texts.setdefault(owner, {})[name] = None
            elif not pa.types.is_null(kind):
                options.log.advise(f"{owner} property {name!r} is of type {kind} and was not used")
            continue
        names.append(name)
        columns.append(pc.fill_null(column.cast(pa.float64()), np.nan).to_numpy())
    return (np.stack(columns, axis=1), tuple(names)) if names else (None, ())


def decimal_commas(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The numbers of a column that has them with decimal commas, as in 1.234,50; None for anything else."""
    missing = pc.or_kleene(column.is_null(), pc.is_in(column, pa.array(MISSING)))
    every = pc.all(pc.or_kleene(pc.match_substring_regex(column, _DECIMAL_COMMA), missing)).as_py()
    if not every or not pc.any(pc.match_substring(column, ",")).as_py():
        return None
    plain = pc.replace_substring(pc.replace_substring(pc.utf8_trim_whitespace(column), ".", ""), ",", ".")
    return pc.if_else(missing, None, plain).cast(pa.float64())


def _among_numbers(column: pa.ChunkedArray, rows: Codes) -> str:
    """What makes a column of numbers one of text, as a remark; nothing if no cell is a number."""
    number = pc.match_substring_regex(column, _NUMBER)
    missing = pc.or_kleene(column.is_null(), pc.is_in(column, pa.array(MISSING)))
    others = np.flatnonzero(~pc.or_kleene(number, missing).to_numpy())
    if not len(others):
        return ""
    if pc.all(pc.or_kleene(pc.match_substring_regex(column, _WITH_COMMA), missing)).as_py():
        return " (numbers with a comma; write them like 1234.5)"
    if not pc.any(number).as_py():
        return ""
    first = others[np.argmin(rows[others])]
    return f" (row {rows[first]} has {column[int(first)].as_py()!r:.60}, other rows have numbers; correct it)"
