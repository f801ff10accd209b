"""SDF: molecules as atom and bond tables with named values, separated by ``$$$$``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice, takewhile
from pathlib import Path

from graphglass.errors import LimitError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.molecules import MoleculeRow, parse_mol_block, read_molecules
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.text_source import text_lines


def read_sdf(path: Path, options: ReadOptions) -> GraphSet:
    """Molecules are called by their title line, or by the value `id_column` names; `label_column` names the class.

    Titles serve as ids only if all are there and different; otherwise molecules are called by the line they start at.
    """
    rows = []
    for line, block in _blocks(path, options):
        values = _values(block)
        name = values.get(options.id_column, "") if options.id_column else block[0].strip()
        label = values.get(options.label_column or "") or None
        rows.append(MoleculeRow(line, "\n".join(block), name, label, options.kept(values)))
    return read_molecules(rows, partial(parse_mol_block, limits=options.limits), options)


def _blocks(path: Path, options: ReadOptions) -> Iterator[tuple[int, list[str]]]:
    """The line each record starts at, and its lines."""
    block: list[str] = []
    start, size = 1, 0
    for line, text in text_lines(path, options.limits):
        if text.startswith("$$$$"):
            yield start, block or [""]
            block, start, size = [], line + 1, 0
            continue
        size += len(text)
        if size > options.limits.max_record_bytes:
            bound = f"{options.limits.max_record_bytes:,} bytes (max_record_bytes)"
            raise LimitError(f"{path.name}: the molecule at line {start} is longer than {bound}.")
        block.append(text)
    if any(text.strip() for text in block):
        yield start, block


def _values(block: list[str]) -> dict[str, str]:
    """The named values of a record, and its title line as ``name`` where no value is called so."""
    values = {"name": block[0].strip()}
    for place, text in enumerate(block):
        if text.startswith(">") and (found := re.search(r"<([^>]+)>", text)):
            lines = takewhile(lambda line: line.strip() and not line.startswith(">"), islice(block, place + 1, None))
            values[found[1]] = "\n".join(lines).strip()
    return values
