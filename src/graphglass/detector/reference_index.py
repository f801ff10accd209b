"""Many unit rows in one file that processes map into memory and share.

With faiss the file holds inverted lists of quantised rows (``ivf``), whose answers are approximate and carry a measured
recall; without it the plain rows, searched exactly piece by piece (``flat``).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.neighbours import closest, leave_out, nearest, nearest_in_shards
from graphglass.errors import ArtifactError, MissingExtraError

Kind = Literal["flat", "ivf"]
SHARD = 65_536  # rows read at a time
PROBED = 32  # lists read per query
NEXT = 16  # lists whose rows are compared with those of one list when all rows look for neighbours
PRODUCT = 4_000_000  # similarities held at once
FLAT_PART = 2_000  # rows compared with all others at a time
MEASURED = 200  # rows that recall is measured on
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class ReferenceIndex:
    """Nearest rows by inner product, from a file.

    Attributes
    ----------
    recall : float
        Share of the true nearest rows that are found, measured on rows left out one at a time; equal similarities count
        as found. 1 for ``flat``.
    """

    kind: Kind
    path: Path
    count: int
    dimension: int
    recall: float
    _content: Any

    @classmethod
    def build(cls, rows_file: Path, k: int, kind: Kind | None = None) -> ReferenceIndex:
        """Index the unit rows of a ``.npy`` file; a file next to it is made unless the rows themselves serve.

        Recall is measured for `k` neighbours. The default `kind` is ``ivf`` if faiss is installed, else ``flat`` with a
        warning.
        """
        rows = np.load(rows_file, mmap_mode="r", allow_pickle=False)
        count, dimension = rows.shape
        if kind is None:
            kind = "ivf" if _has_faiss() else "flat"
            if kind == "flat":
                warnings.warn(
                    f"An index of {count} references needs faiss: pip install 'graphglass[index]'. Without it every "
                    "query is compared with all of them, which is exact and slower.",
                    stacklevel=2,
                )
        if kind == "flat":
            return cls(kind, rows_file, count, dimension, 1.0, rows)
        faiss = _faiss(count)
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # with more, equal rows would not give equal files
        try:
            path = rows_file.with_suffix(".faiss")
            faiss.write_index(_lists(faiss, rows), str(path))
        finally:
            faiss.omp_set_num_threads(threads)
        built = cls.open(path, {"kind": kind, "count": count, "dimension": dimension, "recall": 0.0})
        chosen = np.sort(np.random.default_rng(0).choice(count, min(MEASURED, count), replace=False))
        queries = np.ascontiguousarray(rows[chosen])
        exact = nearest_in_shards(queries, _shards(rows), k, exclude=chosen)[1]
        found = built.nearest(queries, k, exclude=chosen)[1]
        worst = np.einsum("nd,nd->n", queries, rows[exact[:, -1]], dtype=np.float64)
        reached = np.einsum("nd,nkd->nk", queries, rows[found], dtype=np.float64)
        return replace(built, recall=float((reached >= worst[:, None] - _ROUNDING).mean()))

    @classmethod
    def open(cls, path: Path, facts: dict[str, Any]) -> ReferenceIndex:
        """Map a file that :meth:`build` made, given its :meth:`facts`."""
        kind, count, dimension = facts["kind"], int(facts["count"]), int(facts["dimension"])
        try:
            if kind == "flat":
                content = np.load(path, mmap_mode="r", allow_pickle=False)
                sound = content.dtype == np.float32 and content.shape == (count, dimension)
            else:
                faiss = _faiss(count)
                content = faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
                expected = faiss.IndexIVFScalarQuantizer
                sound = isinstance(content, expected) and (content.ntotal, content.d) == (count, dimension)
        except (ValueError, OSError, RuntimeError) as error:
            raise ArtifactError(f"{path} is not a readable index ({error}). Restore it, or save again.") from error
        if not sound:
            raise ArtifactError(
                f"{path} is not the {kind} index of {count} references of dimension {dimension} that this model was "
                "saved with. It belongs to another model; restore the right file."
            )
        return cls(kind, path, count, dimension, float(facts["recall"]), content)

    def facts(self) -> dict[str, Any]:
        """What a saved model states about the index, and :meth:`open` needs."""
        return {name: getattr(self, name) for name in ("kind", "count", "dimension", "recall")}

    def nearest(
        self, queries: NDArray[np.float32], k: int, *, exclude: NDArray[np.int64] | None = None, probed: int = PROBED
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """As :func:`~graphglass.channels.neighbours.nearest_in_shards`; a query's answer does not depend on its batch.

        ``probed`` lists are read per query, all of them where those hold fewer than k rows. Similarities of ``ivf`` are
        those of the quantised rows.
        """
        if self.kind == "flat":
            return nearest_in_shards(queries, _shards(self._content), k, exclude=exclude)
        wanted = min(k if exclude is None else k + 1, self.count)
        rows = np.ascontiguousarray(queries, np.float32)
        values, found = self._search(rows, wanted, min(probed, self._content.nlist))
        short = (found < 0).any(axis=1)
        if short.any():
            values[short], found[short] = self._search(rows[short], wanted, self._content.nlist)
        best = closest(values.astype(np.float64), found, wanted)
        return best if exclude is None else leave_out(*best, exclude, k)

    def near_all(self, rows: NDArray[np.float32], k: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Parts of the indexed rows, as places (n,), with k others near each, (n, k) in no order.

        With ``ivf`` the rows of a list are compared with those of the lists next to it in one product: as good as
        :meth:`nearest` in a few lists, and several times as fast.
        """
        if self.kind == "flat":
            for first in range(0, self.count, FLAT_PART):
                places = np.arange(first, min(first + FLAT_PART, self.count))
                yield places, self.nearest(rows[places], k, exclude=places)[1]
            return
        centres = self._content.quantizer.reconstruct_n(0, self._content.nlist)
        held = [self._places(i) for i in range(len(centres))]
        sizes = np.array([len(places) for places in held])
        for own, to_others in zip(held, centres @ centres.T, strict=True):
            order = np.argsort(-to_others, kind="stable")
            lists = max(NEXT, int(np.searchsorted(np.cumsum(sizes[order]), k + 1)) + 1)  # enough rows in any case
            others = np.sort(np.concatenate([held[i] for i in order[:lists]]))
            columns = rows[others].T
            step = max(1, PRODUCT // len(others))
            for places in (own[first : first + step] for first in range(0, len(own), step)):
                product = rows[places] @ columns
                product[np.arange(len(places)), np.searchsorted(others, places)] = -np.inf
                yield places, others[np.argpartition(product, len(others) - k, axis=1)[:, len(others) - k :]]

    def _places(self, number: int) -> NDArray[np.int64]:
        """Of the rows in one list."""
        lists = self._content.invlists
        size = lists.list_size(number)
        return np.array(_faiss(self.count).rev_swig_ptr(lists.get_ids(number), size)) if size else np.zeros(0, np.int64)

    def _search(
        self, queries: NDArray[np.float32], k: int, probed: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        faiss, index = _faiss(self.count), self._content
        # The library would round a query's closeness to the lists differently alone and in a batch.
        closeness, lists = nearest(queries, index.quantizer.reconstruct_n(0, index.nlist), probed)
        closeness, lists = closeness.astype(np.float32), np.ascontiguousarray(lists)
        values, found = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
        pointers = [faiss.swig_ptr(array) for array in (lists, closeness, values, found)]
        parameters = faiss.SearchParametersIVF(nprobe=probed)  # the Python wrapper takes none
        index.search_preassigned_c(len(queries), faiss.swig_ptr(queries), k, *pointers, False, parameters)
        return values, found


def _shards(rows: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    return (rows[first : first + SHARD] for first in range(0, len(rows), SHARD))


def _lists(faiss: Any, rows: NDArray[np.float32]) -> Any:
    count, dimension = rows.shape
    lists = min(2 ** round(np.log2(2 * count**0.5)), count)
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimension), dimension, lists, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT,
        False,  # whole rows, not what is left after the centre of the list: signs then stay exact
    )  # fmt: skip
    index.cp.seed, index.cp.niter, index.cp.spherical = 0, 5, True
    some = np.sort(np.random.default_rng(0).choice(count, min(32 * lists, count), replace=False))
    index.cp.min_points_per_centroid = 1
    index.train(np.ascontiguousarray(rows[some]))
    for shard in _shards(rows):
        index.add(np.ascontiguousarray(shard))
    return index


def _has_faiss() -> bool:
    try:
        return find_spec("faiss") is not None
    except ValueError:  # a module that was taken out of sys.modules by hand
        return False


def _faiss(count: int) -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError(f"An index of {count} references", "index") from error
    return faiss
