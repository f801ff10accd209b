"""The paper's own figures, read from ``paper_figures.toml``: AUROC in percent, mean and standard deviation."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

Figure = tuple[float, float]
Figures = dict[str, Figure]  # one row, by column


def _read(text: str, keys: int = 1) -> dict[tuple[str, ...], Figures]:
    """Rows of a text table: the first `keys` columns name a row, the others are ``mean±std`` or ``mean``."""
    head, *rows = [line.split() for line in text.strip().splitlines()]
    parsed: dict[tuple[str, ...], Figures] = {}
    for row in rows:
        values = [(*entry.split("±"), "nan")[:2] for entry in row[keys:]]
        figures = {name: (float(mean), float(std)) for name, (mean, std) in zip(head[keys:], values, strict=True)}
        parsed[tuple(row[:keys])] = figures
    return parsed


_TABLES: dict[str, Any] = tomllib.loads(files("glassbench").joinpath("paper_figures.toml").read_text("utf-8"))

MAIN_RESULTS = _read(_TABLES["MAIN_RESULTS"])
TEXT_ENCODERS = _read(_TABLES["TEXT_ENCODERS"])
TRANSFER = _read(_TABLES["TRANSFER"], keys=2)
FEW_SHOT = _read(_TABLES["FEW_SHOT"])
SCORING = _read(_TABLES["SCORING"])
LORA = _read(_TABLES["LORA"])
DISJOINT = _read(_TABLES["DISJOINT"], keys=2)
DISJOINT_MACRO: dict[str, float] = _TABLES["DISJOINT_MACRO"]
MODALITIES = _read(_TABLES["MODALITIES"])
RESOLUTION: dict[str, dict[str, float]] = _TABLES["RESOLUTION"]
EXTRA = _read(_TABLES["EXTRA"])
