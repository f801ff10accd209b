"""Private records, each read by itself: no record changes how another is read, or whether it is.

A reader of ordinary data looks at all records before it decides what a column means. Here a file is cut into records by
a rule that looks at their bounds alone, and every record meets the ordinary reader alone. One that cannot be read, or
has another form than the declared one, becomes the zero row and changes nothing else.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from graphglass.channels.patterns.wl import graph_hashes
from graphglass.errors import FormatError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.formats import detect_path, is_one
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import label_code
from graphglass.graphs.limits import DEFAULT_LIMITS
from graphglass.graphs.molecules import MoleculeRow, parse_mol_block, read_molecules
from graphglass.graphs.read import read_report
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.parquet import GRAPH_COLUMNS
from graphglass.graphs.readers.smiles import smiles_column
from graphglass.graphs.readers.table_files import parquet_table
from graphglass.graphs.readers.text_source import read_bytes
from graphglass.graphs.readers.tu import tu_files
from graphglass.messages import listing
from graphglass.privacy.record_form import RecordForm

_WHOLE = re.compile(r"[+-]?\d{1,18}(\.0*)?")  # a label of a file without types that is a number
_DOCUMENTS = {"graphml": ".graphml", "gexf": ".gexf", "gml": ".gml"}
Read = Callable[[], GraphSet]  # one record, read by itself; anything it raises makes the zero row


@dataclass(frozen=True)
class PrivateRecords:
    """The records of a source: how many there are, and the graphs of those that have the form.

    Attributes
    ----------
    count : int
        Records, n, with those that become zero rows.
    groups : tuple of GraphSet
        The readable records; those of one group carry the same kinds of labels and attributes. Ids are record numbers.
    form : RecordForm
    """

    count: int
    groups: tuple[GraphSet, ...]
    form: RecordForm

    @property
    def readable(self) -> int:
        return sum(map(len, self.groups))


def read_records(
    source: object,
    form: RecordForm | None = None,
    *,
    format: str | None = None,  # noqa: A002
    nodes: object = None,
    whole: bool = True,
) -> PrivateRecords:
    """Read private graphs record by record.

    Parameters
    ----------
    source : path, GraphSet, or sequence of graphs
        JSON Lines, SMILES lines, SDF, CSV and Parquet tables, TU folders and archives, folders with one GraphML, GEXF
        or GML file per graph; or a list of NetworkX, PyG, igraph or RDKit graphs, JSON records or adjacency matrices.
        The graphs of a GraphSet have one form, which whoever made the set decided.
    form : RecordForm, optional
        How every record is read.
    format : str, optional
        As in :func:`graphglass.read_graphs`.
    nodes : path, optional
        The node table of an edge table.
    whole : bool
        Keep what a model may read. Otherwise only what a sketch reads is kept: edges, node labels, edge labels.

    Raises
    ------
    FormatError
        If the source cannot be cut into records.
    """
    form = form or RecordForm()
    options: dict[str, Any] = {
        "directed": form.directed, "node_label": form.node_label, "edge_label": form.edge_label,
        "attributes": form.attributes, "use": "all",
    }  # fmt: skip
    count, groups = 0, defaultdict[Any, list[GraphSet]](list)
    for count, read in enumerate(_cut(source, form, options, format, nodes), start=1):
        record = _alone(read)
        if record is None or not form.fits(record):
            continue
        record = replace(record if whole else sketched(record), ids=(str(count),), labels=None, columns={})
        # What a model reads stays alone: the text of one record's label may be the name of another's number.
        alike = record.node_labels is not None, record.edge_labels is not None
        groups[count if whole else alike].append(record)
    return PrivateRecords(count, tuple(concatenate(records) for records in groups.values()), form)


def sketched(graphs: GraphSet) -> GraphSet:
    """The graphs with nothing but what a sketch reads: edges, node labels and edge labels."""
    plain = graphs.structure_only()
    return replace(
        plain, node_labels=graphs.node_labels, edge_labels=graphs.edge_labels, label_names=graphs.label_names
    )


def identities(graphs: GraphSet) -> list[str]:
    """One hash per graph over its edges and node labels, whatever else it carries and however its labels are typed."""
    spelled = {code: int(text.partition(".")[0]) for code, text in graphs.label_names.items() if _WHOLE.fullmatch(text)}
    labels = graphs.node_labels
    if spelled and labels is not None:
        labels = np.asarray([spelled.get(code, code) for code in labels.tolist()], np.int64)
    return graph_hashes(replace(graphs.structure_only(), node_labels=labels))


def _alone(read: Read) -> GraphSet | None:
    """The graph of one record, or None. No error may tell that a record is odd."""
    try:
        found = read()
    except ImportError:
        raise  # of the installation, whatever the records are
    except Exception:
        return None
    return found if len(found) == 1 else None


def _cut(source: Any, form: RecordForm, options: dict[str, Any], name: str | None, nodes: Any) -> Iterator[Read]:
    """The records of a source, each as a function that reads it."""
    if isinstance(source, GraphSet):
        yield from (partial(source.__getitem__, i) for i in range(len(source)))
        return
    if not isinstance(source, str | PathLike):
        if hasattr(source, "columns"):
            raise FormatError(
                "A release does not read a DataFrame: the type of its columns may depend on one record. Write it to a "
                "CSV or Parquet file whose columns have declared types, and release that."
            )
        if is_one(source) or not isinstance(source, Iterable):
            raise FormatError(f"A release reads a file, a GraphSet or a list of graphs, found {type(source).__name__}.")
        yield from (partial(_read, [item], options | {"format": name}) for item in source)
        return
    path = Path(source)
    if not path.exists():
        raise FormatError(f"{path} does not exist.")
    name = name or detect_path(path)
    if name in _DOCUMENTS:
        if not path.is_dir():
            raise FormatError(
                f"{path.name} may hold several graphs, and one that is damaged would hide the others. A release reads "
                f"a folder with one {_DOCUMENTS[name]} file per graph."
            )
        files = sorted(path.glob(f"*{_DOCUMENTS[name]}"))
        yield from (partial(_read, file, options | {"format": name}) for file in files)
    elif name == "json-lines":
        yield from (partial(_json, line, options) for line in _lines(path))
    elif name == "smi":
        yield from (partial(_smiles, line, options) for line in _lines(path) if not line.startswith(b"#"))
    elif name == "sdf":
        yield from (partial(_mol_block, block, options) for block in _blocks(path))
    elif name == "tu":
        yield from _tu(path, form)
    elif name in ("csv", "parquet"):
        yield from _table(path, name, form, options, nodes)
    else:
        raise FormatError(f"A release does not read {name}. Write the graphs as JSON Lines, one record per line.")


def _read(source: object, options: dict[str, Any]) -> GraphSet:
    return read_report(source, **options).graphs


def _json(line: bytes, options: dict[str, object]) -> GraphSet:
    return _read([json.loads(line, parse_constant=_refused)], options | {"format": "json-lines"})


def _refused(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _smiles(line: bytes, options: dict[str, object]) -> GraphSet:
    return _read([line.decode().split()[0]], options | {"format": "smi"})


def _mol_block(block: bytes, options: dict[str, Any]) -> GraphSet:
    parse = partial(parse_mol_block, limits=DEFAULT_LIMITS)
    return read_molecules([MoleculeRow(1, block.decode())], parse, ReadOptions(**options))


def _lines(path: Path) -> list[bytes]:
    """The lines of a file that are not blank; a byte order mark is dropped. Tabs may be a row of empty cells."""
    lines = read_bytes(path, DEFAULT_LIMITS).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [line.rstrip(b"\r") for line in lines if line.strip(b" \r")]


def _blocks(path: Path) -> Iterator[bytes]:
    """The molecules of an SDF file, each ended by a line of four dollars."""
    block: list[bytes] = []
    for line in read_bytes(path, DEFAULT_LIMITS).split(b"\n"):
        if line.startswith(b"$$$$"):
            yield b"\n".join(block)
            block = []
        else:
            block.append(line.rstrip(b"\r"))
    if any(line.strip() for line in block):
        yield b"\n".join(block)


# Tables


def _table(path: Path, name: str, form: RecordForm, options: dict[str, Any], nodes: object) -> Iterator[Read]:
    """The rows of a table of molecules or graphs, or the graphs of an edge table; columns and types are public."""
    if name == "parquet":
        table = parquet_table(path, ReadOptions())
        if set(GRAPH_COLUMNS) <= set(table.column_names):
            yield from (partial(_read, table.slice(i, 1), options) for i in range(table.num_rows))
            return
    header, rows = _rows(path)
    place = smiles_column(header, form.smiles_column)
    if place is not None:
        yield from (partial(_molecule_cell, cells, len(header), place, options) for cells in rows)
        return
    if form.smiles_column is not None or form.graph_column not in header:
        raise SchemaError(
            f"{path.name} has neither a column of SMILES nor the column {form.graph_column!r} of an edge table. "
            f"Columns found: {listing(header)}. Name them with --smiles-column, or --graph-id, --source and --target."
        )
    yield from _edge_tables(path, header, rows, form, nodes)


def _rows(path: Path) -> tuple[list[str], Iterator[Sequence[Any]]]:
    """The header of a table and its rows. In CSV every line is a row, whatever quotes it holds."""
    if _is_parquet(path):
        table = parquet_table(path, ReadOptions())
        return table.column_names, zip(*(map(_value, column) for column in table.columns), strict=True)
    first, *lines = _lines(path) or [b""]
    names = first.decode("utf-8", "replace")
    outside = re.sub('"[^"]*"', "", names)
    usual = "\t" if {".tsv", ".tab"} & set(path.suffixes) else ","
    mark = next((mark for mark in (usual, ",", ";", "\t") if mark in outside), usual)
    return [cell.strip() for cell in _cells(names.encode(), mark)], (_cells(line, mark) for line in lines)


def _value(cell: Any) -> Any:
    """A cell of a typed table; None for one that Python cannot hold, such as text that is not UTF-8."""
    try:
        return cell.as_py()
    except (ValueError, ArithmeticError):
        return None


def _cells(line: bytes, mark: str) -> list[str]:
    try:
        return next(csv.reader([line.decode()], delimiter=mark, strict=True), [])
    except (csv.Error, UnicodeDecodeError):
        return []


def _molecule_cell(cells: Sequence[object], width: int, place: int, options: dict[str, object]) -> GraphSet:
    if len(cells) != width:
        raise SchemaError("the row has another number of cells than the header")
    return _read([str(cells[place]).strip()], options | {"format": "smi"})


def _edge_tables(
    path: Path, header: list[str], rows: Iterable[Sequence[Any]], form: RecordForm, nodes: Any
) -> Iterator[Read]:
    """The graphs of an edge table. A record is all rows with one graph id; a row without an id belongs to none."""
    edges = _grouped(header, rows, (form.graph_column, form.source_column, form.target_column), path.name)
    described: dict[str, list[dict[str, Any] | None]] = {}
    if nodes is not None:
        columns = (form.graph_column, "node", *(form.attributes or ()))
        described = _grouped(*_rows(Path(nodes)), columns, Path(nodes).name)
    # Text in a file without types may be a number.
    spelled = [one is not None and not _is_parquet(Path(one)) for one in (path, nodes)]
    for name in {**described, **edges}:
        own = described.get(name, []) if nodes is not None else None
        yield partial(_edge_table_graph, edges.get(name, []), own, form, spelled)


def _grouped(
    header: list[str], rows: Iterable[Sequence[Any]], needed: Sequence[str], what: str
) -> dict[str, list[dict[str, Any] | None]]:
    """Rows by graph id, each as cells by column, None if it has too few or too many of them."""
    missing = [name for name in needed if header.count(name) != 1]
    if missing:
        raise SchemaError(f"{what} needs the column {missing[0]!r} once. Columns found: {listing(header)}.")
    place = header.index(needed[0])
    groups: dict[str, list[dict[str, Any] | None]] = {}
    for cells in rows:
        name = "" if place >= len(cells) or cells[place] is None else str(cells[place])
        if name:
            row = dict(zip(header, cells, strict=True)) if len(cells) == len(header) else None
            groups.setdefault(name, []).append(row)
    return groups


def _edge_table_graph(edges: list[Any], nodes: list[Any] | None, form: RecordForm, spelled: Sequence[bool]) -> GraphSet:
    pairs = [(_name(row[form.source_column]), _name(row[form.target_column])) for row in edges]
    names = [end for pair in pairs for end in pair] if nodes is None else [_name(row["node"]) for row in nodes]
    places = {name: row for row, name in enumerate(dict.fromkeys(names))}
    if nodes is not None and len(places) != len(nodes):
        raise SchemaError("a node occurs twice")
    label_names: dict[int, str] = {}

    def labels(rows: list[Any] | None, column: str, numbers: bool) -> list[int] | None:
        if not rows or column not in rows[0]:
            return None
        return [label_code(_label(row[column], numbers), label_names) for row in rows]

    wanted = form.attributes if nodes else None
    return canonical_graph_set(
        [len(places)],
        np.asarray([places[one] for one, _ in pairs], np.int64),
        np.asarray([places[two] for _, two in pairs], np.int64),
        node_labels=labels(nodes, form.node_label, spelled[1]),
        edge_labels=labels(edges, form.edge_label, spelled[0]),
        attributes=[[float(row[name]) for name in wanted] for row in nodes or ()] if wanted else None,
        attribute_names=wanted or (),
        directed=bool(form.directed),
        label_names=label_names,
    )


def _name(cell: object) -> str:
    """A node id; 7, 7.0 and the text 7 are one."""
    if cell is None or cell == "":
        raise SchemaError("an id is missing")
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _label(cell: Any, numbers: bool) -> Any:
    """The label in a cell: with ``numbers``, text that is spelled like a whole number is that number."""
    if numbers and _WHOLE.fullmatch(cell):
        return int(cell.partition(".")[0])
    return None if cell == "" else cell


def _is_parquet(path: Path) -> bool:
    return path.suffix in {".parquet", ".pq"}


# TU files


def _tu(path: Path, form: RecordForm) -> Iterator[Read]:
    """The graphs of a TU dataset. A line belongs to the graph of its node; an edge between two graphs to neither."""
    with tu_files(path, DEFAULT_LIMITS) as files:
        lines = {part: _part_lines(opener) for part, opener in files.parts.items()}
    most = 2 * len(lines["graph_indicator"]) + 1000  # a larger number is no graph of this dataset
    graph_of = [_whole(line, most) for line in lines["graph_indicator"]]
    pairs = [tuple(_whole(cell, len(graph_of)) for cell in line.split(b",")) for line in lines["A"]]
    for part, expected in (("node_labels", graph_of), ("node_attributes", graph_of), ("edge_labels", pairs)):
        if part not in lines:
            continue
        while len(lines[part]) > len(expected) and not lines[part][-1].strip():
            lines[part].pop()
        if len(lines[part]) != len(expected):
            found = f"{files.name}_{part}.txt has {len(lines[part])} lines, expected {len(expected)}"
            raise FormatError(f"{found}. The files must have one line each; fetch the dataset again.")
    nodes, edges = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for row, number in enumerate(graph_of):
        nodes[number].append(row)
    for row, pair in enumerate(pairs):
        if len(pair) == 2 and all(pair) and graph_of[pair[0] - 1] == graph_of[pair[1] - 1]:
            edges[graph_of[pair[0] - 1]].append(row)
    for number in range(1, len(lines["graph_labels"]) + 1 if "graph_labels" in lines else max(graph_of) + 1):
        yield partial(_tu_graph, nodes[number], edges[number], pairs, lines, form)


def _part_lines(opener: Callable[[], IO[bytes]]) -> list[bytes]:
    with opener() as stream:
        return stream.read().removesuffix(b"\n").split(b"\n")


def _tu_graph(
    nodes: list[int], edges: list[int], pairs: list[Any], lines: Mapping[str, list[bytes]], form: RecordForm
) -> GraphSet:
    places = {row + 1: place for place, row in enumerate(nodes)}

    def labels(part: str, rows: list[int]) -> list[int] | None:
        return [int(lines[part][row].split(b",")[0]) for row in rows] if part in lines else None

    values = None
    if "node_attributes" in lines:
        values = [[float(cell) for cell in lines["node_attributes"][row].split(b",")] for row in nodes]
    return canonical_graph_set(
        [len(nodes)],
        np.asarray([places[pairs[row][0]] for row in edges], np.int64),
        np.asarray([places[pairs[row][1]] for row in edges], np.int64),
        node_labels=labels("node_labels", nodes),
        edge_labels=labels("edge_labels", edges),
        attributes=values,
        attribute_names=tuple(f"attribute_{i}" for i in range(len(values[0]))) if values else (),
        directed=bool(form.directed),
    )


def _whole(text: bytes, most: int) -> int:
    """A number from 1 to `most`, or 0 for anything else."""
    try:
        return number if 1 <= (number := int(text)) <= most else 0
    except ValueError:
        return 0
