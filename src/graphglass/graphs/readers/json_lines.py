"""JSON Lines: one graph per line as a node-link record.

``{"id": "a", "label": 1, "directed": false, "nodes": [{"id": 0, "label": "C", "attributes": {"charge": 0.1}}, ...],
"edges": [{"source": 0, "target": 1, "label": "single"}, [1, 2], ...]}``
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.label_codes import text_code
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import edge_rows, node_names, property_labels, property_table
from graphglass.graphs.readers.record import Record
from graphglass.graphs.readers.text_source import byte_lines
from graphglass.storage.atomic import replacing


def read_json_lines(path: Path, options: ReadOptions) -> GraphSet:
    records = options.records()
    for line, raw in byte_lines(path, options.limits):
        if not raw.strip():
            continue
        name = f"line-{line}"
        try:
            content = json.loads(raw, parse_constant=_refuse_constant)
            name = record_id(content, name)
            records.add(json_record(content, line, name, options))
        except GraphError as error:
            if options.log.strict:
                raise GraphError(f"{path.name} line {line}: {error}") from error
            options.log.add(line, name, str(error))
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            options.log.add(line, name, f"not a JSON record: {error}")
    return records.build()


def read_mappings(contents: Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """Records already parsed, such as the body of a request."""
    records = options.records()
    for position, content in contents:
        name = record_id(content, f"graph-{position}")
        try:
            records.add(json_record(content, position, name, options))
        except GraphError as error:
            options.log.add(position, name, str(error))
    return records.build()


def record_id(content: Any, fallback: str) -> str:
    value = content.get("id") if isinstance(content, Mapping) else None
    return str(value) if isinstance(value, str | int) else fallback


def json_record(content: Any, position: int, name: str, options: ReadOptions) -> Record:
    """One record as a graph; raises GraphError saying which part does not fit the format."""
    if not isinstance(content, Mapping):
        raise GraphError(f"a record is an object with 'nodes' and 'edges', found {type(content).__name__}")
    if "nodes" not in content:
        raise GraphError("the record has no 'nodes' (a list of nodes, or how many there are)")
    listed = content["nodes"]
    if type(listed) is int:
        if excess := options.limits.graph_excess(listed, 0):
            raise GraphError(excess)
        nodes: list[Mapping[str, Any]] = [{"id": row} for row in range(listed)]
    elif isinstance(listed, list):
        nodes = [_node(item, row) for row, item in enumerate(listed)]
    else:
        raise GraphError(f"'nodes' must be a list or a number, found {type(listed).__name__}")
    edges = content.get("edges", content.get("links", []))
    if not isinstance(edges, list):
        raise GraphError(f"'edges' must be a list, found {type(edges).__name__}")
    if excess := options.limits.graph_excess(len(nodes), len(edges)):
        raise GraphError(excess)
    pairs = [_pair(edge, number) for number, edge in enumerate(edges)]
    rows, names = node_names([node["id"] for node in nodes])
    sources, targets = edge_rows(pairs, rows)
    label_names: dict[int, str] = {}
    values, attribute_names = property_table([_attributes(node, row) for row, node in enumerate(nodes)])
    labelled = [edge if isinstance(edge, Mapping) else _NOTHING for edge in edges]
    return Record(
        position, name, len(nodes), sources, targets,
        label=_class_label(content.get("label")),
        node_labels=property_labels(nodes, "label", label_names),
        edge_labels=property_labels(labelled, "label", label_names),
        attributes=values,
        attribute_names=attribute_names,
        node_names=names,
        label_names=label_names,
        directed=bool(content.get("directed", False)),
    )  # fmt: skip


_NOTHING: Mapping[str, Any] = {}


def _node(item: Any, row: int) -> Mapping[str, Any]:
    """A node as an object with an id; a bare id is allowed, a missing one is the row."""
    if type(item) is dict and type(item.get("id")) in (int, str):  # nearly every node, and quick to tell
        return item
    if isinstance(item, str | int):
        return {"id": item}
    if not isinstance(item, Mapping):
        raise GraphError(f"node {row} must be an object or an id, found {type(item).__name__}")
    if "id" not in item:
        return {**item, "id": row}
    if not isinstance(item["id"], str | int):
        raise GraphError(f"the id of node {row} must be text or a whole number, found {item['id']!r}")
    return item


def _pair(edge: Any, number: int) -> tuple[Any, Any]:
    if type(edge) is list and len(edge) == 2:
        return edge[0], edge[1]
    if isinstance(edge, Mapping) and "source" in edge and "target" in edge:
        return edge["source"], edge["target"]
    if isinstance(edge, tuple) and len(edge) == 2:
        return edge[0], edge[1]
    raise GraphError(f"edge {number} must be an object with 'source' and 'target', or a pair, found {edge!r:.60}")


def _attributes(node: Mapping[str, Any], row: int) -> Mapping[str, Any]:
    values = node.get("attributes", node.get("features"))
    if values is None:
        return _NOTHING
    if isinstance(values, Mapping):
        return values
    if isinstance(values, list | tuple):
        return {"attribute": values}
    raise GraphError(f"'attributes' of node {row} must be an object or a list of numbers, found {values!r:.60}")


def _class_label(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    raise GraphError(f"the class 'label' of a graph must be text or a number, found {type(value).__name__}")


def _refuse_constant(text: str) -> NoReturn:
    raise GraphError(f"the record holds {text}; every number must be finite")


def write_json_lines(graphs: GraphSet, path: str | Path) -> None:
    """Write one record per graph; a name ending in ``.gz`` is compressed. :func:`read_graphs` gives the same graphs."""
    place = Path(path)
    with replacing(place) as temporary, temporary.open("wb") as raw, ExitStack() as stack:
        # Named after the file it becomes, not after the temporary one.
        zipped = place.suffix == ".gz"
        out = stack.enter_context(gzip.GzipFile(place.name, "wb", fileobj=raw)) if zipped else raw
        for record in json_records(graphs):
            line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            out.write(f"{line}\n".encode())


def json_records(graphs: GraphSet) -> Iterator[dict[str, Any]]:
    """Each graph as the record :func:`read_mappings` reads; an edge stands once."""
    plain = graphs.attribute_names == tuple(f"attribute_{i}" for i in range(len(graphs.attribute_names)))
    for i, one in enumerate(graphs):
        names: list[Any] = list(range(one.node_count)) if one.node_names is None else one.node_names.tolist()
        nodes: list[dict[str, Any]] = [{"id": name} for name in names]
        if one.node_labels is not None:
            for node, code in zip(nodes, one.node_labels.tolist(), strict=True):
                node["label"] = _written(code, graphs.label_names)
        if one.attributes is not None:
            for node, row in zip(nodes, one.attributes.tolist(), strict=True):
                node["attributes"] = row if plain else dict(zip(graphs.attribute_names, row, strict=True))
        record: dict[str, Any] = {"id": graphs.ids[i]}
        if graphs.labels is not None:
            record["label"] = graphs.labels[i].tolist()
        record["nodes"] = nodes
        sources, targets, codes = one.edge_list()
        pairs = [(names[a], names[b]) for a, b in zip(sources.tolist(), targets.tolist(), strict=True)]
        if codes is None:
            record["edges"] = [list(pair) for pair in pairs]
        else:
            record["edges"] = [
                {"source": pair[0], "target": pair[1], "label": _written(code, graphs.label_names)}
                for pair, code in zip(pairs, codes.tolist(), strict=True)
            ]
        yield record


def _written(code: int, names: Mapping[int, str]) -> int | str:
    """The text a code stands for, where reading the text gives the same code again."""
    text = names.get(code)
    return text if text is not None and text_code(text) == code else code
