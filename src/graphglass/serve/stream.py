"""Scores of graphs that arrive line by line: one JSON row per line, and drift as a row in between."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, NoReturn

from graphglass.errors import GraphError, InputError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import DEFAULT_LIMITS
from graphglass.serve.drift import Alarm, DriftMartingale, changed_families
from graphglass.serve.online_fdr import OnlineFDR
from graphglass.serve.request_graphs import is_molecule, read_items
from graphglass.serve.service import Service

MOST_AT_ONCE = 256
# Graphs kept to say what drifted: the last ones, unless they are large; and how many make a comparison.
RECENT, LARGEST, FEWEST = 256, 2000, 10
Row = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """One line and its number, counted from 1."""

    number: int
    content: bytes


def standard_input() -> BinaryIO:
    """A second reader of standard input: the interpreter aborts at exit if a thread still reads ``sys.stdin``."""
    try:
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    except OSError:  # not a real file, as in a test or a notebook
        return sys.stdin.buffer


def stream_lines(stream: BinaryIO, longest: int) -> Iterator[list[Line]]:
    """Lines of a stream, as many at a time as have arrived.

    A thread reads ahead while lines are scored, up to a bound that makes a fast writer wait. Of a line longer than
    ``longest`` bytes only the beginning is returned, which is not a valid record.
    """
    waiting: queue.Queue[Line | Exception | None] = queue.Queue(maxsize=4 * MOST_AT_ONCE)

    def read() -> None:
        try:
            for number, content in enumerate(iter(lambda: _next_line(stream, longest), b""), start=1):
                waiting.put(Line(number, content))
            waiting.put(None)
        except Exception as error:
            waiting.put(error)  # raised where the lines are used, since errors of this thread would be lost

    threading.Thread(target=read, daemon=True, name="lines").start()
    while True:
        items = [waiting.get()]
        while len(items) < MOST_AT_ONCE and not waiting.empty():
            items.append(waiting.get())
        if lines := [item for item in items if isinstance(item, Line)]:
            yield lines
        if len(lines) < len(items):
            break
    end = items[-1]
    if isinstance(end, OSError):
        raise InputError(f"The input cannot be read any further: {end}. What was read before is scored.") from end
    if isinstance(end, Exception):
        raise end


def _next_line(stream: BinaryIO, longest: int) -> bytes:
    """At most ``longest`` bytes of the next line; the rest of it is skipped."""
    content = piece = stream.readline(longest)
    while piece and not piece.endswith(b"\n") and len(piece) == longest:
        piece = stream.readline(longest)
    return content


class StreamScorer:
    """Turns lines into rows of results, counts, and watches the scores for drift.

    Parameters
    ----------
    service : Service
    alpha : float
        Flag graphs whose p-value is at most this.
    drift : DriftMartingale
    fdr : OnlineFDR, optional
        Decides which graphs are flagged, in place of ``alpha``.

    Attributes
    ----------
    scored, flagged, bad : int
    """

    def __init__(self, service: Service, *, alpha: float, drift: DriftMartingale, fdr: OnlineFDR | None = None) -> None:
        self.service, self.alpha, self.drift, self.fdr = service, alpha, drift, fdr
        self.scored = self.flagged = self.bad = 0
        self._silent = False
        self._recent: deque[GraphSet | None] = deque(maxlen=RECENT)  # None for a graph too large to keep

    def rows(self, lines: Sequence[Line]) -> Iterator[Row]:
        """One row per line in order of arrival, blank lines aside, and a row after each graph that completes a drift.

        A graph gives id, score, p_value, flagged and, if flagged, the first reason; p_value and flagged are None where
        a summary or a zero-shot model is served. A line that cannot be read gives its id and the error.
        """
        items: list[Mapping[str, Any]] = []
        places: list[int] = []  # of the items among the lines
        errors: dict[int, str] = {}
        for place, line in enumerate(lines):
            if line.content.strip():
                try:
                    items.append(_record(line))
                    places.append(place)
                except GraphError as error:
                    errors[place] = str(error)
        sets, rejected = read_items(items, DEFAULT_LIMITS, self.service.accept, self.service.reading)
        errors |= {places[item]: reason for item, reason in rejected.items()}
        found: dict[int, tuple[GraphSet, float, float | None]] = {}
        for table in self.service.score_sets(sets) if sets else ():
            p_values = [None] * len(table) if table.p_values is None else table.p_values.tolist()
            for i, (score, p_value) in enumerate(zip(table.scores.tolist(), p_values, strict=True)):
                found[places[int(table.ids[i])]] = table.graphs[i], score, p_value
        names = {place: _name(item, lines[place]) for place, item in zip(places, items, strict=True)}
        for place, line in enumerate(lines):
            if place in found:
                yield from self._scored(names[place], *found[place])
            elif place in errors:
                self.bad += 1
                yield {"id": names.get(place, f"line-{line.number}"), "line": line.number, "error": errors[place]}

    def _scored(self, name: str, graph: GraphSet, score: float, p_value: float | None) -> Iterator[Row]:
        if p_value is None:
            flagged = None
        else:
            flagged = p_value <= self.alpha if self.fdr is None else self.fdr.take(p_value)
        self.scored += 1
        self.flagged += bool(flagged)
        row = {"id": name, "score": score, "p_value": p_value, "flagged": flagged}
        yield row | ({"reason": self.service.first_reason(graph)} if flagged else {})
        yield from self._exhausted(name)
        # Ids are places within a batch; kept graphs of several batches are compared together.
        self._recent.append(replace(graph, ids=(str(self.scored),)) if graph.node_count <= LARGEST else None)
        if alarm := self.drift.take(score):
            yield {
                "event": "drift", "id": name, "graphs": alarm.seen, "since": alarm.seen - alarm.began,
                "evidence": self.drift.threshold, "change": self._change(alarm),
            }  # fmt: skip
            self._recent.clear()

    def _exhausted(self, name: str) -> Iterator[Row]:
        """Once, a row that says that no p-value can reach the level any more: only a discovery would raise it."""
        smallest = self.service.smallest_p_value
        if self.fdr is not None and smallest is not None and self.fdr.level < smallest and not self._silent:
            self._silent = True
            yield {
                "event": "fdr", "id": name, "level": self.fdr.level, "smallest_p_value": smallest,
                "message": "From here on nothing is flagged: the references are too few for a p-value below the level. "
                "Use more references, a larger --fdr, or --alpha.",
            }  # fmt: skip

    def _change(self, alarm: Alarm) -> str | None:
        """Which families of channels changed; None if too few graphs before and after the change are kept."""
        kept = list(self._recent)
        split = max(0, len(kept) - (alarm.seen - alarm.began))
        before, after = ([graph for graph in part if graph is not None] for part in (kept[:split], kept[split:]))
        detector = self.service.detector
        # With known anomalies, what each family adds to the leave-one-out scores of references is not stored.
        comparable = detector is not None and detector.anomalies_ is None
        if not after or (len(before) < FEWEST and not comparable):
            return None
        usual = self.service.family_means(before) if len(before) >= FEWEST else self.service.reference_family_means()
        return changed_families(usual, self.service.family_means(after))


def _record(line: Line) -> Mapping[str, object]:
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
    return str(given) if named else f"line-{line.number}"


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")
