"""The paper's channels: angular k-NN and vMF density of one code on the sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.sphere.neighbours import mean_distance, nearest
from graphglass.sphere.reference_index import ReferenceIndex
from graphglass.sphere.vmf import kde_score


class SphereChannel:
    """Mean cosine distance to the k nearest references in one code, such as ``graph:64`` (eq:knn_distance).

    Attributes
    ----------
    rows : float32 (references, dimension)
        Codes of the references, or of a sample of them beside an index of all.
    index : ReferenceIndex or None
    places : int64 (rows,) or None
        Where each row stands among the references of the index.
    """

    def __init__(self, name: str, k: int = 5) -> None:
        self.name = name
        self.k = k
        self.rows = np.zeros((0, 1), np.float32)
        self.index: ReferenceIndex | None = None
        self.places: NDArray[np.int64] | None = None

    def fit(self, references: ProfiledGraphs) -> None:
        self.rows = references.codes[self.name]

    def search_in(self, index: ReferenceIndex, places: NDArray[np.int64]) -> None:
        """Measure against all references of an index, of which the fitted ones are a sample."""
        self.index, self.places = index, places

    def distances(self, queries: ProfiledGraphs) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        rows = queries.codes[self.name]
        if self.index is None:
            similarities, indices = nearest(rows, self.rows, self.k)
        else:
            similarities, indices = self.index.nearest(rows, self.k)
        return mean_distance(similarities), indices

    def leave_one_out(self) -> NDArray[np.float64]:
        if self.index is None:
            return mean_distance(nearest(self.rows, self.rows, self.k, exclude_self=True)[0])
        return mean_distance(self.index.nearest(self.rows, self.k, exclude=self.places)[0])

    def state(self) -> dict[str, NDArray[Any]]:
        return {"rows": self.rows}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self.rows = state["rows"]


class DensityChannel(SphereChannel):
    """Negative log vMF kernel density in one code (eq:vmfkde)."""

    def __init__(self, name: str, concentration: float) -> None:
        super().__init__(name, k=1)
        self.concentration = concentration

    def distances(self, queries: ProfiledGraphs) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        rows = queries.codes[self.name]
        return kde_score(rows, self.rows, self.concentration), nearest(rows, self.rows, 1)[1]

    def leave_one_out(self) -> NDArray[np.float64]:
        return kde_score(self.rows, self.rows, self.concentration, exclude_self=True)
