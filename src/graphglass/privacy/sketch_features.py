"""The public sketch as the feature of a private release; no model takes part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.sketch import DIMENSION, SHARES, SHARPEST, SKETCH_VERSION, block_columns, sketch, sketch_digest
from graphglass.errors import ArtifactError, ParameterError
from graphglass.graphs.graph_set import GraphSet
from graphglass.privacy.noise_scale import gaussian_sigma

# A block's density counts on a logarithmic scale above this many standard deviations of its noise.
NOISE_FLOOR = 10.0


@dataclass(frozen=True)
class SketchFeatures:
    """The public map from a graph to its sketch (:func:`graphglass.sketch`).

    Nothing in it was learned from data. It is fixed by three integers.

    Attributes
    ----------
    dimension : int
        Coordinates P of a feature.
    sharpness : int
        The power p of the pattern kernels; see :meth:`for_budget`.
    version : int
        Version of the sketch. Another one than this installation's is refused.
    """

    kind: ClassVar[str] = "sketch"

    dimension: int = DIMENSION
    sharpness: int = 1
    version: int = SKETCH_VERSION

    def __post_init__(self) -> None:
        if self.version != SKETCH_VERSION:
            raise ArtifactError(
                f"The summary was made with sketch version {self.version}; this installation has version "
                f"{SKETCH_VERSION}. Use the GraphGlass version that wrote it."
            )
        if self.dimension < 8 or self.dimension % 8 or self.dimension > 2**17 or not 1 <= self.sharpness <= SHARPEST:
            raise ParameterError(
                "SketchFeatures", "dimension and sharpness", f"a multiple of 8 up to {2**17}, and 1 to {SHARPEST}",
                (self.dimension, self.sharpness),
            )  # fmt: skip

    @classmethod
    def for_budget(cls, references: int, epsilon: float, delta: float, graphs_per_subject: int = 1) -> SketchFeatures:
        """The sharpness that a number of references and a promise can afford, by public arithmetic alone.

        Between graphs of similarity 1/2 the pattern kernel is 2^-p. The power is the largest for which that is at least
        12 standard deviations of a score's noise, and from 1 to 8.
        """
        sigma = gaussian_sigma(epsilon, delta, references, graphs_per_subject)
        return cls(sharpness=min(8, max(1, math.floor(-math.log2(12.0 * sigma)))))

    def __call__(self, graphs: GraphSet) -> NDArray[np.float64]:
        """Features of graphs, float64 (n, P); no row is longer than one."""
        if not isinstance(graphs, GraphSet):
            raise ParameterError("SketchFeatures", "graphs", "a GraphSet", type(graphs).__name__)
        return sketch(graphs, dimension=self.dimension, sharpness=self.sharpness)

    def part_names(self) -> list[str]:
        """The blocks of the sketch."""
        return list(SHARES)

    def contributions(
        self, rows: NDArray[np.float64], mean: NDArray[np.float64], sigma: float
    ) -> dict[str, NDArray[np.float64]]:
        """What every block adds to the scores of feature rows; the parts of a graph add up to its score.

        A block adds minus the logarithm of its density, which is cut off at ten standard deviations of its noise
        (``sigma`` per coordinate of ``mean``), or at the sampling error of the sketch where that is larger. A graph
        that is far in one block is found although it is near in the others.
        """
        parts = {}
        for block, columns in block_columns(self.dimension).items():
            share = SHARES[block]
            density = rows[:, columns] @ mean[columns] / share
            floor = NOISE_FLOOR * math.hypot(sigma, 0.1 / math.sqrt(self.dimension)) / math.sqrt(share)
            parts[block] = -np.log(np.maximum(density, 0.0) + floor)
        return parts

    def to_json(self) -> dict[str, Any]:
        """Settings as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SketchFeatures:
        """Rebuild from :meth:`to_json`."""
        return cls(int(value["dimension"]), int(value["sharpness"]), int(value["version"]))

    def digest(self) -> str:
        """sha256 of everything the map depends on; equal digests mean comparable summaries."""
        return sketch_digest(self.dimension, self.sharpness)
