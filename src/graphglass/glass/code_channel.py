"""The paper's channels: angular k-NN and vMF density of one code on the sphere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import Channel, State
from graphglass.channels.neighbours import mean_distance, nearest
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.glass.vmf import kde_score


class CodeChannel(Channel[NDArray[np.float32]]):
    """Mean cosine distance to the k nearest references in one code, such as ``graph:64`` (eq:knn_distance).

    Attributes
    ----------
    references : float32 (references, dimension)
        Codes of the references.
    """

    def __init__(self, name: str, k: int = 5) -> None:
        super().__init__(name, k_divisor=1.0, local_scaling=0.0)
        self._k = k

    @property
    def k(self) -> int:
        return self._k

    @property
    def bounded(self) -> bool:
        return True

    def fit(self, references: ProfiledGraphs) -> None:
        rows = self.references = self.learn(references)
        self.reference_scales = np.ones(len(rows))
        self.spacing = self.left_out = mean_distance(nearest(rows, rows, self.k, exclude_self=True)[0])

    def learn(self, references: ProfiledGraphs) -> NDArray[np.float32]:
        return self.encode(references)

    def encode(self, graphs: ProfiledGraphs) -> NDArray[np.float32]:
        return graphs.codes[self.name]

    def compare(self, rows: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.asarray(np.maximum(0.0, 1.0 - np.einsum("nd,md->nm", rows, others, dtype=np.float64)))

    def compare_each(
        self, rows: NDArray[np.float32], others: NDArray[np.float32], places: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        return np.asarray(np.maximum(0.0, 1.0 - np.einsum("nd,nkd->nk", rows, others[places], dtype=np.float64)))

    def similarity(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.clip(1 - distances / 2, 0, 1)

    def distances(self, rows: NDArray[np.float32], also: object = None) -> NDArray[np.float64]:
        return mean_distance(nearest(rows, self.references, self.k)[0])

    def state(self) -> State:
        # Stored with the references; of very many, those are a part.
        return {} if len(self.left_out) == len(self.reference_scales) else {"codes": self.references}

    def restore(self, state: State) -> None:
        pass

    def load(self, saved: State, references: ProfiledGraphs) -> None:
        super().load(saved, references)
        self.references = saved["codes"] if "codes" in saved else self.encode(references)


class DensityChannel(CodeChannel):
    """Negative log vMF kernel density in one code (eq:vmfkde)."""

    def __init__(self, name: str, concentration: float) -> None:
        super().__init__(name, k=1)
        self.concentration = concentration

    def fit(self, references: ProfiledGraphs) -> None:
        rows = self.references = self.learn(references)
        self.reference_scales = np.ones(len(rows))
        self.spacing = self.left_out = kde_score(rows, rows, self.concentration, exclude_self=True)

    def distances(self, rows: NDArray[np.float32], also: object = None) -> NDArray[np.float64]:
        return kde_score(rows, self.references, self.concentration)
