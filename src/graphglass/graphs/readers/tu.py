"""The TU text format: NAME_A.txt, NAME_graph_indicator.txt and optional label files, in a folder or zip.

A zip archive is opened without trust: nothing is extracted, sizes and names are checked before a byte is unpacked.
"""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import FormatError, GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import DEFAULT_LIMITS, Limits
from graphglass.graphs.readers.flat import FlatGraphs
from graphglass.graphs.readers.number_table import read_numbers
from graphglass.graphs.readers.options import ReadOptions

_ATOMIC_NUMBERS = {"BZR", "COX2", "DHFR"}  # datasets whose node labels are atomic numbers
_ELEMENTS = {1: "H", 6: "C", 7: "N", 8: "O", 9: "F", 15: "P", 16: "S", 17: "Cl", 35: "Br", 53: "I"}
_LARGEST_README = 1 << 20
PARTS = (
    "A", "graph_indicator", "graph_labels", "node_labels", "node_attributes", "edge_labels", "edge_attributes",
    "graph_attributes",
)  # fmt: skip
_Opener = Callable[[], IO[bytes]]


@dataclass(frozen=True)
class TuFiles:
    """The files of one TU dataset: its name, and how to open each part that exists."""

    name: str
    parts: dict[str, _Opener]
    readme: _Opener | None = None

    def numbers(
        self, part: str, *, columns: int | None = None, dtype: type[np.number[Any]] = np.int64
    ) -> NDArray[Any] | None:
        if part not in self.parts:
            return None
        return read_numbers(self.parts[part], f"{self.name}_{part}.txt", columns=columns, dtype=dtype)


@contextmanager
def tu_files(path: Path, limits: Limits = DEFAULT_LIMITS) -> Iterator[TuFiles]:
    """Find the parts of the TU dataset in a folder or zip. Files other than :data:`PARTS` are left alone."""
    if path.is_dir():
        files = [item for item in sorted(path.rglob("*.txt")) if item.is_file()]
        members = {item.name: (_opener(item), item.stat().st_size) for item in files}
        yield _assemble(path, members, limits)
        return
    with open_archive(path, limits) as archive:
        yield _assemble(
            path,
            {
                PurePosixPath(info.filename).name: (partial(archive.open, info), info.file_size)
                for info in archive.infolist()
                if not info.is_dir() and not info.filename.startswith("__MACOSX/")
            },
            limits,
        )


def read_tu(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> GraphSet:
    """The graphs of a TU folder or zip; ids are ``NAME-1``, ``NAME-2``, ... in the file's own numbering."""
    return read_tu_path(Path(path), ReadOptions(limits=limits))


def read_tu_path(path: Path, options: ReadOptions) -> GraphSet:
    """As :func:`read_tu`, with all options; graphs that were left out are in their log."""
    with tu_files(path, options.limits) as files:
        return _read(files, options)


def _read(files: TuFiles, options: ReadOptions) -> GraphSet:
    name, limits = files.name, options.limits
    indicator = files.numbers("graph_indicator", columns=1)
    edges = files.numbers("A", columns=2, dtype=np.int32)  # by far the largest part, and ids are small
    assert indicator is not None  # _assemble has seen both files
    assert edges is not None
    indicator = np.ascontiguousarray(indicator[:, 0])
    limits.check("max_nodes", len(indicator), f"Nodes of {name}")
    limits.check("max_edges", len(edges), f"Edges of {name}")
    labels = _graph_labels(files)
    if not len(indicator):
        raise FormatError(f"{name}_graph_indicator.txt is empty: the dataset has no nodes.")
    if indicator.min() < 1:
        line = int(np.argmax(indicator < 1)) + 1
        raise FormatError(f"{name}_graph_indicator.txt line {line}: graphs count from 1, found {indicator[line - 1]}.")
    graphs = max(int(indicator.max()), 0 if labels is None else len(labels))
    # Graphs without a node are rejected one by one: more of them than lines is a damaged number, not a dataset.
    limits.check("max_graphs", graphs, f"Graphs of {name}")
    if labels is not None and len(labels) != graphs:
        raise FormatError(
            f"{name}_graph_labels.txt has {len(labels)} lines, "
            f"but {name}_graph_indicator.txt names graphs up to {graphs}."
        )
    if labels is None and graphs > 2 * len(indicator) + 1000:
        raise FormatError(f"{name}_graph_indicator.txt has {len(indicator)} lines, but names graphs up to {graphs}.")
    node_labels = _rows_of(files, "node_labels", len(indicator), "nodes")
    attributes = _rows_of(files, "node_attributes", len(indicator), "nodes", np.float64)
    edge_labels = _rows_of(files, "edge_labels", len(edges), "edges")
    edge_attributes = _rows_of(files, "edge_attributes", len(edges), "edges", np.float64)
    facts = _rows_of(files, "graph_attributes", graphs, "graphs", np.float64) if options.keep is not None else None
    facts = np.zeros((graphs, 0)) if facts is None else facts
    options.log.columns.update(dict.fromkeys(f"graph_attribute_{i}" for i in range(facts.shape[1])))
    nodes = len(indicator)
    if edges.size and (edges.min() < 1 or edges.max() > nodes):
        line = int(np.argmax(((edges < 1) | (edges > nodes)).any(axis=1)))
        raise GraphError(
            f"{name}_A.txt line {line + 1} joins nodes {edges[line, 0]} and {edges[line, 1]}, "
            f"but {name}_graph_indicator.txt has nodes 1..{nodes}."
        )
    edges -= 1
    graph_of = (indicator - 1).astype(np.int32)
    if (np.diff(graph_of) < 0).any():  # the format asks for no order; rows of a graph must become neighbours
        order = np.argsort(graph_of, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        edges, graph_of = place[edges], graph_of[order]
        node_labels = None if node_labels is None else node_labels[order]
        attributes = None if attributes is None else attributes[order]
    counts = np.bincount(graph_of, minlength=graphs)
    ends = graph_of[edges[:, 0]]
    inside = ends == graph_of[edges[:, 1]]
    flat = FlatGraphs(
        ids=[f"{name}-{i + 1}" for i in range(graphs)],
        positions=np.arange(1, graphs + 1),
        counts=counts,
        edge_graph=ends,
        sources=edges[:, 0],
        targets=edges[:, 1],
        inside=True,
        labels=labels,
        columns={column: facts[:, i].tolist() for i, column in enumerate(options.log.columns) if options.keeps(column)},
        node_labels=None if node_labels is None else node_labels[:, 0],
        attributes=attributes,
        attribute_names=_numbered("attribute", attributes),
        edge_labels=None if edge_labels is None else edge_labels[:, 0],
        edge_attributes=edge_attributes,
        edge_attribute_names=_numbered("value", edge_attributes),
        directed=bool(options.directed),
        code_names=_code_names(files),
    )
    for graph in np.flatnonzero(counts == 0).tolist():
        flat.fault(graph, f"no node of {name}_graph_indicator.txt belongs to it, the graph is empty")
    for edge in np.flatnonzero(~inside).tolist():
        pair = int(ends[edge]), int(graph_of[edges[edge, 1]])
        joined = f"joins {flat.ids[pair[0]]} to {flat.ids[pair[1]]}"
        for graph in pair:
            flat.fault(graph, f"{name}_A.txt line {edge + 1} {joined}; edges must stay inside a graph", edge + 1)
    return flat.build(options)


def _code_names(files: TuFiles) -> dict[str, dict[int, str]]:
    """What label numbers stand for: the tables of the readme, such as ``0  C`` or ``C 0`` under "Node labels"."""
    if files.name in _ATOMIC_NUMBERS:
        return {"node": _ELEMENTS}
    if files.readme is None:
        return {}
    with files.readme() as stream:
        text = stream.read(_LARGEST_README).decode("utf-8", "replace")
    names: dict[str, dict[int, str]] = {}
    owner = ""
    for line in map(str.strip, text.splitlines()):
        if heading := re.match(r"(node|edge|class|graph) (label|attribute)|component [1-9]|===", line.lower()):
            owner = heading[1] if heading[2] == "label" and heading[1] in ("node", "edge") else ""
        elif owner and (row := re.fullmatch(r"(?P<code>\d+)\s+(?P<name>\S+)|(?P<word>\D\S*)\s+(?P<number>\d+)", line)):
            names.setdefault(owner, {})[int(row["code"] or row["number"])] = row["name"] or row["word"]
    return names


def _numbered(name: str, table: NDArray[Any] | None) -> tuple[str, ...]:
    return () if table is None else tuple(f"{name}_{i}" for i in range(table.shape[1]))


def _graph_labels(files: TuFiles) -> NDArray[Any] | None:
    """Raw class labels; a regression target stays a float."""
    try:
        values = files.numbers("graph_labels", columns=1)
    except FormatError:
        values = files.numbers("graph_labels", dtype=np.float64)
    if values is None:
        return None
    return values[:, 0] if values.shape[1] == 1 else values


def _rows_of(
    files: TuFiles, part: str, rows: int, what: str, dtype: type[np.number[Any]] = np.int64
) -> NDArray[Any] | None:
    values = files.numbers(part, dtype=dtype)
    if values is not None and len(values) != rows:
        raise FormatError(
            f"{files.name}_{part}.txt has {len(values)} lines, but the dataset has {rows} {what}. "
            "The files must have one line each; fetch the dataset again."
        )
    return values


def _assemble(path: Path, members: dict[str, tuple[_Opener, int]], limits: Limits) -> TuFiles:
    """The parts among files, each given by how to open it and its size."""
    suffix = "_graph_indicator.txt"
    names = sorted(member[: -len(suffix)] for member in members if member.endswith(suffix))
    if len(names) != 1:
        found = f"several datasets ({', '.join(names)})" if names else "none"
        raise FormatError(
            f"A TU dataset has one NAME_graph_indicator.txt and one NAME_A.txt; in {path.name} there is {found}. "
            f"Files seen: {', '.join(sorted(members)[:8]) or 'no text files'}."
        )
    name = names[0]
    parts = {part: members[f"{name}_{part}.txt"] for part in PARTS if f"{name}_{part}.txt" in members}
    if "A" not in parts:
        raise FormatError(f"{path.name} has {name}{suffix} but no {name}_A.txt, the list of edges.")
    for part, (_, size) in parts.items():
        limits.check("max_file_bytes", size, f"Bytes of {name}_{part}.txt")
    readme = next((members[one][0] for one in (f"{name}_label_readme.txt", "README.txt") if one in members), None)
    return TuFiles(name, {part: opener for part, (opener, _) in parts.items()}, readme)


def _opener(path: Path) -> _Opener:
    return lambda: path.open("rb")


@contextmanager
def open_archive(path: Path, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """The archive, after its table of contents was checked: sizes, encryption, and names that leave the archive."""
    if not path.stat().st_size:
        raise FormatError(f"{path.name} is empty (0 bytes). Fetch or copy it again.")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(path, archive.infolist(), limits)
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise FormatError(
            f"{path.name} is not a readable zip archive ({error}). It may be truncated: fetch or copy it again."
        ) from error


def _check_members(path: Path, members: list[zipfile.ZipInfo], limits: Limits) -> None:
    limits.check("max_zip_entries", len(members), f"Members of {path.name}")
    declared = sum(member.file_size for member in members)
    limits.check("max_zip_bytes", declared, f"Unpacked bytes of {path.name}")
    limits.check_ratio(declared, path.stat().st_size, path.name)
    for member in members:
        name = member.filename
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if name.startswith(("/", "\\")) or ".." in parts or ":" in name:
            raise FormatError(f"{path.name} holds a member whose path leaves the archive: {name!r}. It is refused.")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise FormatError(f"{path.name} holds a symbolic link: {name!r}. It is refused.")
        if not 0 <= member.header_offset < path.stat().st_size:
            raise FormatError(f"{path.name} is not a readable zip archive: {name!r} lies outside of the file.")
        if member.flag_bits & 0x1:
            raise FormatError(f"{path.name} is encrypted ({name!r}). Unpack it yourself and read the folder.")
