"""A large reference set in one file that processes map into memory and share.

By the number of references the file holds the plain rows, searched exactly piece by piece (``flat``), a graph of
neighbours (``hnsw``) or inverted lists (``ivf``), whose answers are approximate and carry a measured recall.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ArtifactError, MissingExtraError
from graphglass.sphere.neighbours import closest, leave_out, nearest, nearest_in_shards

Kind = Literal["flat", "hnsw", "ivf"]
# Up to here exact search costs a query less than the other channels of a detector do (benchmarks/scale.py). A neighbour
# graph answers faster than lists but jumps about in its file, so it ends where the files no longer fit beside other
# work in memory: 300,000 references of the default codes are 3 GB.
FLAT_UP_TO = 50_000
HNSW_UP_TO = 300_000
SHARD = 65_536  # rows read at a time
LINKS = 32  # of every node of a neighbour graph
# Nodes kept in view, or lists read, per query: the least that reaches the recall.
EFFORTS = {"hnsw": (32, 64, 128, 256), "ivf": (8, 16, 32, 64, 128)}
RECALL = 0.99
MEASURED = 500  # references that recall is measured on
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class ReferenceIndex:
    """Nearest references by inner product, from a file.

    Attributes
    ----------
    recall : float
        Share of the true nearest references that are found, measured on references left out one at a time; equal
        similarities count as found. 1 for ``flat``.
    effort : int
        Nodes kept in view (``hnsw``) or lists read (``ivf``) per query.
    """

    kind: Kind
    path: Path
    count: int
    dimension: int
    effort: int
    recall: float
    _content: Any

    @classmethod
    def build(cls, rows_file: Path, k: int, kind: Kind | None = None) -> ReferenceIndex:
        """Index the unit rows of a ``.npy`` file; a file beside it is made unless the rows themselves serve.

        Parameters
        ----------
        k : int
            Neighbours that recall is measured for.
        kind : optional
            Chosen by the number of rows if absent.
        """
        rows = np.load(rows_file, mmap_mode="r", allow_pickle=False)
        count, dimension = rows.shape
        kind = kind or ("flat" if count <= FLAT_UP_TO else "hnsw" if count <= HNSW_UP_TO else "ivf")
        if kind == "flat":
            return cls(kind, rows_file, count, dimension, 0, 1.0, rows)
        faiss = _faiss(count)
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # with more, equal rows would not give equal files
        try:
            path = rows_file.with_suffix(".faiss")
            faiss.write_index(_graph(faiss, rows) if kind == "hnsw" else _lists(faiss, rows), str(path))
        finally:
            faiss.omp_set_num_threads(threads)
        chosen = np.sort(np.random.default_rng(0).choice(count, min(MEASURED, count), replace=False))
        queries = np.ascontiguousarray(rows[chosen])
        exact = nearest_in_shards(queries, _shards(rows), k, exclude=chosen)[0]
        facts = {"kind": kind, "count": count, "dimension": dimension}
        for effort in EFFORTS[kind]:
            built = cls.open(path, {**facts, "effort": effort, "recall": 0.0})
            found = built.nearest(queries, k, exclude=chosen)[0]
            recall = float((found >= exact[:, -1:] - _ROUNDING).mean())
            if recall >= RECALL:
                break
        return replace(built, recall=recall)

    @classmethod
    def open(cls, path: Path, facts: dict[str, Any]) -> ReferenceIndex:
        """Map a file that :meth:`build` made; `facts` are what :meth:`facts` said of it."""
        kind, count, dimension = facts["kind"], int(facts["count"]), int(facts["dimension"])
        try:
            if kind == "flat":
                content = np.load(path, mmap_mode="r", allow_pickle=False)
                sound = content.dtype == np.float32 and content.shape == (count, dimension)
            else:
                faiss = _faiss(count)
                flags = faiss.IO_FLAG_MMAP_IFC if kind == "hnsw" else faiss.IO_FLAG_MMAP
                content = faiss.read_index(str(path), flags)
                expected = faiss.IndexHNSWFlat if kind == "hnsw" else faiss.IndexIVFFlat
                sound = isinstance(content, expected) and (content.ntotal, content.d) == (count, dimension)
        except (ValueError, OSError, RuntimeError) as error:
            raise ArtifactError(f"{path} is not a readable index ({error}). Restore it, or save again.") from error
        if not sound:
            raise ArtifactError(
                f"{path} is not the {kind} index of {count} references of dimension {dimension} that this model was "
                "saved with. It belongs to another model; restore the right file."
            )
        if kind == "ivf":
            content.nprobe = int(facts["effort"])
        return cls(kind, path, count, dimension, int(facts["effort"]), float(facts["recall"]), content)

    def facts(self) -> dict[str, Any]:
        """What a model's card says of the index, and :meth:`open` needs."""
        names = ("kind", "count", "dimension", "effort", "recall")
        return {name: getattr(self, name) for name in names}

    def nearest(
        self, queries: NDArray[np.float32], k: int, *, exclude: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """As :func:`~graphglass.sphere.neighbours.nearest_in_shards`; a query's answer does not depend on its batch."""
        if self.kind == "flat":
            return nearest_in_shards(queries, _shards(self._content), k, exclude=exclude)
        wanted = min(k if exclude is None else k + 1, self.count)
        rows = np.ascontiguousarray(queries, np.float32)
        values, found = self._search(rows, wanted)
        short = (found < 0).any(axis=1)
        if short.any():  # too few references in view: look at all of them
            values[short], found[short] = self._search(rows[short], wanted, everywhere=True)
        similarities, indices = closest(values.astype(np.float64), found, wanted)
        return (similarities, indices) if exclude is None else leave_out(similarities, indices, exclude, k)

    def _search(
        self, queries: NDArray[np.float32], k: int, *, everywhere: bool = False
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        faiss = _faiss(self.count)
        index = self._content
        if self.kind == "hnsw":
            effort = self.count if everywhere else max(self.effort, k)
            return index.search(queries, k, params=faiss.SearchParametersHNSW(efSearch=effort))
        if everywhere:
            return index.search(queries, k, params=faiss.SearchParametersIVF(nprobe=index.nlist))
        # The library would round a query's lists differently alone and in a batch.
        closeness, lists = nearest(queries, index.quantizer.reconstruct_n(0, index.nlist), index.nprobe)
        return index.search_preassigned(queries, k, lists, closeness.astype(np.float32))


def _shards(rows: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    return (rows[first : first + SHARD] for first in range(0, len(rows), SHARD))


def _graph(faiss: Any, rows: NDArray[np.float32]) -> Any:
    index = faiss.IndexHNSWFlat(rows.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
    for shard in _shards(rows):
        index.add(np.ascontiguousarray(shard))
    return index


def _lists(faiss: Any, rows: NDArray[np.float32]) -> Any:
    count, dimension = rows.shape
    lists = 2 ** round(np.log2(2 * count**0.5))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimension), dimension, lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed, index.cp.niter, index.cp.spherical = 0, 5, True
    some = np.sort(np.random.default_rng(0).choice(count, min(32 * lists, count), replace=False))
    index.cp.min_points_per_centroid = 1
    index.train(np.ascontiguousarray(rows[some]))
    for shard in _shards(rows):
        index.add(np.ascontiguousarray(shard))
    index.nprobe = EFFORTS["ivf"][0]
    return index


def _faiss(count: int) -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError(f"An index of {count} references", "index") from error
    return faiss
