"""Scores of graphs that arrive line by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GlassError, GraphError, SchemaError
from graphglass.graphs.graph_set import GraphSet, concatenate
from graphglass.graphs.limits import DEFAULT_LIMITS
from graphglass.graphs.read import read_report
from graphglass.serve.drift import DriftMartingale
from graphglass.serve.line_sources import Line
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
        Told, in words, about bad lines and about drift.

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
        names: list[str] = []
        sets: list[GraphSet] = []
        for line in lines:
            if not line.content.strip():
                continue
            try:
                name, graph = self._read(line)
            except GlassError as error:
                self.bad += 1
                self.complain(f"{line.source} line {line.number}: {error}")
                continue
            names.append(name)
            sets.append(replace(graph, ids=(str(len(sets)),)))
        if not sets:
            return []
        scores = self._scores(sets)
        p_values = self.service.p_values(scores)
        rows: list[dict[str, Any]] = []
        for i, name in enumerate(names):
            p_value = None if p_values is None else float(p_values[i])
            flagged = None if p_value is None else p_value <= self.alpha
            rows.append({"id": name, "score": float(scores[i]), "p_value": p_value, "flagged": flagged})
            self.scored += 1
            self.flagged += bool(flagged)
            self._watch(name, float(scores[i]))
        return rows

    def _scores(self, sets: list[GraphSet]) -> NDArray[np.float64]:
        """One pass over all graphs; one each where some have labels or attributes that others lack."""
        try:
            together = concatenate(sets)
        except SchemaError:
            return np.concatenate([self.service.score(graph) for graph in sets])
        return self.service.score(together)

    def _watch(self, name: str, score: float) -> None:
        seen = self.drift.seen + 1
        if self.drift.update(score):
            self.complain(
                f"drift at {name!r}: after {seen} graphs the scores have changed (martingale above "
                f"{self.drift.threshold:g}; by chance at most once in {self.drift.threshold:g} streams)"
            )

    def _read(self, line: Line) -> tuple[str, GraphSet]:
        """The graph of one line, read by itself so that it does not depend on the lines around it."""
        fallback = f"{line.source}:{line.number}"
        try:
            record = json.loads(line.content, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise GraphError(f"not a JSON record ({error}).") from error
        if not isinstance(record, dict):
            raise GraphError(f"expected a JSON object, found {type(record).__name__}.")
        given = record.get("id")
        name = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else fallback
        if isinstance(record.get("smiles"), str):
            result = read_report([record["smiles"]], format="smi", limits=DEFAULT_LIMITS)
        else:
            result = read_report([{**record, "id": fallback}], format="json-lines", limits=DEFAULT_LIMITS)
        if not len(result.graphs):
            raise GraphError("; ".join(item.reason for item in result.rejects))
        graph = self.service.completed(result.graphs.without_labels())
        self.service.check(graph)
        return name, self.service.comparable(graph)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")
