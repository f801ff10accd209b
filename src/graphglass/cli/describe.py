"""glass describe: the structural profile of every graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graphglass.cli.option_groups import JSON, QUIET
from graphglass.cli.reading_options import Reading, reads_graphs
from graphglass.files.output_file import refuse_unless_writable
from graphglass.files.rows import SUFFIXES, encoded, write_rows
from graphglass.messages import counted

app = typer.Typer()

# Columns that fit on a line and distinguish graphs; files and --json carry every number.
SHOWN = {
    "nodes": "nodes", "edges": "edges", "components": "parts", "degree_mean": "degree", "clustering_mean": "clust.",
    "triangles": "triang.", "four_cycles": "4-cyc.", "core_max": "core", "lambda_2": "λ2", "rayleigh_q50": "ρ50",
}  # fmt: skip


@app.command()
@reads_graphs
def describe(
    graphs: Annotated[Path, typer.Argument(help="Graphs in any format.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write to this .csv, .parquet or .jsonl file."),
    ] = None,
    as_json: JSON = False,
    rows: Annotated[int, typer.Option(min=0, help="Graphs shown in the table on the screen.")] = 20,
    quiet: QUIET = False,
    *,
    reading: Reading,
) -> None:
    """Measure every graph: size, degrees, clustering, cores, motifs and the spectral sketch."""
    if output is not None:
        refuse_unless_writable(output, SUFFIXES, inputs=(graphs, reading.nodes))
    from graphglass.structure.profile import profile

    read = reading.read(graphs)
    measured = profile(read, progress=not quiet).columns(read.ids)
    columns = {name: values if name == "id" else values.tolist() for name, values in measured.items()}
    if output is not None:
        write_rows(columns, output)
        typer.echo(f"Wrote {counted(len(read), 'graph')} to {output}.", err=True)
    elif as_json:
        typer.echo(encoded(columns, ".jsonl"), nl=False)
    else:
        _print(columns, rows)


def _print(columns: dict[str, list[Any]], rows: int) -> None:
    from graphglass.cli.console import print_line, print_table

    total = len(columns["id"])
    marks = ["*" if estimated else "" for estimated in columns["estimated"]]
    cells = [
        [columns["id"][i] + marks[i], *(f"{columns[name][i]:.4g}" for name in SHOWN)] for i in range(min(rows, total))
    ]
    print_table(None, ("id", *SHOWN.values()), cells)
    amounts = {"graph": total, "node": sum(columns["nodes"]), "edge": sum(columns["edges"])}
    summary = ", ".join(counted(amount, noun) for noun, amount in amounts.items())
    if estimated := sum(columns["estimated"]):
        summary += f"; {estimated} with estimated values (*)"
    if rows < total:
        summary += f"; the first {rows} are shown (--rows), all numbers with --json or -o"
    print_line(summary)
