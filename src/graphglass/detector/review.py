"""A review: look at the most abnormal graph, say what it is, and see more of its kind next."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import GraphsLike, ProfiledGraphs, join_profiled
from graphglass.detector.marked_pool import MarkedPool
from graphglass.detector.reference_sets import distinct_places, equal_places
from graphglass.detector.scored_graphs import ScoredGraphs
from graphglass.errors import ArtifactError, GraphError, InputError, ParameterError
from graphglass.files.atomic import locked, write_whole
from graphglass.files.output_file import refuse_unless_writable
from graphglass.graphs.graph_set import GraphSet
from graphglass.messages import no_such_id

if TYPE_CHECKING:
    from graphglass.detector.graphglass import GraphGlass

VERDICTS = ("anomaly", "normal", "unsure")
KEPT_PAIRS = 40_000_000  # similarities between graphs and references kept for the next mark, 320 MB
MOST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Mark:
    """What a reviewer said about one graph."""

    id: str
    verdict: str
    reviewer: str = ""
    time: str = ""
    comment: str = ""


class Review:
    """Graphs under review, the most abnormal first; what was marked moves the rest.

    Graphs that are marked as anomalies become known anomalies, those marked as normal become references, and the graphs
    left are ranked by both. The detector itself, its p-values and its flags stay as they are.

    Every mark is written to ``path`` at once, one line of JSON, and is never rewritten: a killed review loses nothing.

    Parameters
    ----------
    detector : GraphGlass
        Fitted.
    graphs : GraphSet, or anything :func:`graphglass.read_graphs` reads
    path : path, optional
        The file of marks. One that is there is continued.
    reviewer : str
        Written with every mark.

    Attributes
    ----------
    marks : tuple of Mark
        The last one of every graph, in the order of marking.
    conflicts : tuple of str
        Graphs marked as anomalies that equal a normal reference, or a graph marked as normal. They are kept, and
        change no score.

    Examples
    --------
    >>> from graphglass import GraphGlass, load_dataset
    >>> molecules = load_dataset("MUTAG")
    >>> review = GraphGlass().fit(molecules[:100]).review(molecules[100:])
    >>> first = review.next()
    >>> review.mark(first.ids[0], "anomaly")
    >>> len(review.found), review.next().ids != first.ids
    (1, True)
    """

    def __init__(
        self, detector: GraphGlass, graphs: GraphsLike, *, path: str | Path | None = None, reviewer: str = ""
    ) -> None:
        self._detector, self.reviewer = detector, reviewer
        self._fixed = detector.score_table(graphs)
        self._places = {name: place for place, name in enumerate(self._fixed.ids)}
        shown = self._fixed.graphs
        self._equal = equal_places(shown, detector.scorer_.graphs)
        self._equals_reference = {self._fixed.ids[place] for place in np.flatnonzero(self._equal >= 0)}
        self._group = equal_places(shown, shown[distinct_places(shown)])  # equal graphs have the same number
        # What no mark changes is worked out now: a mark must take effect at once.
        self._pool = self._compared()
        self._pooled: dict[int, str] = {}  # places that the pool has marks of, and their verdicts
        self._marks: dict[str, Mark] = {}
        self._ranking: ScoredGraphs | None = self._fixed
        self.path = None if path is None else Path(path)
        if self.path is not None:
            refuse_unless_writable(self.path)
            for mark in read_marks(self.path) if self.path.exists() else ():
                self.take(mark)

    def __len__(self) -> int:
        return len(self._fixed)

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(self._marks.values())

    @property
    def found(self) -> tuple[str, ...]:
        """Ids of the anomalies found so far."""
        return tuple(mark.id for mark in self.marks if mark.verdict == "anomaly")

    @property
    def conflicts(self) -> tuple[str, ...]:
        silent = self._marked("normal")
        return tuple(i for i in self.found if i in self._equals_reference or self._group[self._places[i]] in silent)

    @property
    def order(self) -> NDArray[np.int64]:
        """Places of all graphs as they are shown: by rank, but copies of a graph marked as normal come last. (graphs,)

        No score tells them from it, and its mark answers for them.
        """
        order = self.ranking().order
        late = np.isin(self._group[order], list(self._marked("normal") - self._marked("anomaly")))
        return np.concatenate([order[~late], order[late]])

    def _marked(self, verdict: str) -> set[int]:
        return {int(self._group[self._places[mark.id]]) for mark in self.marks if mark.verdict == verdict}

    def next(self) -> GraphSet | None:
        """The graph to look at next: the first of `order` without a mark; None when all have one."""
        place = next((i for i in self.order if self._fixed.ids[i] not in self._marks), None)
        return None if place is None else self._fixed.graphs[int(place)]

    def mark(self, identifier: str, verdict: str, comment: str = "") -> None:
        """Say what a graph is: ``anomaly``, ``normal`` or ``unsure``. A later mark replaces an earlier one."""
        if verdict not in VERDICTS:
            raise ParameterError("Review.mark", "verdict", f"one of {', '.join(VERDICTS)}", verdict)
        if identifier not in self._places:
            raise GraphError(no_such_id("graph under review", identifier, self._fixed.ids))
        mark = Mark(identifier, verdict, self.reviewer, datetime.now(UTC).isoformat(timespec="seconds"), comment)
        if self.path is not None:
            _append(self.path, mark)
        self.take(mark)

    def take(self, mark: Mark) -> bool:
        """Take a mark that was made and kept elsewhere; False, and nothing else, if it is of no graph under review."""
        if mark.id not in self._places:
            return False
        self._marks.pop(mark.id, None)
        self._marks[mark.id] = mark
        self._ranking = None
        return True

    def ranking(self) -> ScoredGraphs:
        """All graphs by what is known now; p-values and flags are those of the detector without the marks."""
        if self._ranking is None:
            self._ranking = replace(self._fixed, scores=self.scores_with_marks())
        return self._ranking

    def save(self, path: str | Path) -> None:
        """Write the last mark of every graph to a new file."""
        write_whole(Path(path), "".join(_line(mark) for mark in self.marks).encode())

    @classmethod
    def load(cls, path: str | Path, detector: GraphGlass, graphs: GraphsLike, *, reviewer: str = "") -> Review:
        """Continue a review from its file."""
        if not Path(path).is_file():
            raise ArtifactError(f"{path} is not a file of marks. Name one that a review wrote.")
        return cls(detector, graphs, path=path, reviewer=reviewer)

    def _compared(self) -> MarkedPool | None:
        """The graphs compared with the references; None where they are too many to be kept."""
        measured, scorer = self._fixed.measured, self._detector.scorer_
        if measured is None or len(measured) * len(scorer.normal_kernel.training_rows) > KEPT_PAIRS:
            return None
        return MarkedPool(measured, scorer, self._equal)

    def scores_with_marks(self, *, normals: bool = True) -> NDArray[np.float64]:
        """Scores of all graphs by what is known now; without `normals`, marks of normal graphs are left out."""
        marks = self._verdicts()
        anomalies = np.array([place for place, verdict in marks.items() if verdict == "anomaly"], dtype=np.int64)
        if self._fixed.measured is None or not len(marks if normals and self._pool is not None else anomalies):
            return self._fixed.scores
        if self._pool is None:
            known = self._known(self._fixed.measured[anomalies])
            return self._detector.scorer_.with_anomalies(known).scores(self._fixed.measured)
        self._add_marks(self._pool, marks)
        return self._pool.scores(normals=normals)

    def _verdicts(self) -> dict[int, str]:
        """Verdicts that change scores, by place."""
        left_out = self._equals_reference.union(self.conflicts)
        marks = (mark for mark in self.marks if mark.verdict != "unsure" and mark.id not in left_out)
        return {self._places[mark.id]: mark.verdict for mark in marks}

    def _add_marks(self, pool: MarkedPool, marks: dict[int, str]) -> None:
        """Add the marks that are new; begin again where one was changed."""
        if any(marks.get(place) != verdict for place, verdict in self._pooled.items()):
            pool.clear()
            self._pooled = {}
        for place, verdict in marks.items():
            if place not in self._pooled:
                (pool.add_anomaly if verdict == "anomaly" else pool.add_normal)(place)
                self._pooled[place] = verdict

    def _known(self, found: ProfiledGraphs) -> ProfiledGraphs:
        """The anomalies found, after those that the detector knows."""
        before = self._detector.scorer_.known
        if before is None:
            return found
        taken = set(before.graphs.graphs.ids)
        ids = tuple(f"reviewed/{name}" if name in taken else name for name in found.graphs.ids)
        return join_profiled([before.graphs, replace(found, graphs=replace(found.graphs, ids=ids))])


def read_marks(path: Path) -> Sequence[Mark]:
    """The marks of a file in their order; a last line that was cut off while it was written is left out."""
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise ArtifactError(f"{path} is not a file of marks of at most {MOST_BYTES >> 20} MB.")
    lines = path.read_bytes().split(b"\n")[:-1]
    marks = []
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            mark = Mark(**entry)
            sound = all(isinstance(value, str) for value in asdict(mark).values()) and mark.verdict in VERDICTS
        except (ValueError, TypeError, RecursionError):
            sound = False
        if not sound:
            raise InputError(
                f"{path}, line {number}: expected a mark such as {_line(Mark('g', 'anomaly')).strip()}. Repair the "
                "line or remove it."
            )
        marks.append(mark)
    return marks


def _line(mark: Mark) -> str:
    return json.dumps(asdict(mark), ensure_ascii=False) + "\n"


def _no_link(path: str, flags: int) -> int:
    """Open the file itself, not one that a link put in its place names; no umask lets everyone write."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o664)


def _append(path: Path, mark: Mark) -> None:
    """Add one line, on disk when this returns; a torn line of a killed writer is cut off first.

    Reviewers of one file take turns: what looks torn could be a line that another one is writing.
    """
    try:
        with locked(path.parent), open(path, "ab+", opener=_no_link) as file:
            if end := file.seek(0, os.SEEK_END):
                file.seek(end - 1)
                if file.read() != b"\n":
                    file.seek(0)
                    file.truncate(file.read().rfind(b"\n") + 1)
            file.write(_line(mark).encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ArtifactError(f"The mark could not be written to {path}: {error.strerror}. It was not taken.") from error
