"""Scores of graphs that arrive line by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from graphglass.errors import GraphError
from graphglass.graphs.limits import DEFAULT_LIMITS
from graphglass.serve.drift import DriftMartingale
from graphglass.serve.line_sources import Line
from graphglass.serve.request_graphs import read_items
from graphglass.serve.service import Service


class StreamScorer:
    """Turns lines into rows of results, counts, and watches the scores for drift.

    Parameters
    ----------
    service : Service
    alpha : float
        Flag graphs whose p-value is at most this.
    drift : DriftMartingale
    complain : callable
        Called with a message about every bad line and about drift.

    Attributes
    ----------
    scored, flagged, bad : int
    """

    def __init__(
        self, service: Service, *, alpha: float, drift: DriftMartingale, complain: Callable[[str], None]
    ) -> None:
        self.service, self.alpha, self.drift, self.complain = service, alpha, drift, complain
        self.scored = self.flagged = self.bad = 0

    def rows(self, lines: Sequence[Line]) -> list[dict[str, Any]]:
        """One row per readable line, in order: id, score, p_value and flagged (None where a summary is served)."""
        items: list[Mapping[str, Any]] = []
        origin: list[Line] = []
        troubles: dict[int, str] = {}
        for place, line in enumerate(lines):
            if line.content.strip():
                try:
                    items.append(_record(line))
                    origin.append(line)
                except GraphError as error:
                    troubles[place] = str(error)
        sets, rejected = read_items(items, DEFAULT_LIMITS, self.service.accept)
        troubles |= {lines.index(origin[place]): reason for place, reason in rejected.items()}
        for place, reason in sorted(troubles.items()):
            self.bad += 1
            self.complain(f"{lines[place].source} line {lines[place].number}: {reason}")
        if not sets:
            return []
        scores = self.service.score_sets(sets).tolist()
        by_place = dict(sorted(zip((int(name) for graphs in sets for name in graphs.ids), scores, strict=True)))
        return [self._row(_name(items[place], origin[place]), score) for place, score in by_place.items()]

    def _row(self, name: str, score: float) -> dict[str, Any]:
        p_values = self.service.p_values(np.array([score]))
        p_value = None if p_values is None else float(p_values[0])
        flagged = None if p_value is None else p_value <= self.alpha
        self.scored += 1
        self.flagged += bool(flagged)
        seen = self.drift.seen + 1
        if self.drift.update(score):
            self.complain(
                f"drift at {name!r}: after {seen} graphs the scores have changed (martingale above "
                f"{self.drift.threshold:g}; by chance at most once in {self.drift.threshold:g} streams)"
            )
        return {"id": name, "score": score, "p_value": p_value, "flagged": flagged}


def _record(line: Line) -> Mapping[str, Any]:
    try:
        record = json.loads(line.content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise GraphError(f"not a JSON record ({error}).") from error
    if not isinstance(record, dict):
        raise GraphError(f"expected a JSON object, found {type(record).__name__}.")
    if "smiles" in record and not isinstance(record["smiles"], str):
        raise GraphError(f"'smiles' must be text, found {type(record['smiles']).__name__}.")
    return record


def _name(record: Mapping[str, Any], line: Line) -> str:
    given = record.get("id")
    named = isinstance(given, str | int) and not isinstance(given, bool)
    return str(given) if named else f"{line.source}:{line.number}"


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")
