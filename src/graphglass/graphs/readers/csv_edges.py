"""CSV and TSV edge tables."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from graphglass.errors import FormatError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.edge_table import EDGE_COLUMNS, NODE_COLUMNS, SPELLED, read_edge_table, with_usual_names
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.text_source import read_bytes


def read_csv_edges(path: Path, options: ReadOptions) -> GraphSet:
    """An edge table with a header line; `nodes` may name a CSV or Parquet node table."""
    edges = read_csv_table(path, options)
    with_usual_names(edges, EDGE_COLUMNS, options, f"{path.name}, an edge table,")
    return read_edge_table(edges, read_node_table(options), options, first_row=2)


def read_node_table(options: ReadOptions) -> pa.Table | None:
    """The table `nodes` names, in either format."""
    path = options.node_table
    if path is None:
        return None
    if not path.is_file():
        raise FormatError(f"The node table {path} does not exist.")
    if path.suffix in {".parquet", ".pq"}:
        from graphglass.graphs.readers.parquet import read_parquet_table

        table = read_parquet_table(path, options)
    else:
        table = read_csv_table(path, options)
    with_usual_names(table, NODE_COLUMNS, options, f"{path.name}, a node table,")
    return table


def read_csv_table(path: Path, options: ReadOptions) -> pa.Table:
    content = read_bytes(path, options.limits)
    labels = {options.edge_label, options.node_label}
    # Ids keep their spelling: "007" is not 7, and "NA" is an id. Labels are read as they are spelled, each by itself:
    # what the others of the column look like must not change what a label means.
    text = {options.graph_column, options.source_column, options.target_column, "node", *labels}
    try:
        table = csv.read_csv(
            BytesIO(content),
            parse_options=csv.ParseOptions(delimiter="\t" if {".tsv", ".tab"} & set(path.suffixes) else ","),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(text, pa.string()),
                null_values=["", "NA", "null"],  # null: of numbers
            ),
        )
    except (pa.ArrowException, ValueError) as error:
        raise FormatError(f"{path.name} is not a table: {error}.") from error
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            column = pc.if_else(pc.equal(table[place], ""), None, table[place])
            table = table.set_column(place, field.with_metadata(SPELLED if field.name in labels else {}), column)
    return table
