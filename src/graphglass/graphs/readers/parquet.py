"""The graph table, one row per graph with lists inside; writing Parquet so, or as an edge table with a node table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphglass.errors import FormatError, SchemaError
from graphglass.graphs.chemistry import CONTRIBUTIONS, ENVIRONMENTS, NO_ENVIRONMENT
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.label_codes import text_code
from graphglass.graphs.readers.edge_table import DIRECTED, OWN_COLUMNS
from graphglass.graphs.readers.flat import FlatGraphs
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.selection import offsets
from graphglass.storage.atomic import replacing

GRAPH_COLUMNS = ("id", "nodes", "sources", "targets")
_LAYOUT = {
    *GRAPH_COLUMNS, "label", "node_labels", "edge_labels", "attributes", "edge_attributes", "node_names", "position",
    "atom_environments", "atom_contributions",
}  # fmt: skip
_METADATA = b"graphglass"


def read_graph_table(table: pa.Table, options: ReadOptions) -> GraphSet:
    """Graphs of a table with one row per graph."""
    try:
        facts = json.loads((table.schema.metadata or {}).get(_METADATA, b"{}"))
        names = tuple(str(name) for name in facts.get("attribute_names", ()))
        edge_names = tuple(str(name) for name in facts.get("edge_attribute_names", ()))
        directed = bool(facts.get("directed", False)) if options.directed is None else options.directed
        label_names = {int(code): str(name) for code, name in facts.get("label_names", {}).items()}
        code_names = {
            str(owner): {int(code): str(name) for code, name in names}
            for owner, names in facts.get("code_names", {}).items()
        }
    except (ValueError, AttributeError, TypeError) as error:
        raise FormatError(f"The table's own metadata cannot be read ({error}). Write it again.") from error
    options.limits.check("max_graphs", table.num_rows, "Rows of the graph table")
    table = _sound_rows(table, len(names), len(edge_names), options)
    counts, edges = _numbers(table, "nodes"), _lengths(table, "sources")
    starts = np.repeat(offsets(counts)[:-1], edges)
    flat = FlatGraphs(
        ids=_ids(table),
        positions=_numbers(table, "position"),
        counts=counts,
        edge_graph=np.repeat(np.arange(table.num_rows), edges),
        sources=_flattened(table, "sources", pa.int64(), -1) + starts,
        targets=_flattened(table, "targets", pa.int64(), -1) + starts,
        label_names=label_names,
        attribute_names=names,
        edge_attribute_names=edge_names,
        directed=directed,
        listed_once=np.full(table.num_rows, not facts.get("directed", False)),
    )
    present = set(table.column_names)
    if (options.label_column or "label") in present:
        flat.labels = table[options.label_column or "label"].to_pylist()
    if "node_labels" in present:
        flat.node_labels = _flattened(table, "node_labels", pa.int64(), text_code(""))
    if "edge_labels" in present:
        flat.edge_labels = _flattened(table, "edge_labels", pa.int64(), text_code(""))
    if "attributes" in present and names:
        flat.attributes = _flattened(table, "attributes", pa.float32(), np.nan).reshape(-1, len(names))
    if "edge_attributes" in present and edge_names:
        numbers = _flattened(table, "edge_attributes", pa.float64(), np.nan)
        flat.edge_attributes = numbers.reshape(-1, len(edge_names))
    facts_of = {table_name: name for name, table_name in facts.get("columns", {}).items()}
    for name in table.column_names:
        own = facts_of.get(name, name)
        single = not pa.types.is_nested(table.schema.field(name).type)
        if single and (name in facts_of or name not in _LAYOUT) and options.kept({own: None}):
            flat.columns[own] = table[name].to_pylist()
    if {"atom_environments", "atom_contributions"} <= present:
        numbers = _flattened(table, "atom_environments", pa.int64(), NO_ENVIRONMENT)
        flat.atom_environments = numbers.reshape(-1, ENVIRONMENTS)
        numbers = _flattened(table, "atom_contributions", pa.float64(), 0.0)
        flat.atom_contributions = numbers.reshape(-1, len(CONTRIBUTIONS))
    if "node_names" in present:
        values = table["node_names"].combine_chunks().flatten()
        flat.node_names = np.asarray(pc.fill_null(values.cast(pa.string()), "").to_pylist(), dtype=np.str_)
    return replace(flat.build(options), code_names=code_names)


def _sound_rows(table: pa.Table, width: int, edge_width: int, options: ReadOptions) -> pa.Table:
    """The rows whose lists fit together; the others are left out with a reason. Adds their number as `position`."""
    counts, edges = _numbers(table, "nodes"), _lengths(table, "sources")
    expected = {
        "targets": edges, "edge_labels": edges, "node_labels": counts,
        "node_names": counts, "attributes": counts * width, "edge_attributes": edges * edge_width,
        "atom_environments": counts * ENVIRONMENTS, "atom_contributions": counts * len(CONTRIBUTIONS),
    }  # fmt: skip
    found = {name: _lengths(table, name) for name in expected if name in table.column_names}
    keep = np.ones(table.num_rows, bool)
    described = bool({"node_labels", "node_names", "attributes"} & found.keys())
    bare = np.zeros(table.num_rows, np.int64) if described else np.maximum(counts - 2 * edges, 0)
    declared = 0  # nodes so far that take no bytes of the file
    seen: set[str] = set()
    for row, name in enumerate(_ids(table)):
        reason = "the id occurs already in the table" if name in seen else None
        seen.add(name)
        for column, lengths in found.items():
            if lengths[row] != expected[column][row]:
                reason = reason or f"{column} has {lengths[row]} values, expected {expected[column][row]}"
        reason = options.limits.graph_excess(int(counts[row]), int(edges[row])) or reason
        if counts[row] < 1:
            reason = "the graph has no nodes"
        elif reason is None and declared + bare[row] > options.limits.max_bare_nodes:
            reason = f"{counts[row]:,} nodes are declared without edges; see the limit max_bare_nodes"
        else:
            declared += int(bare[row])
        if reason is not None:
            keep[row] = False
            options.log.add(row + 1, name, reason)
    numbered = table.append_column("position", pa.array(np.arange(1, table.num_rows + 1)))
    return numbered if keep.all() else numbered.filter(pa.array(keep))


def _ids(table: pa.Table) -> list[str]:
    names = table["id"].cast(pa.string()).to_pylist()
    return [f"row-{i + 1}" if name is None else name for i, name in enumerate(names)]


def _numbers(table: pa.Table, name: str) -> NDArray[np.int64]:
    return pc.fill_null(table[name].cast(pa.int64()), 0).to_numpy().astype(np.int64)


def _lengths(table: pa.Table, name: str) -> NDArray[np.int64]:
    kind = table.schema.field(name).type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise SchemaError(f"The column {name!r} of a graph table holds lists, found {kind}.")
    return pc.fill_null(pc.list_value_length(table[name]), 0).to_numpy().astype(np.int64)


def _flattened(table: pa.Table, name: str, kind: pa.DataType, missing: float) -> NDArray[Any]:
    column = table[name].combine_chunks()
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    try:
        values = pa.chunked_array([chunk.flatten().cast(kind) for chunk in chunks], kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaError(f"The column {name!r} of a graph table holds lists of {kind}: {error}.") from error
    return pc.fill_null(values, pa.scalar(missing, kind)).to_numpy().copy()


def write_parquet(graphs: GraphSet, path: str | Path, *, nodes: str | Path | None = None) -> None:
    """Write graphs as Parquet; :func:`read_graphs` gives the same graphs.

    Parameters
    ----------
    nodes : path, optional
        Without it, `path` becomes a graph table: a row per graph, nothing lost. With it, `path` becomes an edge table
        and `nodes` the node table, for tools that want flat rows.

    Examples
    --------
    >>> from graphglass import load_dataset, read_graphs, write_parquet
    >>> write_parquet(load_dataset("MUTAG")[:3], "three.parquet")
    >>> len(read_graphs("three.parquet"))
    3
    """
    if nodes is None:
        with replacing(Path(path)) as temporary:
            pq.write_table(_graph_table(graphs), temporary)
        return
    edges, rows = edge_tables(graphs)
    # Both are complete before either takes its place.
    with replacing(Path(path)) as one, replacing(Path(nodes)) as two:
        pq.write_table(edges, one)
        pq.write_table(rows, two)


def _graph_table(graphs: GraphSet) -> pa.Table:
    sources, targets, codes, numbers = graphs.edge_list()
    edge_graph = graphs.node_graph[sources]
    local = graphs.node_offsets[edge_graph]
    edge_offsets = offsets(np.bincount(edge_graph, minlength=len(graphs)))

    def lists(values: NDArray[Any], starts: NDArray[np.int64], kind: pa.DataType) -> pa.LargeListArray:
        return pa.LargeListArray.from_arrays(pa.array(starts, pa.int64()), pa.array(values, kind))

    columns: dict[str, Any] = {
        "id": pa.array(list(graphs.ids), pa.string()),
        "nodes": pa.array(graphs.sizes),
        "sources": lists(sources - local, edge_offsets, pa.int32()),
        "targets": lists(targets - local, edge_offsets, pa.int32()),
    }
    if graphs.labels is not None:
        columns["label"] = pa.array(graphs.labels.tolist())
    if graphs.node_labels is not None:
        columns["node_labels"] = lists(graphs.node_labels, graphs.node_offsets, pa.int64())
    if codes is not None:
        columns["edge_labels"] = lists(codes, edge_offsets, pa.int64())
    if graphs.attributes is not None:
        width = graphs.attributes.shape[1]
        columns["attributes"] = lists(graphs.attributes.ravel(), graphs.node_offsets * width, pa.float32())
    if numbers is not None:
        columns["edge_attributes"] = lists(numbers.ravel(), edge_offsets * numbers.shape[1], pa.float64())
    if graphs.atom_environments is not None and graphs.atom_contributions is not None:
        starts = graphs.node_offsets
        columns["atom_environments"] = lists(graphs.atom_environments.ravel(), starts * ENVIRONMENTS, pa.int64())
        shares = graphs.atom_contributions
        columns["atom_contributions"] = lists(shares.ravel(), starts * shares.shape[1], pa.float64())
    if graphs.node_names is not None:
        columns["node_names"] = lists(graphs.node_names.astype(object), graphs.node_offsets, pa.string())
    facts: dict[str, Any] = {
        "version": 1,
        "attribute_names": list(graphs.attribute_names),
        "edge_attribute_names": list(graphs.edge_attribute_names),
        "directed": graphs.directed,
        "label_names": {str(code): name for code, name in graphs.label_names.items()},
        "code_names": {owner: list(names.items()) for owner, names in graphs.code_names.items()},
        "columns": _free_names(graphs.columns, _LAYOUT),
    }
    for name, place in facts["columns"].items():
        columns[place] = _own_values(graphs.columns[name])
    return pa.table(columns).replace_schema_metadata({_METADATA: json.dumps(facts).encode()})


def edge_tables(graphs: GraphSet) -> tuple[pa.Table, pa.Table]:
    """The edge table and node table of a set, each edge once."""
    sources, targets, codes, numbers = graphs.edge_list()
    ids = np.asarray(graphs.ids, dtype=object)
    node_graph = graphs.node_graph
    local = np.arange(graphs.node_count) - graphs.node_offsets[node_graph]
    names = local if graphs.node_names is None else graphs.node_names.astype(object)
    edges = {
        "graph_id": pa.array(ids[node_graph[sources]], pa.string()),
        "source": pa.array(names[sources]),
        "target": pa.array(names[targets]),
    }
    nodes = {"graph_id": pa.array(ids[node_graph], pa.string()), "node": pa.array(names)}
    if codes is not None:
        edges["label"] = _label_values(codes, graphs)
    if graphs.node_labels is not None:
        nodes["label"] = _label_values(graphs.node_labels, graphs)
    if graphs.labels is not None:
        nodes["graph_label"] = pa.array(graphs.labels[node_graph].tolist())
    if graphs.attributes is not None:
        for i, name in enumerate(graphs.attribute_names):
            nodes[name] = pa.array(graphs.attributes[:, i])
    if numbers is not None:
        for i, name in enumerate(graphs.edge_attribute_names):
            edges[name] = pa.array(numbers[:, i])
    own = _free_names(graphs.columns, nodes)
    for name, place in own.items():
        nodes[place] = _own_values(graphs.columns[name][node_graph])
    mark = {DIRECTED: b"true" if graphs.directed else b"false"}
    marks = {OWN_COLUMNS: json.dumps({place: name for name, place in own.items()}).encode()} if own else None
    return pa.table(edges).replace_schema_metadata(mark), pa.table(nodes).replace_schema_metadata(marks)


def _free_names(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """The caller's columns, and what each is called in a table whose layout may use the name itself."""
    found: dict[str, str] = {}
    used = set(taken)
    for name in names:
        free = name
        while free in used:
            free += "_"
        found[name] = free
        used.add(free)
    return found


def _own_values(values: NDArray[Any]) -> pa.Array:
    """A caller's column; one that mixes text and numbers becomes text."""
    items = values.tolist()
    if len({type(item) for item in items} - {type(None)}) > 1:
        items = [None if item is None else str(item) for item in items]
    return pa.array(items)


def _label_values(codes: NDArray[np.int64], graphs: GraphSet) -> pa.Array:
    """Codes, or the texts they stand for if all of them have one."""
    distinct, places = np.unique(codes, return_inverse=True)
    texts = [graphs.label_names.get(code) for code in distinct.tolist()]
    if all(text is not None and text_code(text) == code for text, code in zip(texts, distinct.tolist(), strict=True)):
        return pa.array(np.asarray(texts, dtype=object)[places] if texts else [], pa.string())
    return pa.array(codes)
