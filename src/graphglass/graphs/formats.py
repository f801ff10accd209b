"""Which format an input is in: by suffix, by a table's columns, or by an object's type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from graphglass.errors import FormatError, GraphError
from graphglass.graphs.limits import DEFAULT_LIMITS
from graphglass.graphs.readers.options import ReadOptions
from graphglass.messages import listing


@dataclass(frozen=True)
class Format:
    """One format: what it is called, its file suffixes, and the functions that read it (``module.function``)."""

    title: str
    suffixes: tuple[str, ...] = ()
    path_reader: str | None = None
    object_reader: str | None = None
    unit: str = "line"


SPREADSHEETS = (".xlsx", ".xls", ".ods")
FORMATS = {
    "tu": Format("TU folder or zip", (".zip",), "tu.read_tu_path"),
    "smi": Format("SMILES lines", (".smi", ".smiles"), "smiles.read_smi", "smiles.read_smiles_strings"),
    "sdf": Format("SDF molecules", (".sdf", ".sd"), "sdf.read_sdf"),
    "json-lines": Format(
        "JSON Lines records", (".jsonl", ".ndjson"), "json_lines.read_json_lines", "json_lines.read_mappings"
    ),
    "csv": Format("CSV or TSV table of molecules or edges", (".csv", ".tsv", ".tab"), "table_files.read_csv"),
    "parquet": Format(
        "Parquet table of graphs, edges or molecules", (".parquet", ".pq"), "table_files.read_parquet", unit="row"
    ),
    "dataframe": Format("pandas, Polars or Arrow table", object_reader="table_files.read_frames"),
    "graphml": Format("GraphML file, or a folder of them", (".graphml",), "documents.read_graphml", unit="graph"),
    "gexf": Format("GEXF file, or a folder of them", (".gexf",), "documents.read_gexf", unit="graph"),
    "gml": Format("GML file, or a folder of them", (".gml",), "documents.read_gml", unit="graph"),
    "rdkit": Format("RDKit molecules", object_reader="smiles.read_mols"),
    "networkx": Format("NetworkX graphs", object_reader="networkx.read_networkx"),
    "pyg": Format("PyG Data and datasets", object_reader="pyg.read_pyg"),
    "igraph": Format("igraph graphs", object_reader="igraph.read_igraph"),
    "matrices": Format("adjacency matrices", object_reader="scipy_sparse.read_matrices"),
}
_PACKAGES = {
    "networkx": "networkx", "torch_geometric": "pyg", "igraph": "igraph", "rdkit": "rdkit", "scipy": "matrices",
    "numpy": "matrices",
}  # fmt: skip


def detect_path(path: Path) -> str:
    """The format of a file or folder."""
    if path.is_dir():
        if any(path.rglob("*_graph_indicator.txt")):
            return "tu"
        for name in ("graphml", "gexf", "gml"):
            if any(path.glob(f"*.{name}")):
                return name
        files = sorted(file.name for file in path.iterdir() if file.is_file())
        raise FormatError(
            f"The folder {path} holds no TU dataset, GraphML, GEXF or GML files, and others are not read as a folder. "
            f"Name one file, or join them into one. Files found: {listing(files, 3)}."
        )
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    for name, kind in FORMATS.items():
        if suffix.lower() in kind.suffixes:
            return name
    if suffix.lower() == ".json":
        raise FormatError(
            f"{path.name}: .json is not read. JSON Lines is, with one record per line, in a file that ends in .jsonl."
        )
    if suffix.lower() in SPREADSHEETS:
        raise FormatError(
            f"{path.name} is a spreadsheet, which is not read. Save the sheet as CSV, or read it with "
            "pandas.read_excel and hand over the DataFrame."
        )
    raise FormatError(f"{path.name} has no suffix that tells its format. {supported()}")


def text_suffix(first: str) -> str:
    """The suffix that fits text whose first line is this one."""
    if first.lstrip().startswith("{"):
        return ".jsonl"
    if re.search(r"smiles|graph_id", first, re.IGNORECASE):
        for mark, suffix in ((",", ".csv"), (";", ".csv"), ("\t", ".tsv")):
            if mark in first:
                return suffix
    return ".smi"


def is_smiles(text: str) -> bool:
    """Whether a text that is no path is the SMILES of a molecule."""
    if not re.fullmatch(r"[A-Za-z0-9@+\-\[\]()=#$%/\\.:~*]{1,4000}", text) or find_spec("rdkit") is None:
        return False
    from graphglass.graphs.molecules import parse_smiles, rdkit_chemistry

    try:
        with rdkit_chemistry() as chemistry:
            parse_smiles(chemistry, text, DEFAULT_LIMITS)
    except GraphError:
        return False
    return True


def detect_object(source: Any, wanted: str | None, options: ReadOptions) -> tuple[str, Iterable[tuple[int, Any]]]:
    """The format of objects in memory, and the objects with their place in the list."""
    if is_one(source):
        return wanted or str(_kind(source)), [(0, source)]
    try:
        items = iter(source)
    except TypeError:
        raise FormatError(f"Graphs cannot be read from {type(source).__name__}. {supported()}") from None
    first = next(items, None)
    if first is None:
        return wanted or "json-lines", []
    kind = wanted or _kind(first) or ("smi" if isinstance(first, str) and is_smiles(first) else None)
    if kind is None:
        what = "text" if isinstance(first, str) else type(first).__name__
        hint = " For SMILES strings say format='smi'." if isinstance(first, str) else ""
        raise FormatError(f"Graphs cannot be read from a collection of {what}.{hint} {supported()}")
    return kind, _alike(chain([first], items), _kind(first), options)


def _alike(items: Iterable[object], kind: str | None, options: ReadOptions) -> Iterator[tuple[int, object]]:
    """The items that are of the first one's kind; others, such as None, are left out with a reason."""
    for position, item in enumerate(items):
        if item is None or _kind(item) != kind or (kind is None and not isinstance(item, str)):
            options.log.add(position, f"graph-{position}", f"found {type(item).__name__} in a list of {kind or 'text'}")
        else:
            yield position, item


def is_one(source: object) -> bool:
    """Whether an object is one graph or table, and no collection of them, such as an array of SMILES."""
    if getattr(source, "ndim", 2) == 1:
        return False
    datasets = {"Dataset", "DataLoader"}.intersection(ancestor.__name__ for ancestor in type(source).__mro__)
    return _kind(source) is not None and not (_kind(source) == "pyg" and datasets)


def _kind(item: object) -> str | None:
    """The format of one object, from the packages its classes come from; nothing is imported for it."""
    if isinstance(item, Mapping):
        return "json-lines"
    if hasattr(item, "columns") and (hasattr(item, "__arrow_c_stream__") or hasattr(item, "__dataframe__")):
        return "dataframe"
    for ancestor in type(item).__mro__:
        package = ancestor.__module__.partition(".")[0]
        if package in _PACKAGES and not (package == "numpy" and ancestor.__name__ != "ndarray"):
            return _PACKAGES[package]
    return None


def supported() -> str:
    """The sentence that lists what can be read."""
    files = [f"{kind.title} ({', '.join(kind.suffixes)})" if kind.suffixes else kind.title for kind in FORMATS.values()]
    return f"Supported: {'; '.join(files)}."
