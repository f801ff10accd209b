"""Molecules: a ``.smi`` file (SMILES, blank, name), the SMILES column of a table, or RDKit objects."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from graphglass.errors import FormatError, SchemaError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.molecules import MoleculeRow, parse_smiles, read_molecules, sanitised
from graphglass.graphs.readers.edge_table import column_place, refuse_repeated
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.text_source import header_line, text_lines
from graphglass.messages import counted, listing, setting

_ID_COLUMNS = (  # in lower case and without what is neither letter nor digit
    "id", "name", "molid", "moleculeid", "compoundid", "identifier", "moleculechemblid", "moleculename", "compoundname",
    "molname", "title", "compound", "cid", "chemblid",
)  # fmt: skip


def read_smi(path: Path, options: ReadOptions) -> GraphSet:
    """One molecule per line, with its name after the first blank; empty lines and lines starting with # are skipped."""
    rows = []
    for line, text in text_lines(path, options.limits):
        if text.strip() and not text.startswith("#"):
            smiles, _, name = text.strip().replace("\t", " ").partition(" ")
            columns = options.kept({"smiles": smiles, "name": name.strip() or None})
            rows.append(MoleculeRow(line, smiles, name.strip() or None, columns=columns))
    if rows and rows[0].source.lower() == "smiles":
        rows = rows[1:]
    return read_molecules(rows, partial(parse_smiles, limits=options.limits), options)


def read_smiles_strings(strings: Iterable[tuple[int, str]], options: ReadOptions) -> GraphSet:
    """SMILES strings in memory; position counts from 0."""
    rows = [MoleculeRow(place, text, columns=options.kept({"smiles": text})) for place, text in strings]
    if options.log.single:
        rows = [replace(row, name=row.source) for row in rows]
    return read_molecules(rows, partial(parse_smiles, limits=options.limits), options)


def read_smiles_csv(path: Path, options: ReadOptions) -> GraphSet:
    """A CSV or TSV file with a header line and a SMILES column."""
    lines = list(_ended_lines(path, options))
    reader = csv.reader(lines, delimiter=delimiter(path, options))
    try:
        header = [cell.strip() for cell in next((row for row in reader if any(map(str.strip, row))), [])]
        rows = list(_numbered(reader))
        if rows and sum(line.count('"') for line in lines) % 2:
            refuse_open_quote(*rows[-1], path.name)
        return read_smiles_cells(header, rows, path.name, options)
    except csv.Error as error:
        raise FormatError(f"{path.name} line {reader.line_num} is not a row of a table: {error}.") from error


def _ended_lines(path: Path, options: ReadOptions) -> Iterator[str]:
    """Lines with their ends, since a cell in quotes may hold some; a bare carriage return ends a line too."""
    for _, text in text_lines(path, options.limits):
        yield from StringIO(f"{text}\n", newline="")


def _numbered(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows that follow, each with its first line: a cell in quotes may hold several."""
    line = reader.line_num + 1
    for row in reader:
        if row:
            yield line, row
        line = reader.line_num + 1


def read_smiles_cells(
    header: Sequence[str],
    numbered: Iterable[tuple[int, Sequence[object]]],
    what: str,
    options: ReadOptions,
    index: Sequence[str] | None = None,
) -> GraphSet:
    """Molecules of a table.

    Ids come from `id_column`, else from the `index` of a DataFrame, else from a column called id or name, else from
    the line.
    """
    column = smiles_column(header, options.smiles_column)
    if column is None:
        wanted = f"column {options.smiles_column!r}" if options.smiles_column else "SMILES column"
        raise SchemaError(
            f"{what} has no {wanted}. "
            f"Columns found: {listing(header)}. Name it with {setting('smiles_column', 'NAME')}."
        )
    refuse_repeated([name for name in header if name], what)  # trailing separators make unnamed columns
    name_at = _place(header, options.id_column, what)
    if options.id_column is None and index is None:
        name_at = id_place(header)
    label_at = _place(header, options.label_column, what)
    if options.label_column is None:
        label_at = column_place(header, "label")
    rows = []
    for row, (line, cells) in enumerate(numbered):
        if len(cells) != len(header):
            rows.append(MoleculeRow(line, "", fault=wrong_width(cells, len(header))))
            continue
        cell = cells[name_at] if name_at is not None else None if index is None else index[row]
        name = None if cell is None or cell != cell else str(cell).strip() or None  # NaN differs from itself
        label = None if label_at is None else cells[label_at]
        label = label.strip() or None if isinstance(label, str) else label
        columns = options.kept(dict(zip(header, cells, strict=True)))
        rows.append(MoleculeRow(line, str(cells[column] or "").strip(), name, label, columns))
    return read_molecules(rows, partial(parse_smiles, limits=options.limits), options)


def read_mols(molecules: Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """RDKit molecules, called by their title (``_Name``) where all differ; their properties can be kept."""
    rows = []
    for place, molecule in molecules:
        title = molecule.GetProp("_Name").strip() or None if molecule.HasProp("_Name") else None
        facts = {"name": title, **molecule.GetPropsAsDict()}
        name = str(facts[options.id_column]) if options.id_column in facts else title
        label = facts.get(options.label_column or "label")
        rows.append(MoleculeRow(place, molecule, name, label, options.kept(facts)))

    def parse(chemistry: Any, molecule: Any) -> Any:
        return sanitised(chemistry, chemistry.Mol(molecule), options.limits)

    return read_molecules(rows, parse, options)


def smiles_column(header: Sequence[str], wanted: str | None) -> int | None:
    """Which column holds SMILES: the wanted one, else the one called smiles, else the only one ending in smiles."""
    found = column_place(header, "smiles" if wanted is None else wanted)
    if found is not None or wanted is not None:
        return found
    ending = [place for place, cell in enumerate(header) if cell.lower().endswith("smiles")]
    return ending[0] if len(ending) == 1 else None


def refuse_open_quote(line: int, last: Sequence[object], what: str) -> None:
    """The last row of a file is all that follows a quote that is not closed: its last cell has the last line end."""
    if last and str(last[-1]).endswith("\n"):
        raise FormatError(
            f"{what} line {line}: a quote is not closed, and the rest of the file is inside it. Close or remove it."
        )


def wrong_width(cells: Sequence[object], width: int) -> str:
    """What is wrong with a row that has too few or too many cells."""
    several = any("\n" in str(cell) for cell in cells)
    hint = "; the row covers several lines, so a quote may not be closed" if several else ""
    return f"{counted(len(cells), 'column')}, the header has {width}{hint}"


def id_place(header: Sequence[str]) -> int | None:
    """The column that names the rows, such as ``Compound Name`` or ``compound_name``; None if there is none."""
    plain = [re.sub("[^a-z0-9]", "", name.lower()) for name in header]
    found = [place for place, name in enumerate(plain) if name in _ID_COLUMNS]
    return min(found, key=lambda place: (_ID_COLUMNS.index(plain[place]), plain[place] != header[place]), default=None)


def delimiter(path: Path, options: ReadOptions) -> str:
    """What separates the cells: as the suffix says, unless the header line has only another separator."""
    usual = "\t" if ".tsv" in path.suffixes or ".tab" in path.suffixes else ","
    header = re.sub('"[^"]*"', "", header_line(path, options.limits))  # names in quotes may hold any
    return next((mark for mark in (usual, ",", ";", "\t", "|") if mark in header), usual)


def _place(header: Sequence[str], wanted: str | None, what: str) -> int | None:
    """The place of a column that the caller names, if any; one that is missing is refused."""
    place = None if wanted is None else column_place(header, wanted)
    if wanted is not None and place is None:
        raise SchemaError(f"{what} has no column {wanted!r}. Columns found: {listing(header)}.")
    return place
