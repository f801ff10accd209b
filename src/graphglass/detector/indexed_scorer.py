"""Scores against a reference set too large to compare a query with every reference.

Candidates come from an index of public sketches, and every channel compares a query with the candidates alone, exactly.
What a channel learns (scales, vocabularies) it learns from all references. A fixed sample of references gets
leave-one-out scores, against all others, by the same search. Up to :data:`EXACT_UP_TO` references nothing is
approximate.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import AnyChannel
from graphglass.channels.nearest_references import Candidates, CandidateSearch, Rows, neighbourhood
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.sketch import sketch
from graphglass.detector.known_anomalies import KnownSide
from graphglass.detector.reference_index import ReferenceIndex
from graphglass.detector.scorer import Fuse, ReferenceScorer, left_out_distances
from graphglass.files.disk_arrays import disk_zeros
from graphglass.graphs.graph_schema import GraphSchema
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import profile

EXACT_UP_TO = 20_000
CALIBRATED = 10_000  # references with a leave-one-out score
CANDIDATES = 512  # references that a query is compared with, at least twice the neighbours that count
NEAR = 128  # references that a reference is compared with for its local scale, at least twice the neighbours that count
COORDINATES = 512  # of the sketch in the index
PART = 2_000  # rows sketched or searched at a time
RECALL_AT = 10


@dataclass(frozen=True, eq=False, kw_only=True)
class IndexedScorer(ReferenceScorer):
    """Scores queries against the references that an index finds near them.

    Attributes
    ----------
    all_graphs : GraphSet
        Every reference, to name and draw neighbours.
    index : ReferenceIndex
        Of their sketches, or of their widest codes where they have codes.
    calibrated : int64 (references,)
        Places of the references with a leave-one-out score.
    """

    all_graphs: GraphSet
    index: ReferenceIndex
    calibrated: NDArray[np.int64]
    _training_rows: dict[str, Rows] = field(default_factory=dict)

    @classmethod
    def fit(
        cls, references: ProfiledGraphs, channels: Sequence[AnyChannel], fuse: Fuse, *, structure_only: bool = False
    ) -> Self:
        index, search = _index(references)
        for channel in channels:
            channel.fit_among(references, search)
        channels = tuple(channel for channel in channels if channel.has_data)
        sample = references[search.calibrated]
        fusion = fuse(channels, sample)
        return cls(
            references=sample,
            channels=channels,
            fusion=fusion,
            reference_scores=fusion.scores(left_out_distances(channels)),
            schema=GraphSchema.of(sample.graphs),
            structure_only=structure_only,
            all_graphs=references.graphs,
            index=index,
            calibrated=search.calibrated,
        )

    @property
    def graphs(self) -> GraphSet:
        return self.all_graphs

    @property
    def reference_places(self) -> NDArray[np.int64]:
        return self.calibrated

    @property
    def candidate_count(self) -> int:
        """References that a query is compared with."""
        return _candidate_count(len(self.all_graphs))

    def search(self, queries: ProfiledGraphs) -> NDArray[np.int64]:
        """Places of the candidates of every query, (queries, candidates)."""
        return self.index.nearest(search_rows(queries), self.candidate_count)[1]

    def channel_distances(self, channel: AnyChannel, rows: Rows, found: Candidates) -> NDArray[np.float64]:
        assert found is not None
        return channel.distances_among(rows, found)

    def kernel_sums(
        self, channel: AnyChannel, rows: Rows, found: Candidates, side: KnownSide
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        near = self.distances_to(channel, rows, side.training_rows)
        return self.channel_distances(channel, rows, found), side.pull(channel, near)

    def rows(self, channel: AnyChannel) -> Rows:
        rows: Rows = channel.encode(self.references)
        return rows

    def distances_to(self, channel: AnyChannel, rows: Rows, places: NDArray[np.int64]) -> NDArray[np.float64]:
        # Kept: the places are the same in every call, those that train the classifier of known anomalies.
        if channel.name not in self._training_rows:
            self._training_rows[channel.name] = channel.encode(self.references[places])
        return channel.compare(rows, self._training_rows[channel.name])

    def candidates(self, query: ProfiledGraphs) -> NDArray[np.int64]:
        return np.asarray(self.search(query)[0])

    def profiled(self, places: NDArray[np.int64]) -> ProfiledGraphs:
        graphs = self.all_graphs[places]
        codes = {c.name: c.references[places] for c in self.channels if c.name in self.references.codes}
        return ProfiledGraphs(graphs, profile(graphs), codes)

    def left_out_scores(self, queries: ProfiledGraphs, places: NDArray[np.int64]) -> NDArray[np.float64]:
        found = np.minimum(np.searchsorted(self.calibrated, places), len(self.calibrated) - 1)
        scores = self.reference_scores[found]
        others = np.flatnonzero(self.calibrated[found] != places)
        if len(others):
            scores[others] = self.scores_among(queries[others], self._others_near(queries[others], places[others]))
        return scores

    def left_out_distances(self, query: ProfiledGraphs, place: int) -> dict[str, NDArray[np.float64]]:
        return self._distances(query, self._others_near(query, np.array([place])))

    def _others_near(self, queries: ProfiledGraphs, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """By the search that calibrates: candidates without the references at `places`, which the queries equal."""
        width = min(self.candidate_count, len(self.all_graphs) - 1)
        return self.index.nearest(search_rows(queries), width, exclude=places)[1]

    def approximations(self) -> dict[str, str]:
        return {
            "candidates": (
                f"every query is compared with the {self.candidate_count} references nearest by sketch, not with all "
                f"{len(self.all_graphs)}"
            ),
            "index": f"{self.index.kind}; finds {self.index.recall:.3f} of the {RECALL_AT} nearest sketches",
            "calibration": (
                f"leave-one-out scores of {len(self.references)} references, drawn once; p-values, the threshold and "
                "the ranges in explanations come from those"
            ),
        }

    def _to_references(self, channel: AnyChannel, rows: Rows, places: NDArray[np.int64]) -> NDArray[np.float64]:
        each = np.broadcast_to(places, (len(rows), len(places)))
        return channel.compare_each(rows, channel.references, each) / channel.reference_scales[places]

    def _compared(self, places: NDArray[np.int64]) -> int:
        return len(places)


def _candidate_count(references: int) -> int:
    return min(max(CANDIDATES, 2 * neighbourhood(references, 2.0)), references)


def search_rows(graphs: ProfiledGraphs) -> NDArray[np.float32]:
    """Unit rows for the index: the sketch, or the widest codes side by side."""
    if not graphs.codes:
        return sketch(graphs.graphs, dimension=COORDINATES, structure=graphs.profile, dtype=np.float32)
    widest = max(int(name.partition(":")[2]) for name in graphs.codes)
    pair = np.concatenate([graphs.codes[f"{view}:{widest}"] for view in ("graph", "text")], axis=1)
    return (pair / 2**0.5).astype(np.float32)


def _index(references: ProfiledGraphs) -> tuple[ReferenceIndex, CandidateSearch]:
    """Index references, and find the candidates of each of them."""
    count = len(references)
    home = Path(tempfile.mkdtemp(prefix="graphglass-index-"))
    try:
        file = home / "rows.npy"
        first_part = search_rows(references[:PART])
        rows = np.lib.format.open_memmap(file, "w+", np.float32, (count, first_part.shape[1]))
        rows[:PART] = first_part
        for first in range(PART, count, PART):
            rows[first : first + PART] = search_rows(references[first : first + PART])
        rows.flush()
        index = ReferenceIndex.build(file, RECALL_AT)
        if index.path != file:
            file.unlink()
    except BaseException:
        shutil.rmtree(home)
        raise
    # Saving a model copies the file; this one is removed with the last detector that uses it.
    weakref.finalize(index, shutil.rmtree, home, ignore_errors=True)
    calibrated = np.sort(np.random.default_rng(0).choice(count, min(CALIBRATED, count), replace=False))
    few = min(max(NEAR, 2 * neighbourhood(count, 10.0)), count - 1)
    around = disk_zeros((count, few), np.int32)
    for places, near in index.near_all(rows, few):
        around[places] = near
    left_out = index.nearest(rows[calibrated], min(_candidate_count(count), count - 1), exclude=calibrated)[1]
    return index, CandidateSearch(around, calibrated, left_out)
