"""The graph table, one row per graph with lists inside; writing Parquet so, or as an edge table with a node table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphglass.errors import FormatError, GraphError, SchemaError
from graphglass.files.atomic import replacing
from graphglass.files.rows import of_one_type
from graphglass.graphs.chemistry import CONTRIBUTIONS, ENVIRONMENTS, NO_ENVIRONMENT
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import text_code
from graphglass.graphs.limits import Admission
from graphglass.graphs.ragged import offsets
from graphglass.graphs.readers.edge_table import DIRECTED, OWN_COLUMNS
from graphglass.graphs.readers.flat import FlatGraphs
from graphglass.graphs.readers.options import ReadOptions

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
        directed = bool(facts.get("directed", False))
        label_names = {int(code): str(name) for code, name in facts.get("label_names", {}).items()}
        code_names = {
            str(owner): {int(code): str(name) for code, name in names}
            for owner, names in facts.get("code_names", {}).items()
        }
        own_names = {place: name for name, place in facts.get("columns", {}).items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise FormatError(f"The table's own metadata cannot be read ({error}). Write it again.") from error
    options.limits.check("max_graphs", table.num_rows, "Rows of the graph table")
    table = _sound_rows(table, len(names), len(edge_names), options)
    counts, edges = _numbers(table, "nodes"), _lengths(table, "sources")
    starts = np.repeat(offsets(counts)[:-1], edges)
    present = set(table.column_names)

    def column(name: str, kind: pa.DataType, missing: object, width: int | None = None) -> Any:
        """A column of lists one after another, as rows of a width if there is one; None if the table has none."""
        if name not in present or width == 0:
            return None
        values = _flattened(table, name, kind, missing)
        return values if width is None else values.reshape(-1, width)

    label = options.label_column or "label"
    node_names = column("node_names", pa.string(), "")
    flat = FlatGraphs(
        ids=_ids(table),
        positions=_numbers(table, "position"),
        counts=counts,
        edge_graph=np.repeat(np.arange(table.num_rows), edges),
        sources=_flattened(table, "sources", pa.int64(), -1) + starts,
        targets=_flattened(table, "targets", pa.int64(), -1) + starts,
        labels=table[label].to_pylist() if label in present else None,
        node_labels=column("node_labels", pa.int64(), text_code("")),
        attributes=column("attributes", pa.float64(), np.nan, len(names)),
        attribute_names=names,
        edge_labels=column("edge_labels", pa.int64(), text_code("")),
        edge_attributes=column("edge_attributes", pa.float64(), np.nan, len(edge_names)),
        edge_attribute_names=edge_names,
        node_names=None if node_names is None else node_names.astype(np.str_),
        label_names=label_names,
        code_names=code_names,
        directed=directed if options.directed is None else options.directed,
        listed_once=np.full(table.num_rows, not directed),
        source="stated",
    )
    for name in table.column_names:
        own = own_names.get(name, name)
        single = not pa.types.is_nested(table.schema.field(name).type)
        if single and (name in own_names or name not in _LAYOUT) and options.kept({own: None}):
            flat.columns[own] = table[name].to_pylist()
    if {"atom_environments", "atom_contributions"} <= present:
        flat.atom_environments = column("atom_environments", pa.int64(), NO_ENVIRONMENT, ENVIRONMENTS)
        flat.atom_contributions = column("atom_contributions", pa.float64(), 0.0, len(CONTRIBUTIONS))
    return flat.build(options)


def _sound_rows(table: pa.Table, width: int, edge_width: int, options: ReadOptions) -> pa.Table:
    """The rows whose lists fit together; the others are left out with a reason. Adds their number as `position`."""
    counts, edges = _numbers(table, "nodes"), _lengths(table, "sources")
    expected = {
        "targets": edges, "edge_labels": edges, "node_labels": counts,
        "node_names": counts, "attributes": counts * width, "edge_attributes": edges * edge_width,
        "atom_environments": counts * ENVIRONMENTS, "atom_contributions": counts * len(CONTRIBUTIONS),
    }  # fmt: skip
    reasons: dict[int, str] = {}
    for column in [name for name in expected if name in table.column_names]:
        found = _lengths(table, column)
        for row in np.flatnonzero(found != expected[column]).tolist():
            reasons.setdefault(row, f"{column} has {found[row]} values, expected {expected[column][row]}")
    described = bool({"node_labels", "node_names", "attributes"} & set(table.column_names))
    admission = Admission(options.limits)
    ids = _ids(table)
    sizes = zip(ids, counts.tolist(), edges.tolist(), strict=True)
    for row, (name, nodes, listed) in enumerate(sizes):
        try:
            if row in reasons:
                raise GraphError(reasons[row])
            ids[row] = admission.admit(name, nodes, listed, described=described)
        except GraphError as error:
            reasons[row] = str(error)
            options.log.add(row + 1, name, str(error))
    if admission.renamed:
        options.log.note(admission.renamed)
        table = table.set_column(table.column_names.index("id"), "id", pa.array(ids, pa.string()))
    keep = np.ones(table.num_rows, bool)
    keep[list(reasons)] = False
    numbered = table.append_column("position", pa.array(np.arange(1, table.num_rows + 1)))
    return numbered if keep.all() else numbered.filter(pa.array(keep))


def _ids(table: pa.Table) -> list[str]:
    names = table["id"].cast(pa.string()).to_pylist()
    return [f"row-{i + 1}" if name is None else name for i, name in enumerate(names)]


def _numbers(table: pa.Table, name: str) -> NDArray[np.int64]:
    return np.asarray(pc.fill_null(table[name].cast(pa.int64()), 0).to_numpy().astype(np.int64))


def _lengths(table: pa.Table, name: str) -> NDArray[np.int64]:
    kind = table.schema.field(name).type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise SchemaError(f"The column {name!r} of a graph table holds lists, found {kind}.")
    return np.asarray(pc.fill_null(pc.list_value_length(table[name]), 0).to_numpy().astype(np.int64))


def _flattened(table: pa.Table, name: str, kind: pa.DataType, missing: object) -> NDArray[Any]:
    column = table[name].combine_chunks()
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    try:
        values = pa.chunked_array([chunk.flatten().cast(kind) for chunk in chunks], kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaError(f"The column {name!r} of a graph table holds lists of {kind}: {error}.") from error
    return np.asarray(pc.fill_null(values, pa.scalar(missing, kind)).to_numpy().copy())


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
        columns[place] = pa.array(of_one_type(graphs.columns[name].tolist()))
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
        nodes[place] = pa.array(of_one_type(graphs.columns[name][node_graph].tolist()))
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


def _label_values(codes: NDArray[np.int64], graphs: GraphSet) -> pa.Array:
    """Codes, or the texts they stand for if all of them have one."""
    distinct, places = np.unique(codes, return_inverse=True)
    texts = [graphs.label_names.get(code) for code in distinct.tolist()]
    if all(text is not None and text_code(text) == code for text, code in zip(texts, distinct.tolist(), strict=True)):
        return pa.array(np.asarray(texts, dtype=object)[places] if texts else [], pa.string())
    return pa.array(codes)
