"""A channel transformation learned from public source graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphglass.errors import ArtifactError, ParameterError


@dataclass(frozen=True, eq=False)
class PublicMap:
    """Centre, project and renormalise the rows of one channel with source statistics.

    Nothing in it may depend on private graphs; then it costs no privacy.

    Attributes
    ----------
    centre : float64 (width,)
        The source mean.
    projection : float64 (width, rank)
    """

    centre: NDArray[np.float64]
    projection: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.centre.ndim != 1 or self.projection.ndim != 2 or self.projection.shape[0] != len(self.centre):
            raise ArtifactError(
                f"A public map needs (width,) and (width, rank), found {self.centre.shape}, {self.projection.shape}."
            )
        if not (np.isfinite(self.centre).all() and np.isfinite(self.projection).all()):
            raise ArtifactError("A public map holds values that are not finite.")

    @property
    def width(self) -> int:
        return int(self.projection.shape[0])

    @property
    def rank(self) -> int:
        return int(self.projection.shape[1])

    def __call__(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Unit rows in the mapped space, (n, rank); a row that maps to zero stays zero."""
        with np.errstate(invalid="ignore", over="ignore"):
            mapped = (np.asarray(rows, np.float64) - self.centre) @ self.projection
            norms = np.linalg.norm(mapped, axis=1, keepdims=True)
            return mapped / np.where(norms == 0.0, 1.0, norms)

    @classmethod
    def whitening(cls, source: ArrayLike, *, rank: int, power: float = 0.5, floor: float = 1e-3) -> PublicMap:
        """Fit on public source rows: the leading principal directions, each divided by a power of its
        standard deviation.

        Parameters
        ----------
        source : (n, width)
        rank : int
            Directions kept.
        power : float
            1 whitens, 0 only rotates and cuts.
        floor : float
            Standard deviations below this share of the largest are raised to it, so that noise directions
            are not blown up.
        """
        rows = np.asarray(source, np.float64)
        if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
            raise ParameterError("PublicMap.whitening", "source", "at least two finite rows", rows.shape)
        if not 1 <= rank <= rows.shape[1]:
            raise ParameterError("PublicMap.whitening", "rank", f"from 1 to {rows.shape[1]}", rank)
        centre = rows.mean(axis=0)
        variances, directions = np.linalg.eigh(
            np.cov(rows - centre, rowvar=False, bias=True).reshape(rows.shape[1], -1)
        )
        deviations = np.sqrt(np.maximum(variances[::-1][:rank], 0.0))
        if deviations[0] == 0.0:
            raise ParameterError("PublicMap.whitening", "source", "rows that differ from one another", "identical rows")
        deviations = np.maximum(deviations, floor * deviations[0])
        return cls(centre, directions[:, ::-1][:, :rank] / deviations**power)

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        return {"centre": self.centre, "projection": self.projection}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> PublicMap:
        return cls(np.asarray(arrays["centre"], np.float64), np.asarray(arrays["projection"], np.float64))
