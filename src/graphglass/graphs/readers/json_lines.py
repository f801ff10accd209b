"""JSON Lines: one graph per line as a node-link record.

``{"id": "a", "label": 1, "directed": false, "nodes": [{"id": 0, "label": "C", "attributes": {"charge": 0.1}}, ...],
"edges": [{"source": 0, "target": 1, "label": "single", "attributes": {"length": 1.5}}, [1, 2], ...]}``
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError, LimitError
from graphglass.files.atomic import replacing
from graphglass.graphs.chemistry import CONTRIBUTIONS, ENVIRONMENTS
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import text_code
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.properties import described, edge_rows, node_names
from graphglass.graphs.readers.record import Record, RecordSet, read_each
from graphglass.graphs.readers.text_source import byte_lines


def read_json_lines(path: Path, options: ReadOptions) -> GraphSet:
    records = RecordSet(options, "stated")
    for line, raw in byte_lines(path, options.limits):
        if not raw.strip():
            continue
        name = f"line-{line}"
        try:
            content = json.loads(raw, parse_constant=_refuse_constant)
            if b"\\u" in raw:
                _refuse_half_characters(content)
            name = record_id(content) or name
            records.add(json_record(content, line, name, options))
        except LimitError:
            raise
        except GraphError as error:
            if options.log.strict:
                raise GraphError(f"{path.name} line {line}: {error}") from error
            options.log.add(line, name, str(error))
        except (ValueError, RecursionError) as error:  # also integers of more digits than Python converts
            options.log.add(line, name, f"not a JSON record: {error}")
    return records.build()


def _refuse_half_characters(content: object) -> None:
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise GraphError(
            f"the escape \\u{ord(error.object[error.start]):04x} is half of a character, and no result file can hold it"
        ) from error


def read_mappings(contents: Iterable[tuple[int, object]], options: ReadOptions) -> GraphSet:
    """Records already parsed, such as the body of a request."""

    def record(item: object, place: int, name: str) -> Record:
        return json_record(item, place, name, options)

    return read_each(contents, record_id, record, options, "stated")


def record_id(content: object) -> str | None:
    """The id of a record; None if it gives none. Scores under another name than the one given would be misread."""
    value = content.get("id") if isinstance(content, Mapping) else None
    if value is None:
        return None
    if not isinstance(value, str | int) or value == "":
        raise GraphError(f"the id must be text or a whole number, and not empty, found {value!r:.60}")
    return str(value)


def json_record(content: object, position: int, name: str, options: ReadOptions) -> Record:
    """One record as a graph; raises GraphError saying which part does not fit the format."""
    if not isinstance(content, Mapping):
        raise GraphError(f"a record is an object with 'nodes' and 'edges', found {type(content).__name__}")
    if "nodes" not in content:
        raise GraphError("the record has no 'nodes' (a list of nodes, or how many there are)")
    listed, edges = content["nodes"], content.get("edges", content.get("links", []))
    if not isinstance(edges, list):
        raise GraphError(f"'edges' must be a list, found {type(edges).__name__}")
    if type(listed) is not int and not isinstance(listed, list):
        raise GraphError(f"'nodes' must be a list or a number, found {type(listed).__name__}")
    count = listed if isinstance(listed, int) else len(listed)
    if excess := options.limits.graph_excess(count, len(edges)):
        raise GraphError(excess)
    pairs = [_pair(edge, number) for number, edge in enumerate(edges)]
    nodes: list[Mapping[str, Any]] = []
    names, label_names = None, dict[int, str]()
    if isinstance(listed, int):
        sources, targets = _numbered(pairs, count)
    else:
        nodes = [_node(item, row) for row, item in enumerate(listed)]
        rows, names = node_names([node["id"] for node in nodes])
        sources, targets = edge_rows(pairs, rows)
    links = [edge if isinstance(edge, Mapping) else _NOTHING for edge in edges]
    directed = bool(content.get("directed", options.usual_direction))
    own = content.get("columns", {})
    if not isinstance(own, Mapping):
        raise GraphError(f"'columns' must be an object with values by name, found {type(own).__name__}")
    environments, contributions = _chemistry(content.get("chemistry"), count)
    return Record(
        position, name, count, sources, targets,
        label=_class_label(content.get(options.label_column or "label", own.get(options.label_column or ""))),
        **_described("node", nodes, label_names, options),
        **_described("edge", links, label_names, options),
        node_names=names,
        label_names=label_names,
        directed=directed,
        listed_once=not directed,
        atom_environments=environments,
        atom_contributions=contributions,
        columns=options.kept({**{key: value for key, value in content.items() if key not in _FIELDS}, **own}),
    )  # fmt: skip


_FIELDS = {"id", "label", "directed", "nodes", "edges", "links", "columns", "chemistry"}
_ENDS = {"id", "source", "target"}
_NOTHING: Mapping[str, Any] = {}
_PLAIN = {"node": "attribute", "edge": "value"}  # what numbers without names are called


def _node(item: object, row: int) -> Mapping[str, object]:
    """A node as an object with an id; a bare id is allowed, a missing one is the row."""
    if type(item) is dict and type(item.get("id")) in (int, str):  # nearly every node, and quick to check
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


def _pair(edge: object, number: int) -> tuple[object, object]:
    if isinstance(edge, list | tuple) and len(edge) == 2:
        return edge[0], edge[1]
    if isinstance(edge, Mapping) and "source" in edge and "target" in edge:
        return edge["source"], edge["target"]
    raise GraphError(f"edge {number} must be an object with 'source' and 'target', or a pair, found {edge!r:.60}")


def _numbered(pairs: list[tuple[object, object]], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ends of edges between nodes that are called 0, 1, 2, ..."""
    for number, pair in enumerate(pairs):
        for end in pair:
            if type(end) is not int or not 0 <= end < count:
                raise GraphError(f"edge {number} names node {end!r:.60}, which the graph does not have")
    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _described(
    owner: str, items: list[Mapping[str, Any]], label_names: dict[int, str], options: ReadOptions
) -> dict[str, Any]:
    """Labels and attributes: those that are stated or, where no node (or edge) states any, its own fields."""
    label = options.label_key(owner, items)
    if not any("attributes" in item or "features" in item for item in items):
        own = [{key: item[key] for key in item if key not in _ENDS} for item in items]
        wanted = options.attributes if owner == "node" else options.edge_attributes
        options.log.free.add(owner)
        return described(owner, own, own, label_names, options.log, label, wanted)
    for key in items[0].keys() - {*_ENDS, "attributes", "features", "label", label}:
        options.log.advise(f"{owner} field {key!r} was not used; put it into 'attributes' of the {owner}")
    stated = [_attributes(item, row, owner) for row, item in enumerate(items)]
    return described(owner, items, stated, label_names, options.log, label)


def _attributes(item: Mapping[str, Any], row: int, owner: str) -> Mapping[str, Any]:
    values = item.get("attributes", item.get("features")) if item else None
    if values is None:
        return _NOTHING
    if isinstance(values, Mapping):
        return values
    if isinstance(values, list | tuple):
        return {_PLAIN[owner]: values}
    raise GraphError(f"'attributes' of {owner} {row} must be an object or a list of numbers, found {values!r:.60}")


def _chemistry(given: Any, atoms: int) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]:
    """The environments and contributions of the atoms of a molecule, a row per atom."""
    if given is None:
        return None, None
    try:
        environments = np.asarray(given["environments"], dtype=np.int64).reshape(atoms, ENVIRONMENTS)
        contributions = np.asarray(given["contributions"], dtype=np.float64).reshape(atoms, len(CONTRIBUTIONS))
    except (TypeError, KeyError, ValueError, OverflowError) as error:
        expected = f"lists of {ENVIRONMENTS} 'environments' and {len(CONTRIBUTIONS)} 'contributions' per node"
        raise GraphError(f"'chemistry' must hold {expected} ({error})") from error
    if not np.isfinite(contributions).all():
        raise GraphError("'contributions' of the chemistry must be finite")
    return environments, contributions


def _class_label(value: object) -> object:
    if value is None or isinstance(value, str | int | float):
        return value
    raise GraphError(f"the class 'label' of a graph must be text or a number, found {type(value).__name__}")


def _refuse_constant(text: str) -> NoReturn:
    raise GraphError(f"the record holds {text}; every number must be finite")


def write_json_lines(graphs: GraphSet, path: str | Path) -> None:
    """Write one record per graph; a name ending in ``.gz`` is compressed. :func:`read_graphs` gives the same graphs.

    Examples
    --------
    >>> from graphglass import load_dataset, read_graphs, write_json_lines
    >>> write_json_lines(load_dataset("MUTAG")[:3], "three.jsonl")
    >>> read_graphs("three.jsonl").ids
    ('MUTAG-1', 'MUTAG-2', 'MUTAG-3')
    """
    place = Path(path)
    with replacing(place) as temporary, temporary.open("wb") as raw, ExitStack() as stack:
        # Named after the file it becomes, not after the temporary one.
        zipped = place.suffix == ".gz"
        out = stack.enter_context(gzip.GzipFile(place.name, "wb", fileobj=raw)) if zipped else raw
        for record in json_records(graphs):
            line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            out.write(f"{line}\n".encode())


def json_records(graphs: GraphSet) -> Iterator[dict[str, Any]]:
    """Each graph as the record :func:`read_mappings` reads; an edge is listed once."""
    for i, one in enumerate(graphs):
        names: list[Any] = list(range(one.node_count)) if one.node_names is None else one.node_names.tolist()
        nodes: list[dict[str, Any]] = [{"id": name} for name in names]
        _describe(nodes, one.node_labels, one.attributes, graphs.attribute_names, "node", graphs.label_names)
        record: dict[str, Any] = {"id": graphs.ids[i]}
        if graphs.labels is not None:
            record["label"] = graphs.labels[i].tolist()
        if graphs.directed:
            record["directed"] = True
        if graphs.columns:
            record["columns"] = {name: values.item(i) for name, values in graphs.columns.items()}
        if one.atom_environments is not None and one.atom_contributions is not None:
            record["chemistry"] = {
                "environments": one.atom_environments.tolist(),
                "contributions": one.atom_contributions.tolist(),
            }
        record["nodes"] = nodes
        listed = one.edge_list()
        pairs = [[names[a], names[b]] for a, b in zip(listed.sources.tolist(), listed.targets.tolist(), strict=True)]
        record["edges"] = pairs
        if listed.labels is not None or listed.attributes is not None:
            edges: list[dict[str, Any]] = [{"source": a, "target": b} for a, b in pairs]
            _describe(edges, listed.labels, listed.attributes, graphs.edge_attribute_names, "edge", graphs.label_names)
            record["edges"] = edges
        yield record


def _describe(
    items: list[dict[str, object]],
    codes: NDArray[np.int64] | None,
    values: NDArray[Any] | None,
    names: tuple[str, ...],
    owner: str,
    label_names: Mapping[int, str],
) -> None:
    """Add labels and attributes to nodes or edges; attributes with default names become a list."""
    if codes is not None:
        for item, code in zip(items, codes.tolist(), strict=True):
            item["label"] = _written(code, label_names)
    if values is not None:
        plain = names == tuple(f"{_PLAIN[owner]}_{i}" for i in range(len(names)))
        for item, row in zip(items, values.tolist(), strict=True):
            item["attributes"] = row if plain else dict(zip(names, row, strict=True))


def _written(code: int, names: Mapping[int, str]) -> int | str:
    """The text a code stands for, where reading the text gives the same code again."""
    text = names.get(code)
    return text if text is not None and text_code(text) == code else code
