"""How well an encoder reads the numbers of a GraphDP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError
from graphglass.glass.prompt.fields import scaled
from graphglass.glass.prompt.graphdp import GraphDP

_SLICES = (64, 128, 256, 512)
_PAIRS = 20_000


@dataclass(frozen=True)
class Legibility:
    """Two views of the same question.

    Attributes
    ----------
    spearman : dict of int to float
        Rank correlation, per prefix length, between cosine distance of two rows and distance of the two descriptions
        (fields on their public scales, standardised): 1 if near descriptions are near on the sphere.
    read_out : float
        R^2 of a ridge regression from rows to standardised fields on graphs it was not fitted on: 1 if every number
        can be read back.
    """

    spearman: dict[int, float]
    read_out: float


def legibility(rows: NDArray[np.float32], prompts: GraphDP, *, slices: Sequence[int] = _SLICES) -> Legibility:
    """Measure how much of the prompts' numbers the rows, (prompts, dimension), kept."""
    from scipy.stats import spearmanr

    if len(prompts) < 20 or len(rows) != len(prompts):
        raise ParameterError("legibility", "rows", "one row for each of at least 20 prompts", f"{len(rows)} rows")
    fields = scaled(prompts.fields)
    spread = fields.std(axis=0)
    fields = (fields - fields.mean(axis=0))[:, spread > 1e-9] / spread[spread > 1e-9]
    generator = np.random.default_rng(0)
    first, second = generator.integers(len(fields), size=(2, _PAIRS))
    first, second = first[first != second], second[first != second]
    apart = np.linalg.norm(fields[first] - fields[second], axis=1)
    spearman = {}
    for width in (*[size for size in slices if size < rows.shape[1]], rows.shape[1]):
        part = rows[:, :width] / np.linalg.norm(rows[:, :width], axis=1, keepdims=True)
        cosine = np.einsum("ij,ij->i", part[first], part[second])
        spearman[width] = float(spearmanr(1.0 - cosine, apart).statistic)
    return Legibility(spearman, _read_out(rows.astype(np.float64), fields, generator))


def _read_out(rows: NDArray[np.float64], fields: NDArray[np.float64], generator: np.random.Generator) -> float:
    order = generator.permutation(len(rows))
    fitted, held = order[: int(0.7 * len(rows))], order[int(0.7 * len(rows)) :]
    centre, level = rows[fitted].mean(axis=0), fields[fitted].mean(axis=0)
    inputs, targets = rows[fitted] - centre, fields[fitted] - level
    gram = inputs.T @ inputs
    # Relative to the spread of the rows: encoders that leave most of the sphere empty are treated alike.
    gram += 1e-4 * np.trace(gram) / len(gram) * np.eye(len(gram))
    guess = (rows[held] - centre) @ np.linalg.solve(gram, inputs.T @ targets)
    truth = fields[held] - level
    return float(1.0 - np.sum((truth - guess) ** 2) / np.sum(truth**2))
