"""Integer Gaussian noise from a vetted sampler fed by the operating system's entropy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import MissingExtraError, ParameterError

# Larger scales would not survive the conversion to the sampler's floating-point argument unchanged.
MAX_SCALE = 2**53


def discrete_gaussian(scale: int, size: int) -> NDArray[np.int64]:
    """Independent draws from the integers with P(k) proportional to exp(-k^2 / (2 scale^2)), (size,).

    OpenDP's exact sampler; no seed exists and none can be passed. For scales above a few units, ``scale`` is also the
    standard deviation.
    """
    if not (isinstance(scale, int) and 1 <= scale <= MAX_SCALE):
        raise ParameterError("discrete_gaussian", "scale", f"an integer from 1 to {MAX_SCALE}", scale)
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise MissingExtraError("A private release", "privacy") from error
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    measurement = dp.m.make_gaussian(*space, scale=float(scale))
    return np.asarray(measurement([0] * size), np.int64)
