"""The numbers of a GraphDP, and the public scale of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError

if TYPE_CHECKING:
    from graphglass.structure.profile import StructureProfile

# Field -> (curve, one level). A level is a step that means about as much in one field as in another: a fifth
# of an octave for counts, one twentieth for fractions. The scales are fixed here, never fitted, so a
# field value means the same in every dataset and says nothing about the data the other graphs came from.
SCALES: dict[str, tuple[str, float]] = {
    "nodes": ("log", 0.2),
    "edges": ("log", 0.2),
    "density": ("log-fraction", 0.2),
    "components": ("log", 0.2),
    "degree_mean": ("log", 0.1),
    "degree_std": ("log", 0.1),
    "degree_entropy": ("linear", 0.1),
    "degree_q25": ("log", 0.1),
    "degree_q50": ("log", 0.1),
    "degree_q75": ("log", 0.1),
    "clustering_mean": ("linear", 0.05),
    "clustering_std": ("linear", 0.05),
    "transitivity": ("linear", 0.05),
    "triangles": ("log", 0.4),
    "four_cycles": ("log", 0.4),
    "motif_density": ("log", 0.2),
    "core_max": ("log", 0.2),
    "spectral_gap": ("root", 0.05),
    "rayleigh_q10": ("linear", 0.02),
    "rayleigh_q50": ("linear", 0.02),
    "rayleigh_q90": ("linear", 0.02),
}

FIELD_NAMES = tuple(SCALES)

_CURVES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "log": lambda x: np.log2(1.0 + x),
    "log-fraction": lambda x: np.log2(1.0 + 1000.0 * x),  # densities below 0.001 are all "almost none"
    "linear": lambda x: x,
    "root": np.sqrt,  # the gap of a large sparse graph is small, and differs most near zero
}


def field_values(profile: StructureProfile) -> NDArray[np.float64]:
    """The prompt's numbers, (graphs, fields), columns :data:`FIELD_NAMES`.

    Only graph aggregates and the spectral sketch are read; ids, class labels, node labels and positions are out of
    reach. A value that is not finite or negative is refused: the profile is damaged.
    """
    from graphglass.structure.profile import AGGREGATE_NAMES, SKETCH_NAMES

    columns = {name: profile.aggregates[:, i] for i, name in enumerate(AGGREGATE_NAMES)}
    columns |= {name: profile.sketch[:, i] for i, name in enumerate(SKETCH_NAMES)}
    columns["spectral_gap"] = columns["lambda_2"]
    values = np.stack([columns[name] for name in FIELD_NAMES], axis=1).astype(np.float64)
    # Eigenvalue solvers return zero as -1e-16; anything beyond that is an error, not rounding.
    values = np.where(np.abs(values) < 1e-9, 0.0, values)
    wrong = np.argwhere(~np.isfinite(values) | (values < 0))
    if len(wrong):
        row, column = wrong[0]
        raise GraphError(
            f"Every field of a GraphDP must be finite and not negative; graph {row} of the profile has "
            f"{FIELD_NAMES[column]} = {values[row, column]}."
        )
    return values


def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Field values on their public scales, in levels, (graphs, fields)."""
    columns = [_CURVES[curve](values[:, i]) / level for i, (curve, level) in enumerate(SCALES.values())]
    return np.stack(columns, axis=1)
