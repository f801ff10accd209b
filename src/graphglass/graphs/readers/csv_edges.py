"""CSV and TSV edge tables."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from graphglass.errors import FormatError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.edge_table import EDGE_COLUMNS, NODE_COLUMNS, SPELLED, read_edge_table, require_columns
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.text_source import read_bytes

# Ids keep their spelling: "007" is not 7, and "NA" is an id. Labels are read as they are spelled, each by itself: what
# the others of the column look like must not change what a label means.
_TEXT = dict.fromkeys(("graph_id", "source", "target", "node", "label"), pa.string())


def read_csv_edges(path: Path, options: ReadOptions) -> GraphSet:
    """An edge table with a header line; `nodes` may name a CSV or Parquet node table."""
    edges = read_csv_table(path, options)
    require_columns(edges, EDGE_COLUMNS, f"{path.name}, an edge table,")
    return read_edge_table(edges, read_node_table(options), options, first_row=2)


def read_node_table(options: ReadOptions) -> pa.Table | None:
    """The table `nodes` names, in either format."""
    if options.nodes is None:
        return None
    if not options.nodes.is_file():
        raise FormatError(f"The node table {options.nodes} does not exist.")
    if options.nodes.suffix in {".parquet", ".pq"}:
        from graphglass.graphs.readers.parquet import read_parquet_table

        table = read_parquet_table(options.nodes, options)
    else:
        table = read_csv_table(options.nodes, options)
    require_columns(table, NODE_COLUMNS, f"{options.nodes.name}, a node table,")
    return table


def read_csv_table(path: Path, options: ReadOptions) -> pa.Table:
    content = read_bytes(path, options.limits)
    try:
        table = csv.read_csv(
            BytesIO(content),
            parse_options=csv.ParseOptions(delimiter="\t" if {".tsv", ".tab"} & set(path.suffixes) else ","),
            convert_options=csv.ConvertOptions(column_types=_TEXT, null_values=["", "NA", "null"]),  # null: of numbers
        )
    except pa.ArrowInvalid as error:
        raise FormatError(f"{path.name} is not a table: {error}.") from error
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            column = pc.if_else(pc.equal(table[place], ""), None, table[place])
            table = table.set_column(place, field.with_metadata(SPELLED if field.name == "label" else {}), column)
    return table
