"""A flat map of the sphere: the two directions along which the references differ most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SphereMap:
    """Principal plane of the references' codes; other graphs are projected onto it."""

    centre: NDArray[np.float64]
    axes: NDArray[np.float64]  # (2, dimensions)

    @classmethod
    def fit(cls, codes: Mapping[str, NDArray[Any]]) -> SphereMap:
        """Find the plane from reference codes, every code weighing the same."""
        rows = _joined(codes)
        centre = rows.mean(axis=0)
        _, _, axes = np.linalg.svd(rows - centre, full_matrices=False)
        axes = np.concatenate([axes, np.zeros((max(0, 2 - len(axes)), rows.shape[1]))])[:2]
        # The sign of a singular vector is arbitrary; fixing it keeps the map the same from run to run.
        signs = np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])
        return cls(centre, axes * np.where(signs == 0, 1, signs)[:, None])

    def coordinates(self, codes: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Places on the map, (graphs, 2)."""
        return np.asarray((_joined(codes) - self.centre) @ self.axes.T)


def _joined(codes: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    return np.concatenate([codes[name] for name in sorted(codes)], axis=1).astype(np.float64) / np.sqrt(len(codes))
