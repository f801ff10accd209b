"""The paper's channels: angular k-NN and von Mises-Fisher density of one code on the sphere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import hyp0f1, ive, logsumexp

from graphglass.channels.channel import Channel, State
from graphglass.channels.neighbours import mean_distance, nearest
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import ParameterError

_BLOCK = 8_000_000  # entries of a block of the kernel matrix


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


def log_bessel(order: float, argument: float) -> float:
    """log I_order(argument), also where I itself under- or overflows.

    Small orders take SciPy's scaled function. It underflows where the order is large, and there
    I_v(x) = (x/2)^v / Gamma(v + 1) 0F1(v + 1; x^2/4) with a hypergeometric factor of moderate size.
    """
    scaled = float(ive(order, argument))
    if scaled > 1e-280:
        return math.log(scaled) + argument
    series = float(hyp0f1(order + 1, argument**2 / 4))
    return order * math.log(argument / 2) - math.lgamma(order + 1) + math.log(series)


def log_normaliser(dimension: int, concentration: float) -> float:
    """log C_D(kappa) of the vMF density on the sphere in ``dimension`` coordinates."""
    if dimension < 2:
        raise ParameterError("log_normaliser", "dimension", "at least 2", dimension)
    if not concentration > 0:
        raise ParameterError("log_normaliser", "concentration", "positive", concentration)
    order = dimension / 2 - 1
    power = order * math.log(concentration)
    return power - (dimension / 2) * math.log(2 * math.pi) - log_bessel(order, concentration)


def kde_score(
    queries: NDArray[Any], references: NDArray[Any], concentration: float, *, exclude_self: bool = False
) -> NDArray[np.float64]:
    """Negative log vMF kernel density of each query (eq:vmfkde); higher is rarer.

    Divided by the concentration it tends to the angular 1-NN distance as the concentration grows.
    """
    n, m = len(queries), len(references)
    used = m - 1 if exclude_self else m
    if used < 1:
        return np.zeros(n)
    constant = log_normaliser(references.shape[1], concentration) - math.log(used)
    wide_q, wide_r = queries.astype(np.float64), references.astype(np.float64)
    score = np.empty(n)
    step = max(1, _BLOCK // m)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        exponent = concentration * (wide_q[rows] @ wide_r.T)
        if exclude_self:
            exponent[np.arange(len(rows)), rows] = -np.inf
        score[rows] = -constant - logsumexp(exponent, axis=1)
    return score
