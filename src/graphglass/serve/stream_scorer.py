"""Scores of graphs that arrive line by line."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from graphglass.detector.drift import Alarm, DriftMartingale, changed_families
from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import DEFAULT_LIMITS
from graphglass.serve.line_sources import Line
from graphglass.serve.request_graphs import read_items
from graphglass.serve.request_limits import is_molecule
from graphglass.serve.service import Service

# Graphs kept to say what drifted: the last ones, unless they are large; and how many make a comparison.
RECENT, LARGEST, FEWEST = 256, 2000, 10


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
        self._recent: deque[GraphSet | None] = deque(maxlen=RECENT)  # None for a graph too large to keep

    def rows(self, lines: Sequence[Line]) -> list[dict[str, Any]]:
        """One row per readable line, in order: id, score, p_value and flagged (None where a summary is served)."""
        items: list[Mapping[str, Any]] = []
        origin: list[int] = []
        troubles: dict[int, str] = {}
        for place, line in enumerate(lines):
            if line.content.strip():
                try:
                    items.append(_record(line))
                    origin.append(place)
                except GraphError as error:
                    troubles[place] = str(error)
        sets, rejected = read_items(items, DEFAULT_LIMITS, self.service.accept)
        troubles |= {origin[place]: reason for place, reason in rejected.items()}
        for place, reason in sorted(troubles.items()):
            self.bad += 1
            self.complain(f"{lines[place].source} line {lines[place].number}: {reason}")
        if not sets:
            return []
        scores = self.service.score_sets(sets).tolist()
        single = [graphs[i] for graphs in sets for i in range(len(graphs))]
        scored = sorted(zip((int(graph.ids[0]) for graph in single), single, scores, strict=True), key=itemgetter(0))
        return [self._row(_name(items[place], lines[origin[place]]), graph, score) for place, graph, score in scored]

    def _row(self, name: str, graph: GraphSet, score: float) -> dict[str, Any]:
        p_value = self.service.p_values(np.array([score]))[0]
        flagged = None if p_value is None else p_value <= self.alpha
        self.scored += 1
        self.flagged += bool(flagged)
        # Ids are places within a batch; kept graphs of several batches are compared together.
        self._recent.append(replace(graph, ids=(str(self.scored),)) if graph.node_count <= LARGEST else None)
        if alarm := self.drift.take(score):
            threshold = self.drift.threshold
            self.complain(
                f"drift at {name!r}: after {alarm.seen} graphs the scores have changed (martingale above "
                f"{threshold:g}; by chance at most once in {threshold:g} streams).{self._cause(alarm)}"
            )
            self._recent.clear()
        return {"id": name, "score": score, "p_value": p_value, "flagged": flagged}

    def _cause(self, alarm: Alarm) -> str:
        """Which families of channels changed; nothing if too few graphs before and after the change are kept."""
        kept = list(self._recent)
        split = max(0, len(kept) - (alarm.seen - alarm.began))
        before, after = ([graph for graph in part if graph is not None] for part in (kept[:split], kept[split:]))
        detector = self.service.detector
        # With known anomalies, what each family adds to the leave-one-out scores of references is not stored.
        comparable = detector is not None and detector.anomalies_ is None
        if not after or (len(before) < FEWEST and not comparable):
            return ""
        usual = self.service.family_means(before) if len(before) >= FEWEST else self.service.reference_family_means()
        words = changed_families(usual, self.service.family_means(after))
        return f" Since about {alarm.seen - alarm.began} graphs ago, {words}."


def _record(line: Line) -> Mapping[str, Any]:
    try:
        record = json.loads(line.content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise GraphError(f"not a JSON record ({error}).") from error
    if not isinstance(record, dict):
        raise GraphError(f"expected a JSON object, found {type(record).__name__}.")
    if is_molecule(record) and not isinstance(record["smiles"], str):
        raise GraphError(f"'smiles' must be text, found {type(record['smiles']).__name__}.")
    return record


def _name(record: Mapping[str, Any], line: Line) -> str:
    given = record.get("id")
    named = isinstance(given, str | int) and not isinstance(given, bool)
    return str(given) if named else f"{line.source}:{line.number}"


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")
