"""The numeric encoder: reads the field values behind a GraphDP directly, with no weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import EncoderError, ParameterError
from graphglass.glass.encoders.text_encoder import Fingerprint
from graphglass.glass.prompt.fields import FIELD_NAMES, scaled
from graphglass.glass.prompt.graphdp import TEMPLATE, GraphDP
from graphglass.graphs.attributes import rows_times

# Wavelengths in levels. Two graphs that differ by a few levels in every field must differ in the first slice already,
# two that differ in one field by one level must differ in the last.
LONGEST, SHORTEST = 400.0, 10.0
_SEED = 20240601
_CHUNK = 256  # rows whose phases fit the second-level cache


class NumericEncoder:
    """Random Fourier features of the publicly scaled fields.

    Row ``x`` of fields in levels becomes ``(cos w_1.x, sin w_1.x, cos w_2.x, ...) / sqrt(dimension / 2)``.
    Directions are isotropic, lengths of ``w_j`` fall on a geometric ladder from low to high, so a prefix sees
    coarse differences and the whole row fine ones as well. Every even prefix of a row has the same length, as
    eq:textslice wants. The cosine of two rows is a fixed kernel of the distance between the two descriptions:
    no data enters.

    Parameters
    ----------
    dimension : int
        Even. 1024 by default, as long as the paper's text encoder.
    """

    def __init__(self, dimension: int = 1024) -> None:
        if not isinstance(dimension, int) or dimension < 2 or dimension % 2:
            raise ParameterError("NumericEncoder", "dimension", "an even number of at least 2", dimension)
        self._dimension = dimension
        generator = np.random.Generator(np.random.PCG64(_SEED))
        directions = generator.standard_normal((len(FIELD_NAMES), dimension // 2))
        directions /= np.linalg.norm(directions, axis=0)
        wavelengths = np.geomspace(LONGEST, SHORTEST, dimension // 2)
        self._frequencies = np.asarray(2 * np.pi * directions / wavelengths, dtype=np.float32)

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("numeric", "1", TEMPLATE, "", self._dimension)

    def encode(self, prompts: Sequence[str], *, progress: bool = False) -> NDArray[np.float32]:
        """Unit rows, (graphs, dimension), of a :class:`GraphDP`; the words themselves are not read."""
        if not isinstance(prompts, GraphDP):
            raise EncoderError(
                "The numeric encoder reads numbers, not text: give it the GraphDP that graphdp(profile) returns, "
                f"found {type(prompts).__name__}."
            )
        if prompts.content:
            raise EncoderError(
                "The numeric encoder reads version 1 of the prompt alone; version 2 needs another encoder."
            )
        levels = scaled(prompts.fields).astype(np.float32)
        rows = np.empty((len(levels), self._dimension), np.float32)
        scale = np.float32(1 / np.sqrt(self._dimension // 2))
        for start in range(0, len(levels), _CHUNK):
            chunk = levels[start : start + _CHUNK]
            phases = rows_times(chunk, self._frequencies)
            rows[start : start + _CHUNK, 0::2] = np.cos(phases)
            rows[start : start + _CHUNK, 1::2] = np.sin(phases)
        rows *= scale
        return rows
