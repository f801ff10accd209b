"""glass describe: the structural profile of every graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graphglass.cli.clustering import CLUSTER, WORKERS, run_parts
from graphglass.cli.option_groups import QUIET
from graphglass.cli.reading_options import Reading, reads_graphs
from graphglass.cli.rows import encoded
from graphglass.errors import InputError
from graphglass.storage.output_file import refuse_unless_writable, write_file
from graphglass.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer()

# Columns that fit on a line and tell graphs apart; the other formats carry every number.
SHOWN = {
    "nodes": "nodes", "edges": "edges", "components": "parts", "degree_mean": "degree", "clustering_mean": "clust.",
    "triangles": "triang.", "four_cycles": "4-cyc.", "core_max": "core", "lambda_2": "λ2", "rayleigh_q50": "ρ50",
}  # fmt: skip


Format = Literal["table", "json", "parquet"]
_ENDINGS: dict[str, Format] = {
    ".txt": "table", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip


@app.command()
@reads_graphs
def describe(
    graphs: Annotated[list[Path], typer.Argument(help="Graphs in any format; several parts with --cluster.")],
    format: Annotated[  # noqa: A002 - the name of the option
        Format | None,
        typer.Option(
            help="table: a summary to read. json: one object per line. parquet: a table file.",
            show_default="from the ending of -o, else table",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here, not to the screen; a directory with --cluster.")
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Graphs shown in a table on the screen.")] = 20,
    cluster: CLUSTER = None,
    workers: WORKERS = None,
    quiet: QUIET = False,
    *,
    reading: Reading,
) -> None:
    """Measure every graph: size, degrees, clustering, cores, motifs and the spectral sketch."""
    if cluster is not None:
        from graphglass.cluster.jobs import describe_parts

        if output is None or format not in {None, "parquet"}:
            raise InputError("--cluster writes one Parquet table per part: name a directory with -o.")
        reading.refuse_beside_cluster()

        def work(client: Any) -> Any:
            return describe_parts(client, graphs, output, strict=reading.strict, progress=not quiet)

        run_parts(cluster, workers, "describe", work)
        return
    if len(graphs) > 1:
        raise InputError("Several files need --cluster local; without it, name one file.")
    if output is None and format == "parquet":
        raise InputError("A Parquet table needs a file. Name one with -o FILE.")
    format = format_of(output, format)  # noqa: A001
    if output is not None:
        refuse_unless_writable(output)
    from graphglass.structure.profile import profile

    read = reading.read(graphs[0])
    measured = profile(read, progress=not quiet).columns(read.ids)
    columns = {name: values if name == "id" else values.tolist() for name, values in measured.items()}
    if format == "table":
        content = _show(columns, rows, output is None)
    else:
        content = encoded(columns, ".jsonl" if format == "json" else ".parquet")
    if output is not None:
        write_file(output, content)
        typer.echo(f"Wrote {counted(len(read), 'graph')} to {output}.", err=True)
    elif format == "json":
        typer.echo(content, nl=False)


def format_of(output: Path | None, wanted: Format | None) -> Format:
    """The format to write: the one asked for or the one the file's ending names, which must not disagree."""
    ending = "" if output is None else output.suffix
    named = _ENDINGS.get(ending)
    if wanted is None and named is None and ending:
        raise InputError(f"{output}: name a file that ends in {', '.join(_ENDINGS)}, or add --format.")
    if wanted is not None and named is not None and wanted != named:
        raise InputError(f"{output} has the ending of {named}, but --format is {wanted}. Change one of them.")
    return wanted or named or "table"


def _show(columns: dict[str, list[Any]], rows: int, screen: bool) -> bytes:
    """Print the first rows as a table with a summary; or return all of them as text."""
    from io import StringIO

    from graphglass.cli.console import literal_console

    if screen:
        _print(literal_console(), columns, rows)
        return b""
    text = StringIO()
    _print(literal_console(file=text, width=160), columns, len(columns["id"]))
    return text.getvalue().encode()


def _print(console: Console, columns: dict[str, list[Any]], rows: int) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column("id", overflow="fold")
    for header in SHOWN.values():
        table.add_column(header, justify="right", no_wrap=True)
    total = len(columns["id"])
    for i in range(min(rows, total)):
        mark = "*" if columns["estimated"][i] else ""
        table.add_row(columns["id"][i] + mark, *(f"{columns[name][i]:.4g}" for name in SHOWN))
    console.print(table)
    amounts = {"graph": total, "node": sum(columns["nodes"]), "edge": sum(columns["edges"])}
    summary = ", ".join(counted(amount, noun) for noun, amount in amounts.items())
    if estimated := sum(columns["estimated"]):
        summary += f"; {estimated} with estimated values (*)"
    if rows < total:
        summary += f"; the first {rows} are shown (--rows), all numbers with --format json"
    console.print(summary, highlight=False)
