"""SMILES: a ``.smi`` file (SMILES, blank, name), or a CSV or TSV file with a SMILES column."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphglass.errors import FormatError, GraphError, SchemaError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.label_codes import typed_texts
from graphglass.graphs.molecule import molecule_record, names_serve_as_ids, parse_smiles, rdkit_chemistry
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.record import RecordSet
from graphglass.graphs.readers.text_source import text_lines
from graphglass.wording import listing, setting

_ID_COLUMNS = ("id", "name", "mol_id", "molecule_id", "compound_id", "identifier")


@dataclass(frozen=True)
class _Row:
    line: int
    smiles: str
    name: str | None = None
    label: str | None = None
    fault: str | None = None
    columns: dict[str, Any] = field(default_factory=dict)


def read_smi(path: Path, options: ReadOptions) -> GraphSet:
    """One molecule per line, with its name after the first blank; empty lines and lines starting with # are skipped."""
    rows = []
    for line, text in text_lines(path, options.limits):
        if text.strip() and not text.startswith("#"):
            smiles, _, name = text.strip().replace("\t", " ").partition(" ")
            columns = options.kept({"smiles": smiles, "name": name.strip() or None})
            rows.append(_Row(line, smiles, name.strip() or None, columns=columns))
    if rows and rows[0].smiles.lower() == "smiles":
        rows = rows[1:]
    return _molecules(rows, _named(rows, options), options)


def read_smiles_strings(strings: Iterable[tuple[int, str]], options: ReadOptions) -> GraphSet:
    """SMILES strings in memory; position counts from 0."""
    rows = [_Row(place, text, columns=options.kept({"smiles": text})) for place, text in strings]
    return _molecules(rows, False, options)


def read_smiles_table(path: Path, options: ReadOptions) -> GraphSet:
    """A table with a header line; see :func:`smiles_column` for how the column is found.

    The id column is the one named by `id_column`, or a column called id or name whose values are all different;
    otherwise molecules are called by their line. The class label comes from `label_column`, or from a column called
    label.
    """
    reader = csv.reader((text for _, text in text_lines(path, options.limits)), delimiter=delimiter(path))
    try:
        header = [cell.strip() for cell in next(reader, [])]
        column = smiles_column(header, options.smiles_column)
        if column is None:
            wanted = f"column {options.smiles_column!r}" if options.smiles_column else "SMILES column"
            raise SchemaError(
                f"{path.name} has no {wanted}. "
                f"Columns found: {listing(header)}. Name it with {setting('smiles_column', 'NAME')}."
            )
        name_at = _place(header, options.id_column, _ID_COLUMNS, path)
        label_at = _place(header, options.label_column, ("label",), path)
        rows = []
        for cells in reader:
            if not cells:
                continue
            line = reader.line_num
            if len(cells) != len(header):
                fault = f"{len(cells)} columns, the header has {len(header)}"
                rows.append(_Row(line, "", fault=fault))
                continue
            name = cells[name_at].strip() or None if name_at is not None else None
            label = cells[label_at].strip() or None if label_at is not None else None
            columns = options.kept(dict(zip(header, cells, strict=True)))
            rows.append(_Row(line, cells[column].strip(), name, label, columns=columns))
    except csv.Error as error:
        raise FormatError(f"{path.name} line {reader.line_num} is not a row of a table: {error}.") from error
    return _molecules(rows, options.id_column is not None or _named(rows, options), options)


def smiles_column(header: Sequence[str], wanted: str | None) -> int | None:
    """Which column holds SMILES: the wanted one, else the one called smiles, else the only one ending in smiles."""
    lowered = [cell.lower() for cell in header]
    if wanted is not None:
        return lowered.index(wanted.lower()) if wanted.lower() in lowered else None
    if "smiles" in lowered:
        return lowered.index("smiles")
    ending = [place for place, cell in enumerate(lowered) if cell.endswith("smiles")]
    return ending[0] if len(ending) == 1 else None


def delimiter(path: Path) -> str:
    return "\t" if ".tsv" in path.suffixes or ".tab" in path.suffixes else ","


def _place(header: list[str], wanted: str | None, usual: Sequence[str], path: Path) -> int | None:
    lowered = [cell.lower() for cell in header]
    if wanted is not None:
        if wanted.lower() not in lowered:
            raise SchemaError(f"{path.name} has no column {wanted!r}. Columns found: {listing(header)}.")
        return lowered.index(wanted.lower())
    return next((lowered.index(name) for name in usual if name in lowered), None)


def _named(rows: list[_Row], options: ReadOptions) -> bool:
    return names_serve_as_ids([(row.line, row.name) for row in rows if row.fault is None], options.log)


def _molecules(rows: list[_Row], named: bool, options: ReadOptions) -> GraphSet:
    records = RecordSet(options)
    labels = typed_texts([row.label for row in rows])
    with rdkit_chemistry() as chemistry:
        for row, label in zip(rows, labels, strict=True):
            name = row.name if named and row.name else f"line-{row.line}"
            try:
                if row.fault is not None:
                    raise GraphError(row.fault)
                molecule = parse_smiles(chemistry, row.smiles)
                records.add(molecule_record(molecule, row.line, name, label, row.columns))
            except GraphError as error:
                options.log.add(row.line, name, str(error))
    return records.build()
