"""StructureProfile: what the structure of every graph measures, as flat frozen arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.files.disk_arrays import disk_zeros
from graphglass.files.progress import progress_bar
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.ragged import chosen_graphs, offsets, ranges
from graphglass.kernel import Counts, Floats, announce_compilation
from graphglass.structure.aggregates import AGGREGATE_NAMES
from graphglass.structure.descriptors import LTD_NAMES, describe, describe_graphs
from graphglass.structure.kernels.motifs import EXACT_WORK
from graphglass.structure.kernels.spectrum import DENSE_CLASSES, SKETCH_NAMES, write_sketches

__all__ = ["AGGREGATE_NAMES", "LTD_NAMES", "SKETCH_NAMES", "StructureProfile", "join_profiles", "profile"]

PORTIONS_PER_THREAD = 32
CHEAP = 1e6  # steps that are not worth a second thread
COMPONENTS = AGGREGATE_NAMES.index("components")
COUNTS = frozenset({"nodes", "edges", "components", "core_max"})


@dataclass(frozen=True, eq=False)
class StructureProfile:
    """Structural numbers of many graphs, row by row aligned with the GraphSet they came from.

    Attributes
    ----------
    node_offsets : int64 (graphs + 1,)
        Nodes of graph ``i`` are rows ``node_offsets[i]:node_offsets[i + 1]`` of ``descriptors``.
    descriptors : float64 (nodes, 9)
        Local topology descriptors, :data:`LTD_NAMES`.
    aggregates : float64 (graphs, 17)
        Graph-level numbers, :data:`AGGREGATE_NAMES`.
    sketch : float64 (graphs, 11)
        Spectral sketch, :data:`SKETCH_NAMES`.
    estimated : bool (graphs,)
        True where the size of the graph made one of its numbers an estimate.
    """

    node_offsets: NDArray[np.int64]
    descriptors: NDArray[np.float64]
    aggregates: NDArray[np.float64]
    sketch: NDArray[np.float64]
    estimated: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for item in fields(self):
            # A view, so freezing this profile does not freeze an array the caller still owns.
            view = getattr(self, item.name).view()
            view.flags.writeable = False
            object.__setattr__(self, item.name, view)

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def __repr__(self) -> str:
        return f"StructureProfile({len(self)} graphs, {len(self.descriptors)} nodes)"

    def __getitem__(self, key: object) -> StructureProfile:
        """Select graphs by integer (a profile of one), slice, index array or boolean mask."""
        chosen = chosen_graphs(key, len(self))
        sizes = np.diff(self.node_offsets)[chosen]
        rows = ranges(self.node_offsets[chosen], sizes)
        return StructureProfile(
            offsets(sizes), self.descriptors[rows], self.aggregates[chosen], self.sketch[chosen], self.estimated[chosen]
        )

    def columns(self, ids: Sequence[str]) -> dict[str, Any]:
        """Columns id, aggregates, sketch and estimated, in this order, as tables show them; counts are integers."""
        columns: dict[str, Any] = {"id": list(ids)}
        for name, values in zip(AGGREGATE_NAMES, self.aggregates.T, strict=True):
            columns[name] = values.astype(np.int64) if name in COUNTS else values
        columns |= dict(zip(SKETCH_NAMES, self.sketch.T, strict=True))
        return columns | {"estimated": self.estimated}


def profile(graphs: GraphSet, *, progress: bool = False) -> StructureProfile:
    """Measure the structure of every graph: node descriptors, aggregates and spectral sketch.

    The result of a graph depends on that graph alone, not on the others in the set nor on the order of its nodes.

    Parameters
    ----------
    graphs : GraphSet
        The graphs to measure; of directed graphs the undirected skeleton is measured.
    progress : bool, default False
        Report on standard error: a progress bar on a terminal, one line elsewhere, and one line before kernels are
        compiled for the first time on a machine.

    Examples
    --------
    >>> from graphglass import profile, read_graphs
    >>> triangle = read_graphs([{"id": "triangle", "nodes": 3, "edges": [[0, 1], [1, 2], [2, 0]]}])
    >>> columns = profile(triangle).columns(triangle.ids)
    >>> int(columns["triangles"][0])
    1
    """
    return measure(graphs, EXACT_WORK, progress=progress)


def measure(graphs: GraphSet, limit: int, *, progress: bool = False) -> StructureProfile:
    """:func:`profile` with another bound on the steps that exact motif counts may take per graph."""
    flat = graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours
    descriptors = disk_zeros((graphs.node_count, len(LTD_NAMES)), np.float64)
    aggregates = np.zeros((len(graphs), len(AGGREGATE_NAMES)))
    sketch = np.zeros((len(graphs), len(SKETCH_NAMES)))
    estimated = np.zeros(len(graphs), np.bool_)

    def measure_some(chosen: NDArray[np.int64]) -> None:
        estimated[describe(chosen, flat, limit, descriptors, aggregates)] = True
        write_sketches(chosen, flat, limit, aggregates[:, COMPONENTS], sketch, estimated)

    announce_compilation(describe_graphs, show=progress)
    # What a graph costs, roughly: a dense eigenproblem while it is small, then its edges.
    sizes = graphs.sizes.astype(np.float64)
    costs = sizes * np.minimum(sizes, DENSE_CLASSES) ** 2 + 50.0 * graphs.edge_counts
    run(measure_some, costs, progress=progress)
    return StructureProfile(graphs.node_offsets, descriptors, aggregates, sketch, estimated)


def run(work: Callable[[Counts], None], costs: Floats, *, progress: bool = False) -> None:
    """Call ``work`` on index arrays that together hold every graph once, several at a time.

    ``work`` releases the interpreter lock; the most expensive portions go first, so none is left over at the end.
    Threads of the interpreter, unlike numba's, may be started from several callers at once. Their number is numba's
    (``NUMBA_NUM_THREADS``).
    """
    from numba import config

    threads = int(config.NUMBA_NUM_THREADS)
    portions = split(costs, threads * PORTIONS_PER_THREAD)
    with progress_bar("Measuring structure", len(costs), show=progress) as advance:
        if threads == 1 or costs.sum() < CHEAP:
            for portion in portions:
                work(portion)
                advance(len(portion))
            return
        with ThreadPoolExecutor(threads) as pool:
            jobs = {pool.submit(work, portion): len(portion) for portion in portions}
            for job in as_completed(jobs):
                job.result()
                advance(jobs[job])


def split(costs: Floats, portions: int) -> list[Counts]:
    """Indices by falling cost, cut into at most about ``portions`` runs of similar total cost."""
    if not len(costs):
        return []
    order = np.argsort(-costs, kind="stable").astype(np.int64)
    share = costs.sum() / portions
    reached = np.floor(np.cumsum(costs[order]) / max(share, 1e-300)).astype(np.int64)
    return np.split(order, np.flatnonzero(np.diff(reached)) + 1)


def join_profiles(parts: Sequence[StructureProfile]) -> StructureProfile:
    """The profiles of several sets, one after another."""
    sizes = np.concatenate([np.diff(part.node_offsets) for part in parts])
    rows = ("descriptors", "aggregates", "sketch", "estimated")
    return StructureProfile(
        offsets(sizes),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in rows),
    )
