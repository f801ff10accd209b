"""Tables of molecules, edges or graphs: CSV, TSV and Parquet files, and DataFrames; the columns decide which it is."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.interchange
import pyarrow.parquet as pq

from graphglass.errors import FormatError, LimitError, SchemaError, UnknownColumnsError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.edge_table import (
    EDGE_COLUMNS,
    MISSING,
    NODE_COLUMNS,
    ROWS,
    SPELLED,
    by_header,
    decimal_commas,
    other_names,
    read_edge_table,
    refuse_repeated,
    with_usual_names,
)
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.parquet import GRAPH_COLUMNS, read_graph_table
from graphglass.graphs.readers.smiles import (
    delimiter,
    id_place,
    read_smiles_cells,
    read_smiles_csv,
    refuse_open_quote,
    smiles_column,
    wrong_width,
)
from graphglass.graphs.readers.text_source import header_line, read_bytes, utf8_text
from graphglass.messages import listing, setting


def read_csv(path: Path, options: ReadOptions) -> GraphSet:
    """A CSV or TSV table of molecules or edges, with a header line."""
    first = header_line(path, options.limits)
    try:
        header = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter(path, options)), [])]
    except csv.Error as error:
        raise FormatError(f"The first line of {path.name} is not the header of a table: {error}.") from error
    if not header:
        raise SchemaError(f"{path.name} is empty; a table needs a header line.")
    if _holds_edges(header, path.name, "graph_id, source, target of an edge table", options):
        edges = _csv_table(path, options)
        with_usual_names(edges, EDGE_COLUMNS, options, f"{path.name}, an edge table,")
        graphs = read_edge_table(edges, _node_table(options), options, first_row=2)
    else:
        graphs = read_smiles_csv(path, options)
    if not len(graphs) and not options.log.entries:
        options.log.note("the file has a header and no rows")
    return graphs


def read_parquet(path: Path, options: ReadOptions) -> GraphSet:
    """A Parquet table of graphs, edges or molecules."""
    return _read_layout(parquet_table(path, options), path.name, options, 1)


def read_frames(frames: Iterable[tuple[int, object]], options: ReadOptions) -> GraphSet:
    """A pandas, Polars or Arrow table of molecules, edges or graphs; its rows count from 0."""
    (_, frame), *more = frames
    if more:
        raise FormatError(f"Expected one DataFrame, found a list of {len(more) + 1}. Join them into one first.")
    table = _frame_table(frame)
    return _read_layout(table, f"The {type(frame).__name__}", options, 0, _index(frame, table))


def _index(frame: object, table: pa.Table) -> list[str] | None:
    """The ids that the index of a pandas DataFrame gives; None if it only numbers the rows and a column names them.

    Polars and Arrow have no index: their rows count from 0.
    """
    index: Any = getattr(frame, "index", None)
    named = hasattr(index, "tolist") and not (index.name is None and index.inferred_type == "integer")
    if not named and id_place(table.column_names) is not None:
        return None
    return [str(name) for name in (index.tolist() if hasattr(index, "tolist") else range(table.num_rows))]


def _read_layout(
    table: pa.Table, what: str, options: ReadOptions, first_row: int, index: list[str] | None = None
) -> GraphSet:
    names = table.column_names
    if set(GRAPH_COLUMNS) <= set(names):
        return read_graph_table(table, options)
    layouts = f"graph_id, source, target of an edge table or {', '.join(GRAPH_COLUMNS)} of a graph table"
    if _holds_edges(names, what, layouts, options):
        return read_edge_table(table, _node_table(options), options, first_row=first_row)
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return read_smiles_cells(names, enumerate(rows, first_row), what, options, index)


def _holds_edges(names: list[str], what: str, layouts: str, options: ReadOptions) -> bool:
    """Whether a table has a row per edge and not per molecule; one that has neither is refused."""
    if options.smiles_column is not None:
        return False
    found = by_header(options, names)
    graph, ends = found.graph_column in names, {found.source_column, found.target_column} <= set(names)
    if smiles_column(names, None) is not None or (graph and ends):
        return graph and ends
    if graph:
        return True  # the reader names the column that is missing
    several = [name for name in names if name.lower().endswith("smiles")]
    found_smiles = f"several SMILES columns ({listing(several)})" if several else "neither a SMILES column"
    raise UnknownColumnsError(
        f"{what} has {found_smiles} {'and not' if several else 'nor'} the columns {layouts}. "
        f"Columns found: {listing(names)}. Name the column with {setting('smiles_column', 'NAME')}. {other_names()}",
        names,
    )


def _node_table(options: ReadOptions) -> pa.Table | None:
    """The table `nodes` names: a file of either format, or a DataFrame."""
    if options.nodes is None:
        return None
    if not isinstance(options.nodes, str | PathLike):
        table, what = _frame_table(options.nodes), "nodes"
    else:
        path = Path(options.nodes)
        if not path.is_file():
            raise FormatError(f"The node table {path} does not exist.")
        read = parquet_table if path.suffix in {".parquet", ".pq"} else _csv_table
        table, what = read(path, options), path.name
    with_usual_names(table, NODE_COLUMNS, options, f"{what}, a node table,")
    return table


def _csv_table(path: Path, options: ReadOptions) -> pa.Table:
    content = read_bytes(path, options.limits)
    utf8_text(content, path.name)  # Arrow would read a column of other bytes as binary
    content = content.removeprefix(BOM_UTF8)
    start = re.search(rb"\A\s*[\r\n]|\A", content)  # blank lines before the header
    assert start is not None
    content, first_row = content[start.end() :], 2 + len(start[0].splitlines())
    separator = delimiter(path, options)
    options = by_header(options, next(csv.reader([header_line(path, options.limits)], delimiter=separator)))
    labels = {options.edge_label, options.node_label}
    # Ids keep their spelling: "007" is not 7, and "NA" is an id. Labels are read as they are spelled, each by itself:
    # what the others of the column look like must not change what a label means.
    text = {options.graph_column, options.source_column, options.target_column, "node", *labels}
    ragged: list[Any] = []

    def parse(skip: Callable[[Any], str] | None) -> pa.Table:
        return pa.csv.read_csv(
            BytesIO(content),
            read_options=pa.csv.ReadOptions(use_threads=skip is None),  # only one thread knows the number of a row
            parse_options=pa.csv.ParseOptions(delimiter=separator, invalid_row_handler=skip),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(text, pa.string()),
                null_values=MISSING,  # of numbers
            ),
        )

    try:
        table = parse(None)
    except (pa.ArrowException, ValueError):
        try:
            table = parse(lambda row: ragged.append(row) or "skip")  # type: ignore[func-returns-value]
        except (pa.ArrowException, ValueError) as error:
            raise FormatError(f"{path.name} is not a table: {error}.") from error
        table = _without_graphs_of(ragged, table, separator, options, first_row)
    if content.count(b'"') % 2 and table.num_rows:
        last = [column[-1].as_py() for column in table.columns]
        refuse_open_quote(first_row + table.num_rows - 1, last, path.name)
    if first_row > 2 and not ragged:
        rows = np.arange(table.num_rows, dtype=np.int64) + first_row
        table = table.replace_schema_metadata({ROWS: rows.tobytes()})
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            column = pc.if_else(pc.equal(table[place], ""), None, table[place])
            numbers = decimal_commas(column) if separator == ";" and field.name not in text else None
            if numbers is not None:
                column, field = numbers, field.with_type(numbers.type)
            table = table.set_column(place, field.with_metadata(SPELLED if field.name in labels else {}), column)
    return table


def _without_graphs_of(
    ragged: list[Any], table: pa.Table, separator: str, options: ReadOptions, first_row: int
) -> pa.Table:
    """The table without the graphs that a row with too few or too many cells belongs to: an edge of theirs is lost."""
    place = table.column_names.index(options.graph_column) if options.graph_column in table.column_names else 0
    names = set()
    for row in ragged:
        cells = next(csv.reader([row.text], delimiter=separator), [])
        name = cells[place] if place < len(cells) else "?"
        names.add(name)
        options.log.add(row.number + first_row - 2, name, wrong_width(cells, row.expected_columns))
    kept = pc.invert(pc.is_in(table[place], pa.array(sorted(names), pa.string())))
    rows = np.setdiff1d(np.arange(table.num_rows + len(ragged)) + 2, [row.number for row in ragged]) + first_row - 2
    left = rows[kept.to_numpy()].astype(np.int64)
    return table.filter(kept).replace_schema_metadata({ROWS: left.tobytes()})


def parquet_table(path: Path, options: ReadOptions) -> pa.Table:
    """The table of a file whose unpacked size is within the limits."""
    if not path.stat().st_size:
        raise FormatError(f"{path.name} is empty (0 bytes); a Parquet file never is.")
    try:
        with pq.ParquetFile(path) as source:
            facts = source.metadata
            unpacked = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
            options.limits.check("max_file_bytes", unpacked, f"Unpacked bytes of {path.name}")
            options.limits.check("max_edges", facts.num_rows, f"Rows of {path.name}")
            values = sum(group.column(i).num_values for group in map(facts.row_group, range(facts.num_row_groups))
                         for i in range(group.num_columns))  # fmt: skip
            options.limits.check_ratio(max(unpacked, 8 * values), path.stat().st_size, path.name)
            return _usual_types(source.read())
    except LimitError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, KeyError) as error:
        raise FormatError(f"{path.name} is not a readable Parquet file ({error}). It may be truncated.") from error


def _frame_table(frame: Any) -> pa.Table:
    what = f"The {type(frame).__name__}"
    pandas = type(frame).__module__.startswith("pandas")
    if pandas:
        refuse_repeated([str(name) for name in frame.columns], what)
        frame = frame.copy(deep=False)
        for name in frame.columns[frame.dtypes == np.dtype("O")]:
            frame[name] = _of_one_type(frame[name])
    try:
        if pandas:
            table = pa.Table.from_pandas(frame, preserve_index=False)
        elif hasattr(frame, "__arrow_c_stream__"):
            table = pa.table(frame)
        else:
            table = pa.interchange.from_dataframe(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise SchemaError(f"{what} has a column of a type that cannot be read: {error}. Leave it out.") from error
    return _usual_types(table)


def _of_one_type(column: Any) -> Any:
    """A column of Python objects; one that mixes text and numbers as the text that a file would have."""
    try:
        pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        return column.map(str, na_action="ignore")
    return column


def _usual_types(table: pa.Table) -> pa.Table:
    """The same values, with one kind of text and without dictionaries."""
    for place, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            kind = pa.string()
        if kind != field.type:
            table = table.set_column(place, field.with_type(kind), table[place].cast(kind))
    return table
