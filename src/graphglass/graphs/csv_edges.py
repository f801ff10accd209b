"""CSV and TSV edge tables."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from graphglass.errors import FormatError
from graphglass.graphs.edge_table import EDGE_COLUMNS, NODE_COLUMNS, read_edge_table, require_columns
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.options import ReadOptions
from graphglass.graphs.text_source import read_bytes

# Ids keep their spelling: "007" is not 7.
_TEXT = dict.fromkeys(("graph_id", "source", "target", "node"), pa.string())


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
        from graphglass.graphs.parquet import read_parquet_table

        table = read_parquet_table(options.nodes, options)
    else:
        table = read_csv_table(options.nodes, options)
    require_columns(table, NODE_COLUMNS, f"{options.nodes.name}, a node table,")
    return table


def read_csv_table(path: Path, options: ReadOptions) -> pa.Table:
    content = read_bytes(path, options.limits)
    try:
        return csv.read_csv(
            BytesIO(content),
            parse_options=csv.ParseOptions(delimiter="\t" if {".tsv", ".tab"} & set(path.suffixes) else ","),
            convert_options=csv.ConvertOptions(
                column_types=_TEXT, strings_can_be_null=True, null_values=["", "NA", "null"]
            ),
        )
    except pa.ArrowInvalid as error:
        raise FormatError(f"{path.name} is not a table: {error}.") from error
