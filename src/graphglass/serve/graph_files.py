"""Graph files that a page sends: read by the readers of the command line, and returned as records and SMILES."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from tempfile import TemporaryDirectory
from typing import Any

from graphglass.drawing.molecule_svg import molecule_smiles
from graphglass.errors import FormatError, InputError
from graphglass.graphs.formats import FORMATS
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_report
from graphglass.graphs.readers.json_lines import json_records
from graphglass.graphs.readers.rejects import ReadResult
from graphglass.serve import schemas
from graphglass.serve.request_graphs import sendable, unique

_TABLES = (".csv", ".tsv", ".tab")
SUFFIXES = frozenset((*_TABLES, *(suffix for kind in FORMATS.values() for suffix in kind.suffixes)))


def read_file(content: bytes, name: str, limits: Limits) -> schemas.FileAnswer:
    """Read the content of a file, or text that was pasted.

    Parameters
    ----------
    content : bytes
    name : str
        Of the file; only its suffix is used. Without a known suffix the content decides.
    limits : Limits
    """
    if not content.strip():
        raise InputError("There is nothing to read. Paste graphs, or open a file that holds some.")
    suffix = PurePath(name).suffix.lower()
    if suffix == ".gz":
        suffix = "".join(PurePath(name).suffixes[-2:]).lower()
    if suffix.removesuffix(".gz") not in SUFFIXES and suffix != ".edges":
        suffix = _guessed(content)
    if suffix == ".edges":
        return _answer(read_report(list(_edge_lists(_text(content))), format="json-lines", limits=limits), "edge list")
    if suffix in (".json", ".jsonl") and (records := _document(content)) is not None:
        return _answer(read_report(records, format="json-lines", limits=limits), "JSON")
    with TemporaryDirectory(prefix="graphglass-") as folder:
        path = PurePath(folder) / f"graphs{suffix}"
        with open(path, "wb") as file:
            file.write(content)
        return _answer(read_report(str(path), limits=limits, cache=False), suffix.removeprefix("."))


def _answer(result: ReadResult, name: str) -> schemas.FileAnswer:
    graphs = result.graphs
    rejected = [
        schemas.Rejected(position=item.position, id=sendable(item.id)[:200], reason=sendable(item.reason)[:500])
        for item in result.rejects
    ]
    if not len(graphs) and not rejected:
        raise InputError("No graph was found. " + " ".join(result.notes))
    names = unique([sendable(name)[:180] for name in graphs.ids])
    return schemas.FileAnswer(format=name, graphs=list(as_items(graphs, names)), rejected=rejected)


def as_items(graphs: GraphSet, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Graphs as other requests take them: molecules as SMILES, which people can read and edit."""
    for graph, record, name in zip(graphs, json_records(graphs), names, strict=True):
        smiles = None if graph.atom_environments is None else molecule_smiles(graph)
        fits = smiles is not None and len(smiles) <= schemas.LONGEST_TEXT
        yield {"id": name, "smiles": smiles} if fits else {**record, "id": name}


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


def _document(content: bytes) -> list[Any] | None:
    """The records of one JSON document; None if it is JSON Lines, or not JSON."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and isinstance(value.get("graphs"), list):
        value = value["graphs"]
    return value if isinstance(value, list) else [value]


def _edge_lists(text: str) -> Iterator[dict[str, Any]]:
    """Graphs as lines of two node names, with a blank line between graphs."""
    for number, block in enumerate(re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip()), start=1):
        edges = [[cell for cell in re.split(r"[\s,;]+", line.strip()) if cell][:2] for line in block.splitlines()]
        nodes = list(dict.fromkeys(cell for edge in edges for cell in edge))
        yield {"id": f"graph {number}", "nodes": [{"id": node} for node in nodes], "edges": edges}
