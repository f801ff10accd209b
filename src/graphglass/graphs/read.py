"""read_graphs: one way in for every format."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import numpy as np

from graphglass.errors import FormatError, GlassError, GraphError, ParameterError, SchemaError
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.formats import FORMATS, detect_object, detect_path, is_smiles, text_suffix
from graphglass.graphs.graph_set import COUNT, GraphSet
from graphglass.graphs.limits import Limits
from graphglass.graphs.parallel_edges import merge_rule
from graphglass.graphs.readers.options import ReadOptions, ReadSettings
from graphglass.graphs.readers.rejects import ReadResult, RejectLog, logger
from graphglass.graphs.reading import ReadingOptions
from graphglass.messages import listing, setting


def read_graphs(
    source: object,
    *,
    format: str | None = None,  # noqa: A002 - the word users look for
    strict: bool = False,
    **settings: Unpack[ReadSettings],
) -> GraphSet:
    """Read graphs from a path or from objects in memory.

    A record that cannot be used is skipped, the others are read, and a summary is logged with line and reason; the ids
    stay with their rows. :func:`read_report` takes the same arguments and returns the rejects too.

    Parameters
    ----------
    source : path, GraphSet, or objects
        ``-`` for standard input, or the SMILES of one molecule;
        A TU folder or zip, SMILES (``.smi``, or a table with a SMILES column), SDF, JSON Lines, Parquet or CSV edge
        tables, GraphML, GEXF, GML; a pandas or Polars DataFrame of edges or molecules; or one or many NetworkX, PyG or
        igraph graphs, RDKit molecules, adjacency matrices, SMILES or JSON records. A GraphSet is returned as it is, a
        list of them is joined.
    format : str, optional
        One of :data:`graphglass.graphs.formats.FORMATS`, where the name or the object does not show it.
    strict : bool, default False
        Stop at the first record that cannot be used.
    limits : Limits
        How large an input may be.
    fill : float, optional
        The value of missing attributes; without it a graph that lacks some is left out.
    nodes : path or DataFrame, optional
        The node table of an edge table.
    smiles_column, id_column : str, optional
        Columns of a molecule table (or values of an SDF record) with the structure and the id.
    label_column : str, optional
        The column with the class of a graph, of those that `keep` may name; ``label`` by default.
    graph_column, source_column, target_column : str
        Columns of an edge table; ``graph_id``, ``source`` and ``target`` by default.
    node_label, edge_label : str, default "label"
        Properties of nodes and edges that hold the label: of NetworkX and igraph graphs, GraphML, GEXF, GML and edge
        tables.
    attributes, edge_attributes : sequence of str, optional
        Numeric properties of nodes and edges to keep, in those formats; all by default.
    ignore : str or sequence of str, optional
        Numeric columns or properties to leave out of the comparison, in upper or lower case; `keep` may still name
        them.
    use : str or sequence of str, optional
        Columns to compare although they look like time stamps, dates, running numbers or identifiers, which are left
        out of tables and properties by default; ``"all"`` leaves none out.
    standardise : {"none", "largest-fragment", "neutral"}
        What happens to salts and mixtures: read whole, only the largest fragment, or that without its charges.
    stereo : bool, default False
        Whether stereochemistry enters the comparison of molecules.
    reading : ReadingOptions, optional
        How the references were read (``GraphSet.reading``): queries are read in the same way, and a setting that
        contradicts it is refused.
    directed : bool, optional
        Whether edges have a direction. By default as the input states; TU files and edge tables state nothing and are
        read as undirected.
    merge : mapping, optional
        How parallel edges combine an attribute: ``sum``, ``mean``, ``min`` or ``max`` by name of the attribute. By
        default amounts, weights and counts are summed, others averaged.
    keep : sequence of str or "all", optional
        Columns of the input to carry along as ``GraphSet.columns``, in any spelling of case; none by default. Columns
        of a molecule table (of a ``.smi`` file ``smiles`` and ``name``), values and ``name`` of an SDF record, fields
        of a JSON record, properties of a GraphML, NetworkX or igraph graph, further columns of a graph table, columns
        of an edge or node table that are the same in all rows of a graph.

    Raises
    ------
    FormatError
        If the format is unknown, or the file is not what it claims.
    GraphError
        If nothing could be used, or `strict` and one record could not.
    LimitError
        If the input as a whole is past the limits.

    Examples
    --------
    >>> from graphglass import read_graphs
    >>> graphs = read_graphs([{"id": "a", "nodes": 3, "edges": [[0, 1], [1, 2]], "source": "plant 2"}], keep="all")
    >>> graphs.ids, graphs.columns["source"].tolist()
    (('a',), ['plant 2'])
    """
    result = read_report(source, format=format, strict=strict, **settings)
    if not len(result.graphs) and not isinstance(source, GraphSet):
        reasons = "; ".join(f"{result.unit} {reject.position}: {reject.reason}" for reject in result.rejects[:3])
        found = reasons or "; ".join(result.notes) or "it holds none"
        raise GraphError(f"No graph could be read from {_shown(source)}: {found}.")
    for remark in (*result.notes, *([result.summary()] if result.rejects else [])):
        logger.warning("%s: %s", _shown(source), remark)
    return result.graphs


def read_report(
    source: object,
    *,
    format: str | None = None,  # noqa: A002
    strict: bool = False,
    **settings: Unpack[ReadSettings],
) -> ReadResult:
    """As :func:`read_graphs`, returning the graphs together with the records that were left out; nothing is logged.

    Examples
    --------
    >>> from graphglass import read_report
    >>> records = [{"id": "good", "nodes": 2, "edges": [[0, 1]]}, {"id": "bad", "nodes": 2, "edges": [[0, 9]]}]
    >>> result = read_report(records)
    >>> result.graphs.ids, [reject.id for reject in result.rejects]
    (('good',), ['bad'])
    """
    if format is not None and format not in FORMATS:
        raise ParameterError("read_graphs", "format", f"one of {', '.join(FORMATS)}", format)
    if unknown := settings.keys() - ReadSettings.__annotations__:
        raise TypeError(f"read_graphs() has no argument {min(unknown)!r}.")
    reading = settings.get("reading")
    given: Any = settings if reading is None else reading.completed(settings)
    fill = given.get("fill")
    if fill is not None and not np.isfinite(fill):
        raise ParameterError("read_graphs", "fill", "a finite number", fill)
    if isinstance(source, GraphSet):
        return ReadResult(source)
    if isinstance(source, list | tuple) and source and all(isinstance(item, GraphSet) for item in source):
        return ReadResult(concatenate(source))
    log = RejectLog(strict, settled=reading is not None)
    options = ReadOptions(**given, log=log)
    for name in options.merge or {}:
        merge_rule(name, options.merge or {})
    if isinstance(source, str | PathLike) and str(source) == "-":
        with _standard_input(options.limits) as path:
            return read_report(path, format=format, strict=strict, **settings)
    name, content = _located(source, format, options)
    graphs = _read(name, content, options)
    _refuse_unknown_names(graphs, source, options)
    result = log.result(graphs, FORMATS[name].unit if isinstance(content, Path) else "item")
    chosen = {item.name: getattr(options, item.name) for item in fields(ReadingOptions)}
    ignored = tuple(sorted(log.ignored)) if reading is None else reading.ignore
    chosen |= {"ignore": ignored, "use": (), "directed": graphs.directed, "typed": log.typed}
    return replace(result, graphs=replace(graphs, rejected=result.rejects, reading=ReadingOptions(**chosen)))


def _located(source: object, wanted: str | None, options: ReadOptions) -> tuple[str, Path | Iterable[tuple[int, Any]]]:
    """The format of a source, and its path, or its objects with their places; a SMILES string is such an object."""
    if not isinstance(source, str | PathLike):
        return detect_object(source, wanted, options)
    if not os.path.exists(source):
        if not is_smiles(str(source)):
            molecule = "" if Path(source).suffix else " It is not the SMILES of a molecule either."
            raise FormatError(f"{source} does not exist.{_dataset_hint(str(source)) or molecule}")
        options.log.single = True
        return "smi", [(0, str(source))]
    path = Path(source)
    if path.is_file() and not path.stat().st_size:
        options.log.notes.append("the file is empty")
    return wanted or detect_path(path), path


def _read(name: str, content: Path | Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """What the reader of a format makes of a file or of objects."""
    kind = FORMATS[name]
    function = kind.path_reader if isinstance(content, Path) else kind.object_reader
    if function is None and isinstance(content, Path):
        raise FormatError(f"Format {name!r} reads objects in memory, not files such as {content.name}.")
    if function is None:
        raise FormatError(f"Format {name!r} reads files, not objects in memory.")
    module, _, attribute = function.rpartition(".")
    read = getattr(import_module(f"graphglass.graphs.readers.{module}"), attribute)
    try:
        graphs: GraphSet = read(content, options)
    except (GlassError, ImportError, MemoryError):
        raise
    except Exception as error:
        # Parsers fail on damaged bytes in ways that no list covers. A file of the system's (missing, forbidden, on a
        # broken disk) and objects in memory keep their own exception.
        if not isinstance(content, Path) or (isinstance(error, OSError) and error.errno is not None):
            raise
        raise FormatError(
            f"{content.name} is damaged or not a {kind.title} ({type(error).__name__}: {error}). "
            "Check it, or copy or export it again."
        ) from error
    return graphs


def _refuse_unknown_names(graphs: GraphSet, source: object, options: ReadOptions) -> None:
    """Refuse columns and properties that the caller names and that the input does not have."""
    log = options.log
    missing = options.kept_names - {name.lower() for name in graphs.columns}
    if missing and len(graphs):
        raise SchemaError(
            f"{_shown(source)} has no column {min(missing)!r} to keep. Columns found: {listing([*log.columns])}."
        )
    unknown = {name.lower() for name in options.ignore} - {name.lower() for name in log.ignored}
    if unknown and len(graphs) and options.reading is None:
        raise SchemaError(
            f"{_shown(source)} has no column {min(unknown)!r} to ignore. "
            f"Columns that can be: {listing([*log.ignorable])}."
        )
    for owner, name, codes, present in (
        ("node", options.node_label, graphs.node_labels, len(graphs)),
        ("edge", options.edge_label, graphs.edge_labels, graphs.edge_count),
    ):
        if name != ReadingOptions.node_label and codes is None and present:
            table = f" A table of nodes is named with {setting('nodes', 'FILE')}." if owner == "node" else ""
            raise SchemaError(f"No {owner} of {_shown(source)} has a {name!r}, which is to be its label.{table}")
    without = [name for name in options.merge or {} if name not in (*graphs.edge_attribute_names, COUNT)]
    if without and graphs.edge_count:
        raise SchemaError(
            f"{_shown(source)} has no edge attribute {without[0]!r} to merge. "
            f"Edge attributes found: {listing(graphs.edge_attribute_names)}."
        )


@contextmanager
def _standard_input(limits: Limits) -> Iterator[Path]:
    """What standard input holds as a file; its first line decides the format."""
    first = sys.stdin.buffer.readline(limits.max_record_bytes)
    with TemporaryDirectory(prefix="graphglass-") as folder:
        path = Path(folder) / f"stdin{text_suffix(first.decode(errors='replace'))}"
        with path.open("wb") as file:
            file.write(first)
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        yield path


def _dataset_hint(name: str) -> str:
    """Where a benchmark dataset is, if it was named in place of a file."""
    from graphglass.graphs.datasets import TWELVE

    if name.upper() not in TWELVE:
        return ""
    known = name.upper()
    return (
        f" It is the name of a benchmark dataset: `glassbench data get {known} --data-root FOLDER` makes "
        f"FOLDER/{known}.zip, which can be read; in Python there is load_dataset({known!r})."
    )


def _shown(source: object) -> str:
    return str(source) if isinstance(source, str | PathLike) else f"{type(source).__name__} in memory"
