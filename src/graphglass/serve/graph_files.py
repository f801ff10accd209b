"""Graph files that a page sends, read by the readers of the command line and returned as records that score equally."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from graphglass.errors import FormatError, InputError, LimitError, UnknownColumnsError
from graphglass.graphs.formats import FORMATS, SPREADSHEETS
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_report
from graphglass.graphs.readers.json_lines import json_records
from graphglass.graphs.readers.rejects import ReadResult
from graphglass.graphs.readers.smiles import smiles_column
from graphglass.graphs.reading import ReadingOptions
from graphglass.serve import schemas
from graphglass.serve.request_graphs import sendable, unique
from graphglass.serve.worker_process import memory_limit

_ANSWER = 4  # largest answer, as a multiple of the largest body
SUFFIXES = frozenset(suffix for kind in FORMATS.values() for suffix in kind.suffixes)


def read_file(
    content: bytes,
    name: str,
    limits: Limits,
    columns: Mapping[str, str] | None = None,
    reading: ReadingOptions | None = None,
) -> schemas.FileAnswer:
    """Read the content of a file, or text that was pasted.

    Parameters
    ----------
    content : bytes
    name : str
        Of the file; only its suffix is used. Without a known suffix the content decides.
    limits : Limits
    columns : mapping, optional
        Names of the columns of a table, by setting of :func:`graphglass.graphs.read.read_graphs`.
    reading : ReadingOptions, optional
        How the references of the model were read.
    """
    if not content.strip():
        raise InputError("There is nothing to read. Paste graphs, or open a file that holds some.")
    suffix = PurePath(name).suffix.lower()
    if suffix == ".gz":
        suffix = "".join(PurePath(name).suffixes[-2:]).lower()
    if suffix.removesuffix(".gz") not in (*SUFFIXES, *SPREADSHEETS) and suffix != ".edges":
        suffix = _guessed(content)
    chosen: Any = {"limits": limits, "keep": "all", "reading": reading, **(columns or {})}
    if suffix == ".edges":
        return _answer(read_report(list(_edge_lists(_text(content))), format="json-lines", **chosen), "edge list")
    if suffix in (".json", ".jsonl") and (records := _document(content)) is not None:
        return _answer(read_report(records, format="json-lines", **chosen), "JSON")
    with TemporaryDirectory(prefix="graphglass-") as folder:
        path = Path(folder) / f"graphs{suffix}"
        path.write_bytes(content)
        try:
            return _answer(read_report(path, **chosen), suffix.removeprefix("."), chosen.get("smiles_column"))
        except UnknownColumnsError as error:
            raise UnknownColumnsError(
                f"{name or 'The table'} has no column with SMILES, and none called graph_id, source and target. "
                "Choose the columns that hold its graphs.",
                [name[:200] for name in error.columns],
            ) from error


def file_answer(
    content: bytes, name: str, limits: Limits, columns: dict[str, str], reading: ReadingOptions | None
) -> bytes:
    """The answer as it is sent: millions of edges are written out here and not where other requests wait."""
    answer = read_file(content, name, limits, columns, reading).model_dump_json().encode()
    if len(answer) > _ANSWER * limits.max_record_bytes:
        raise LimitError(f"The file holds {len(answer):,} bytes of graphs, more than a page can use. Send fewer.")
    return answer


def read_in_worker(memory: int, *how: Any) -> bytes:
    """In the worker process: read a file within so many bytes of memory."""
    with memory_limit(memory):
        return file_answer(*how)


def _answer(result: ReadResult, name: str, smiles: str | None = None) -> schemas.FileAnswer:
    graphs = result.graphs
    rejected = [
        schemas.Rejected(position=item.position, id=sendable(item.id)[:200], reason=sendable(item.reason)[:500])
        for item in result.rejects
    ]
    if not len(graphs) and not rejected:
        raise InputError("No graph was found. " + " ".join(result.notes))
    names = unique([sendable(name)[:180] for name in graphs.ids])
    return schemas.FileAnswer(format=name, graphs=list(as_items(graphs, names, smiles)), rejected=rejected)


def as_items(graphs: GraphSet, names: Sequence[str], column: str | None = None) -> Iterator[dict[str, Any]]:
    """Graphs as other requests take them: a molecule as the SMILES it was read from, everything else as a record.

    SMILES that were not read but written from a graph would lose isotopes and charges that the score depends on.
    """
    place = smiles_column(list(graphs.columns), column)
    source = None if place is None or graphs.atom_environments is None else list(graphs.columns)[place]
    records = json_records(graphs) if source is None else None
    for i, name in enumerate(names):
        own = {sendable(key)[:200]: _sent(values.item(i)) for key, values in graphs.columns.items()}
        smiles = None if source is None else own.get(source)
        if isinstance(smiles, str) and len(smiles) <= schemas.LONGEST_TEXT:
            record = {"smiles": smiles.strip()}
        else:
            record = next(json_records(graphs[i]) if records is None else records)
            record.pop("columns", None)
        more = set(own) - {"smiles", "name"}  # which a .smi file has as well
        yield {**record, "id": name} | ({"columns": own} if more else {})


def _sent(value: object) -> object:
    return sendable(value)[: schemas.LONGEST_TEXT] if isinstance(value, str) else value


def _guessed(content: bytes) -> str:
    """The suffix that fits text without one."""
    first = next((line.strip() for line in _text(content).splitlines() if line.strip()), "")
    if first.startswith(("[", "{")):
        return ".jsonl"
    for separator, suffix in ((",", ".csv"), (";", ".csv"), ("\t", ".tsv")):
        if separator in first and re.search(r"smiles|graph_id", first, re.IGNORECASE):
            return suffix
    return ".edges" if re.match(r"\d+[\s,;]+\d+", first) else ".smi"  # no SMILES starts with a digit


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            "The file is neither text in UTF-8 nor named as a binary format. "
            f"Give it one of the suffixes {', '.join(sorted(SUFFIXES))}."
        ) from error


def _document(content: bytes) -> list[object] | None:
    """The records of one JSON document; None if it is JSON Lines, or not JSON."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and isinstance(value.get("graphs"), list):
        value = value["graphs"]
    return value if isinstance(value, list) else [value]


def _edge_lists(text: str) -> Iterator[dict[str, object]]:
    """Graphs as lines of two node names, with a blank line between graphs."""
    for number, block in enumerate(re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip()), start=1):
        edges = [[cell for cell in re.split(r"[\s,;]+", line.strip()) if cell][:2] for line in block.splitlines()]
        nodes = list(dict.fromkeys(cell for edge in edges for cell in edge))
        yield {"id": f"graph {number}", "nodes": [{"id": node} for node in nodes], "edges": edges}
