"""Reference sets too large to compare a query with every reference.

Candidates come from an index of public sketches, and every channel compares a query with the candidates alone, exactly.
What a channel learns (units, vocabularies, local scales) it learns from all references. A fixed sample of references
gets leave-one-out scores, against all others, by the same search. Up to :data:`EXACT_UP_TO` references nothing is
approximate.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel
from graphglass.channels.nearest_references import CandidateSearch, neighbourhood
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.sketch import sketch
from graphglass.detector.reference_index import ReferenceIndex
from graphglass.files.disk_arrays import roomy
from graphglass.glass.code_channel import CodeChannel
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import profile

EXACT_UP_TO = 20_000
CALIBRATED = 10_000  # references with a leave-one-out score
CANDIDATES = 512  # references that a query is compared with, at least twice the neighbours that count
NEAR = 128  # references that a reference is compared with for its local scale, at least twice the neighbours that count
PROBED_NEAR = 8  # lists read for those; the nearest are in the first few
COORDINATES = 512  # of the sketch in the index
PART = 2_000  # rows sketched or searched at a time
RECALL_AT = 10


@dataclass(frozen=True, eq=False)
class LargeReferences:
    """All references, and how to find those near a query.

    Attributes
    ----------
    graphs : GraphSet
        All of them, to name and draw neighbours.
    index : ReferenceIndex
        Of their sketches; under the paper preset of their widest codes.
    calibrated : int64 (calibrated,)
        Places of the references with a leave-one-out score.
    """

    graphs: GraphSet
    index: ReferenceIndex
    calibrated: NDArray[np.int64]

    @property
    def candidates(self) -> int:
        """References that a query is compared with."""
        return min(max(CANDIDATES, 2 * neighbourhood(len(self.graphs), 2.0)), len(self.graphs))

    def near(self, queries: ProfiledGraphs) -> NDArray[np.int64]:
        """Places of the candidates of every query, (queries, candidates)."""
        return self.index.nearest(search_rows(queries), self.candidates)[1]

    def profiled(self, places: NDArray[np.int64], channels: Sequence[Channel]) -> ProfiledGraphs:
        """Some of the references, measured again."""
        graphs = self.graphs[places]
        codes = {c.name: c.references[places] for c in channels if isinstance(c, CodeChannel)}
        return ProfiledGraphs(graphs, profile(graphs), codes)


def search_rows(graphs: ProfiledGraphs) -> NDArray[np.float32]:
    """Unit rows for the index: the sketch, or the widest codes of the paper's encoders side by side."""
    if not graphs.codes:
        return sketch(graphs.graphs, dimension=COORDINATES, structure=graphs.profile, dtype=np.float32)
    widest = max(int(name.partition(":")[2]) for name in graphs.codes)
    pair = np.concatenate([graphs.codes[f"{view}:{widest}"] for view in ("graph", "text")], axis=1)
    return (pair / 2**0.5).astype(np.float32)


def index_references(references: ProfiledGraphs) -> tuple[LargeReferences, CandidateSearch]:
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
    large = LargeReferences(references.graphs, index, calibrated)
    few = min(max(NEAR, 2 * neighbourhood(count, 10.0)), count - 1)
    around = roomy((count, few), np.int32)
    for first in range(0, count, PART):
        places = np.arange(first, min(first + PART, count))
        around[places] = index.nearest(rows[places], few, exclude=places, probed=PROBED_NEAR)[1]
    left_out = index.nearest(rows[calibrated], min(large.candidates, count - 1), exclude=calibrated)[1]
    return large, CandidateSearch(around, calibrated, left_out)
